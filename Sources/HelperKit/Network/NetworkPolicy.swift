import HotspotCore

/// What is allowed towards the network: addresses, ports, and trusted certificate authorities.
public struct NetworkPolicy: Sendable {
    enum Addresses: Sendable {
        case link
        /// The rules of a radio's link, over `lo` as well: for tests of these rules.
        case field
        case testing
    }

    let addresses: Addresses
    let allowsEveryPort: Bool
    /// A file with certificate authorities instead of the system's; no setting reaches this.
    let authorities: String?

    /// The rules that hold in every running helper.
    public static let strict = NetworkPolicy(addresses: .link, allowsEveryPort: false, authorities: nil)

    /// Returns rules for tests against servers on loopback: any port, loopback addresses, a certificate authority of their own.
    static func testing(authorities: String? = nil) -> NetworkPolicy {
        NetworkPolicy(addresses: .testing, allowsEveryPort: true, authorities: authorities)
    }

    /// The rules of a radio's link with any port, for tests over loopback.
    static let field = NetworkPolicy(addresses: .field, allowsEveryPort: true, authorities: nil)

    func addressPolicy(of link: Link) -> AddressPolicy {
        switch addresses {
        case .link: AddressPolicy(link: link)
        case .field: AddressPolicy(link: link, interfaces: InterfaceAddress.all(), allowsRehearsal: false)
        case .testing: .testing
        }
    }

    /// Ports that gateways in the field use, beside 80, 443, 8080 and 8443: FortiGate 1000 and 1003, openNDS 2050, CoovaChilli 3990,
    /// 3991 and 4990, Palo Alto 6080 to 6082, MikroTik, WifiDog and others 8000 to 8010, Omada 8088, Sophos 8090, UniFi 8843 and
    /// 8880, many small portals 8888, Ruckus 9997 and 9998. Mail, shells and databases are not among them, so that a portal cannot
    /// send a helper to one.
    static let gatewayPorts: Set<Int> = Set([80, 443, 8080, 8443, 1000, 1003, 2050, 3990, 3991, 4990, 6080, 6081, 6082])
        .union([8088, 8090, 8843, 8880, 8888, 9997, 9998]).union(8000...8010)

    func allows(port: Int) -> Bool { allowsEveryPort || Self.gatewayPorts.contains(port) }
}
