import HotspotCore

/// The bounds towards the network: allowed addresses, and trusted certificate authorities.
public struct NetworkPolicy: Sendable {
    enum Addresses: Sendable {
        case link
        /// The rules of a radio's link, over `lo` as well: for tests of these rules.
        case field
        case testing
    }

    let addresses: Addresses
    /// A file with certificate authorities instead of the system's; no setting reaches this.
    let authorities: String?
    /// Answers in place of all servers; no setting reaches this.
    var player: (@Sendable (HTTPRequest) -> Result<HTTPResponse, TransferError>)?

    /// The rules that hold in every running helper.
    public static let strict = NetworkPolicy(addresses: .link, authorities: nil)

    /// Returns the strict rules for a login that is played from a file: `player` answers, and no server is asked.
    package static func played(by player: @escaping @Sendable (HTTPRequest) -> Result<HTTPResponse, TransferError>)
        -> NetworkPolicy
    {
        NetworkPolicy(addresses: .link, authorities: nil, player: player)
    }

    /// Returns rules for tests against servers on loopback: loopback addresses, a certificate authority of their own.
    static func testing(authorities: String? = nil) -> NetworkPolicy {
        NetworkPolicy(addresses: .testing, authorities: authorities)
    }

    /// The rules of a radio's link, for tests over loopback.
    static let field = NetworkPolicy(addresses: .field, authorities: nil)

    func addressPolicy(of link: Link) -> AddressPolicy {
        guard addresses != .testing else { return .testing }
        let known = MachineNetworks.recent
        return AddressPolicy(
            link: link, interfaces: known.interfaces, routes: known.routes, allowsRehearsal: addresses == .link)
    }
}

/// This machine's addresses and routes, read once a second at most: several requests of a login begin at the same time.
private struct MachineNetworks: Sendable {
    let interfaces = InterfaceAddress.all()
    let routes = InterfaceRoute.all()
    private let read = Instant.now

    private static let last = Locked<MachineNetworks?>(nil)

    static var recent: MachineNetworks {
        last.with { last in
            if let last, last.read.millisecondsAgo < 1000 { return last }
            let now = MachineNetworks()
            last = now
            return now
        }
    }
}
