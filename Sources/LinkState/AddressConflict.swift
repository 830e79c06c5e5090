import HotspotCore
import PortalAnnouncement

extension LinkSnapshot {
    /// Returns the problem if another interface of this computer hides the link's gateway or nameservers; otherwise `nil`.
    ///
    /// If the other interface has the gateway's or nameserver's own address, the kernel drops the answers. If only the networks overlap, as with a
    /// container's bridge, packets that are bound to the link pass, but packets of ordinary programs go to the other interface. A tunnel covers
    /// networks on purpose, and a second card in the same network has the same router: both are ignored.
    ///
    /// - Parameters:
    ///   - others: the interfaces of this computer.
    ///   - nameservers: the nameservers of this link.
    public func conflict(with others: [LinkSnapshot], nameservers: [String]) -> Problem? {
        let servers = nameservers.compactMap { server in AddressText.octets(of: server).map { (server, $0) } }
        let routers = gateways.compactMap { router in AddressText.octets(of: router).map { (router, $0) } }
        let needs = routers.map { ("gateway", $0.0, $0.1) } + servers.map { ("nameserver", $0.0, $0.1) }
        let networks = others.filter { $0.index != index && $0.isUp }.sorted { $0.name < $1.name }.flatMap { other in
            other.addresses.compactMap(InterfaceNetwork.init).map { (other, $0) }
        }
        for (role, _, octets) in needs {
            guard let (other, network) = networks.first(where: { $0.1.address == octets }) else { continue }
            // One nameserver that answers is enough.
            if role == "nameserver", servers.contains(where: { server in !networks.contains { $0.1.address == server.1 } }) {
                continue
            }
            return Problem(
                .addressConflict,
                "\(other.name) of this computer uses \(network.text), which is the address of the \(role) on \(name), so that \(role) cannot answer.",
                hint: "sudo ip address del \(network.text) dev \(other.name)")
        }
        let own = addresses.compactMap(InterfaceNetwork.init)
        for (role, address, octets) in needs {
            let narrowest = own.filter { $0.contains(octets) }.map(\.length).max() ?? 0
            let hiding = networks.first { other, network in
                other.type == Self.ethernet && network.length >= max(narrowest, 1) && network.contains(octets)
                    && network.address != octets
                    && !other.gateways.compactMap { AddressText.octets(of: $0) }.contains(where: network.contains)
            }
            guard let (other, network) = hiding else { continue }
            return Problem(
                .addressOverlap,
                "\(other.name) of this computer uses the network \(network.text), which contains the \(role) \(address) of \(name), so programs cannot reach that \(role).",
                hint: "sudo ip address del \(network.text) dev \(other.name)")
        }
        return nil
    }

    /// ARPHRD_ETHER: cards, radios and bridges.
    private static let ethernet = 1

    /// Returns whether an address is in the network of one of the link's own addresses.
    func reaches(_ address: String) -> Bool {
        guard let octets = AddressText.octets(of: address) else { return false }
        return addresses.compactMap(InterfaceNetwork.init).contains { $0.contains(octets) }
    }
}

/// An address of an interface, with its network.
private struct InterfaceNetwork {
    /// CIDR notation.
    let text: String
    let address: [UInt8]
    /// The prefix length, in bits.
    let length: Int

    init?(_ text: String) {
        let parts = text.split(separator: "/")
        guard parts.count == 2, let length = Int(parts[1]), let address = AddressText.octets(of: parts[0]),
            (0...address.count * 8).contains(length)
        else { return nil }
        (self.text, self.address, self.length) = (text, address, length)
    }

    func contains(_ other: [UInt8]) -> Bool {
        other.count == address.count
            && (0..<length).allSatisfy { bit in (address[bit / 8] ^ other[bit / 8]) & (0x80 >> UInt8(bit % 8)) == 0 }
    }
}
