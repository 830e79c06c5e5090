/// The portals that a network led to, by the last two verdicts that found one.
struct PortalTrail: Equatable {
    private var origins: [String] = []

    /// The portal's origin by the last verdict.
    var last: String? { origins.last }

    mutating func add(_ origin: String) { origins = origins.suffix(1) + [origin] }

    /// Returns whether the network leads to another portal than to those of these origins, of which there is one at least. A host that it names
    /// only once does not count: some networks make one up for each request.
    func leadsElsewhere(than known: Set<String>) -> Bool {
        origins.count == 2 && origins[0] == origins[1] && !known.isEmpty && !known.contains(origins[0])
    }
}
