import HotspotCore

/// Keeps the resolver's answers for the life of an association: the addresses that were checked are the ones that are used, and a
/// second question costs nothing.
public final class NamePins: Sendable {
    private struct PinnedName: Hashable {
        var association: String
        var interface: String
        var name: String
    }

    /// The pins of this process.
    public static let shared = NamePins()
    private static let limit = 256
    private let pins = Locked([PinnedName: [InternetAddress]]())

    func addresses(of name: String, link: Link, in scope: Scope) throws(TransferError) -> [InternetAddress] {
        let key = PinnedName(association: link.association, interface: link.interface, name: name)
        if let known = pins.with({ $0[key] }) { return known }
        let addresses = try Resolver(link: link).addresses(of: name, in: scope)
        pins.with { pins in
            if pins.count >= Self.limit { pins.removeAll() }
            pins[key] = addresses
        }
        return addresses
    }

    /// Forgets a name, so that it is asked for again: gateways that answer falsely before the login stop doing so after it.
    package func forget(_ name: String, link: Link) {
        pins.with { $0[PinnedName(association: link.association, interface: link.interface, name: name)] = nil }
    }
}
