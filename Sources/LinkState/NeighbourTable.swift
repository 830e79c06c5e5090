import CNetlink
import Glibc
import HotspotCore
import Netlink

/// The kernel's table of neighbours: which hardware address answers for an address on a link.
enum NeighbourTable {
    /// The states in which an entry's address can be believed: reachable, stale, delay, probe, permanent (linux/neighbour.h).
    private static let believed: UInt16 = 0x02 | 0x04 | 0x08 | 0x10 | 0x80

    /// Asks the kernel for one entry; `nil` if there is none or it is not resolved.
    static func hardwareAddress(of gateway: String, on index: Int) -> HardwareAddress? {
        guard let address = AddressText.octets(of: gateway.prefix { $0 != "%" }), let number = Int32(exactly: index),
            let socket = try? NetlinkSocket(protocol: NETLINK_ROUTE)
        else { return nil }
        var header: [UInt8] = [UInt8(address.count == 4 ? AF_INET : AF_INET6), 0, 0, 0]
        header.appendHost(number)
        header.appendHost(UInt32(0))
        var payload = PayloadBuilder(header: header)
        payload.append(Int(NDA_DST), address)
        guard let answers = try? socket.ask(type: UInt16(RTM_GETNEIGH), payload: payload.octets) else { return nil }
        return answers.lazy.compactMap { hardwareAddress(in: $0, of: address, on: index) }.first
    }

    /// The hardware address, if the message is a resolved entry for this address on this link.
    static func hardwareAddress(in message: NetlinkMessage, of address: [UInt8], on index: Int) -> HardwareAddress? {
        // struct ndmsg: family, padding, index, state, flags, type.
        guard message.type == UInt16(RTM_NEWNEIGH), message.payload.host(Int32.self, at: 4).map(Int.init) == index,
            let state = message.payload.host(UInt16.self, at: 8), state & believed != 0,
            let rest = message.payload.after(12), let attributes = try? AttributeReader(rest),
            let destination = try? attributes.octets(Int(NDA_DST)), Array(destination) == address,
            let octets = try? attributes.octets(Int(NDA_LLADDR))
        else { return nil }
        return HardwareAddress(octets: octets)
    }
}
