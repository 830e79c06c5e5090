import HotspotCore

/// The limits on connections to the network: allowed addresses, and trusted certificate authorities.
public struct NetworkPolicy: Sendable {
    enum Addresses: Sendable {
        case link
        /// The rules for a radio's link, applied even to `lo`, so that tests can check them.
        case field
        case testing
    }

    let addresses: Addresses
    /// A file with certificate authorities that replaces the system's file; only tests set it.
    let authorities: String?
    /// Answers in place of all servers; only ``played(by:)`` sets it.
    var player: (@Sendable (HTTPRequest) -> Result<HTTPResponse, TransferError>)?

    /// The rules that hold in every running helper.
    public static let strict = NetworkPolicy(addresses: .link, authorities: nil)

    /// Returns the strict rules for a login that is played from a file: `player` answers, and no request reaches a server.
    package static func played(by player: @escaping @Sendable (HTTPRequest) -> Result<HTTPResponse, TransferError>)
        -> NetworkPolicy
    {
        NetworkPolicy(addresses: .link, authorities: nil, player: player)
    }

    /// Returns rules for tests against servers on loopback: they allow all addresses, and trust the tests' own certificate
    /// authorities.
    package static func testing(authorities: String? = nil) -> NetworkPolicy {
        NetworkPolicy(addresses: .testing, authorities: authorities)
    }

    /// The rules of a radio's link, for tests over loopback.
    static let field = NetworkPolicy(addresses: .field, authorities: nil)

    func addressPolicy(of link: Link) -> AddressPolicy {
        guard addresses != .testing else { return .testing }
        return AddressPolicy(link: link, .recent, allowsRehearsal: addresses == .link)
    }
}

/// This machine's addresses and routes.
struct MachineNetworks: Sendable {
    let interfaces: [InterfaceAddress]
    let routes: [InterfaceRoute]
    /// The interfaces that have no neighbours: point-to-point, or without address resolution.
    let tunnels: Set<String>
    private let read = Instant.now

    private static let last = Locked<MachineNetworks?>(nil)

    init() {
        interfaces = InterfaceAddress.all()
        routes = InterfaceRoute.all()
        tunnels = InterfaceAddress.withoutNeighbours(among: Set(interfaces.map(\.name) + routes.map(\.interface)))
    }

    /// The addresses and routes, read at most once a second, because several requests of a login begin at the same time.
    static var recent: MachineNetworks {
        last.with { last in
            if let last, last.read.millisecondsAgo < 1000 { return last }
            let now = MachineNetworks()
            last = now
            return now
        }
    }
}
