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

    /// The rules that hold in every running helper.
    public static let strict = NetworkPolicy(addresses: .link, authorities: nil)

    /// Returns rules for tests against servers on loopback: loopback addresses, a certificate authority of their own.
    static func testing(authorities: String? = nil) -> NetworkPolicy {
        NetworkPolicy(addresses: .testing, authorities: authorities)
    }

    /// The rules of a radio's link, for tests over loopback.
    static let field = NetworkPolicy(addresses: .field, authorities: nil)

    func addressPolicy(of link: Link) -> AddressPolicy {
        switch addresses {
        case .link: AddressPolicy(link: link)
        case .field:
            AddressPolicy(link: link, interfaces: InterfaceAddress.all(), routes: InterfaceRoute.all(), allowsRehearsal: false)
        case .testing: .testing
        }
    }
}
