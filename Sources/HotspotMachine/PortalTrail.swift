/// The portals to which a network leads instead of the Internet, from the verdicts that found a portal (D32).
struct PortalTrail: Hashable, Sendable {
    /// A network with this many places or more invents a place for each request, so its places mean nothing.
    private static let limit = 16

    /// The last two places.
    private(set) var last: [String] = []
    /// The places that a login has answered, or asked the user about.
    private(set) var handled: Set<String> = []
    /// Whether a login handled a portal before a verdict named its place.
    private(set) var handlesNext = false

    mutating func add(_ place: String) {
        last = last.suffix(1) + [place]
        if handlesNext { handleLast() }
    }

    /// Notes that a login handled the portal at the last place, or at the next place if none is known yet.
    mutating func handleLast() {
        handlesNext = last.isEmpty
        if let place = last.last, handled.count < Self.limit { handled.insert(place) }
    }

    /// Whether the network leads to a portal that no login has handled. A place that appears only once does not count, because some networks invent a
    /// place for each request.
    var leadsElsewhere: Bool {
        last.count == 2 && last[0] == last[1] && !handled.isEmpty && handled.count < Self.limit && !handled.contains(last[0])
    }
}
