import HotspotCore

/// The answers of the resolver, kept for the life of an association: what was checked is what is used, and a second question costs
/// nothing.
public final class NamePins: Sendable {
    private struct Key: Hashable {
        var association: String
        var interface: String
        var name: String
    }

    /// The pins of this process.
    public static let shared = NamePins()
    private static let limit = 256
    private let pins = Monitor([Key: [InternetAddress]]())

    func addresses(of name: String, link: Link, in scope: Scope) throws(TransferError) -> [InternetAddress] {
        let key = Key(association: link.association, interface: link.interface, name: name)
        if let known = pins.with({ $0[key] }) { return known }
        let found = try Resolver(link: link).addresses(of: name, in: scope)
        pins.with { pins in
            if pins.count >= Self.limit { pins.removeAll() }
            pins[key] = found
        }
        return found
    }

    /// Asks anew next time: gateways that lie about names stop lying after the login.
    func forget(_ name: String, link: Link) {
        pins.with { $0[Key(association: link.association, interface: link.interface, name: name)] = nil }
    }
}
