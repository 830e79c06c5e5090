/// The places that a network leads to in place of the Internet, by the verdicts that found a portal (D32).
struct PortalTrail: Hashable, Sendable {
    /// More places than these are made up for each request, and tell nothing.
    private static let limit = 16

    /// The last two.
    private(set) var last: [String] = []
    /// The places that a login has answered, or asked about.
    private(set) var handled: Set<String> = []
    /// A login handled a portal before a verdict named its place.
    private(set) var handlesNext = false

    mutating func add(_ place: String) {
        last = last.suffix(1) + [place]
        if handlesNext { handleLast() }
    }

    /// Notes that a login handled the portal at the last place, or at the next one if no place is known yet.
    mutating func handleLast() {
        handlesNext = last.isEmpty
        if let place = last.last, handled.count < Self.limit { handled.insert(place) }
    }

    /// The network leads to another portal than to those that were handled, of which there is one at least. A place that it names only once
    /// does not count: some networks make one up for each request.
    var leadsElsewhere: Bool {
        last.count == 2 && last[0] == last[1] && !handled.isEmpty && handled.count < Self.limit && !handled.contains(last[0])
    }
}
