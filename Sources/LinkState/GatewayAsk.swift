import CNetlink
import EventLoop
import Glibc
import HotspotCore
import Netlink
import PortalAnnouncement

/// Finds the hardware address of a router within three seconds: an empty datagram makes the kernel resolve it (ARP, RFC 826; RFC 4861),
/// and an event of the neighbour table has the answer.
///
/// It subscribes to that table for this time only, because the table changes all the time.
@LoopActor public final class GatewayAsk {
    /// The kernel asks three times, a second apart (arp(7): `mcast_solicit`, `retrans_time_ms`). The first question or its answer is lost
    /// where the other end of a cable is not ready yet.
    public static let patience = Duration.seconds(3)
    /// The discard service (RFC 863).
    private static let port: UInt16 = 9

    private let index: Int
    private let address: [UInt8]
    private var onAnswer: ((HardwareAddress?) -> Void)?
    private var exchange: NetlinkExchange?
    private var timer: EventSource?

    /// Asks at once. Calls `onAnswer` once, after this initialiser, with `nil` if no answer came in time; not at all after ``cancel()`` or
    /// when this object is gone.
    public init(gateway: String, on index: Int, onAnswer: @escaping (HardwareAddress?) -> Void) {
        self.index = index
        self.onAnswer = onAnswer
        address = AddressText.octets(of: gateway.prefix { $0 != "%" }) ?? []
        // First subscribe, then read the table, then send: so no answer is missed.
        exchange = try? NetlinkExchange { () throws(NetlinkError) in
            let socket = try NetlinkSocket(protocol: NETLINK_ROUTE)
            try socket.join(Int32(RTNLGRP_NEIGH.rawValue))
            return socket
        }
        let known = NeighbourTable.hardwareAddress(of: gateway, on: index)
        if let exchange, known == nil, !address.isEmpty, (try? exchange.start()) != nil, send() {
            exchange.onEvent = { [weak self] message in
                guard let self else { return }
                if let answer = NeighbourTable.hardwareAddress(in: message, of: address, on: index) { finish(answer) }
            }
            exchange.onOverrun = { [weak self] in
                if let answer = NeighbourTable.hardwareAddress(of: gateway, on: index) { self?.finish(answer) }
            }
            // On a busy machine the time can be over before the event was read.
            timer = try? EventLoop.shared.schedule(after: Self.patience) { [weak self] in
                self?.finish(NeighbourTable.hardwareAddress(of: gateway, on: index))
            }
        } else {
            timer = try? EventLoop.shared.schedule(after: .zero) { [weak self] in self?.finish(known) }
        }
    }

    /// Stops without calling `onAnswer`.
    public func cancel() {
        onAnswer = nil
        exchange?.stop()
        exchange = nil
        timer?.cancel()
        timer = nil
    }

    private func finish(_ answer: HardwareAddress?) {
        let call = onAnswer
        cancel()
        call?(answer)
    }

    /// Sends one datagram on this link.
    private func send() -> Bool {
        let isIPv6 = address.count == 16
        let descriptor = socket(
            isIPv6 ? AF_INET6 : AF_INET,
            Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue), 0)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        // Bound by the index, which a rename does not change. SO_BINDTOIFINDEX is 62 (asm-generic/socket.h) and needs no privilege.
        var number = Int32(truncatingIfNeeded: index)
        guard setsockopt(descriptor, SOL_SOCKET, 62, &number, socklen_t(MemoryLayout<Int32>.size)) == 0 else { return false }
        let result: Int
        if isIPv6 {
            var target = sockaddr_in6()
            target.sin6_family = sa_family_t(AF_INET6)
            target.sin6_port = Self.port.bigEndian
            target.sin6_scope_id = UInt32(truncatingIfNeeded: index)
            withUnsafeMutableBytes(of: &target.sin6_addr) { $0.copyBytes(from: address) }
            result = send(descriptor, &target)
        } else {
            var target = sockaddr_in()
            target.sin_family = sa_family_t(AF_INET)
            target.sin_port = Self.port.bigEndian
            withUnsafeMutableBytes(of: &target.sin_addr) { $0.copyBytes(from: address) }
            result = send(descriptor, &target)
        }
        return result >= 0
    }

    private func send<Address>(_ descriptor: Int32, _ target: inout Address) -> Int {
        withUnsafeBytes(of: &target) { octets in
            sendto(
                descriptor, nil, 0, Int32(MSG_NOSIGNAL), octets.assumingMemoryBound(to: sockaddr.self).baseAddress,
                socklen_t(octets.count))
        }
    }
}

/// The kernel's table of neighbours: the hardware addresses behind addresses on a link.
enum NeighbourTable {
    /// The states in which an entry has a hardware address: reachable, stale, delay, probe, permanent (linux/neighbour.h).
    private static let resolved: UInt16 = 0x02 | 0x04 | 0x08 | 0x10 | 0x80

    /// Reads one entry; `nil` if there is none or it is not resolved.
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

    /// Returns the hardware address if the message is a resolved entry for this address on this link.
    static func hardwareAddress(in message: NetlinkMessage, of address: [UInt8], on index: Int) -> HardwareAddress? {
        // struct ndmsg: family, padding, index, state, flags, type.
        guard message.type == UInt16(RTM_NEWNEIGH), message.payload.host(Int32.self, at: 4).map(Int.init) == index,
            let state = message.payload.host(UInt16.self, at: 8), state & resolved != 0,
            let rest = message.payload.after(12), let attributes = try? AttributeReader(rest),
            let destination = try? attributes.octets(Int(NDA_DST)), Array(destination) == address,
            let octets = try? attributes.octets(Int(NDA_LLADDR))
        else { return nil }
        return HardwareAddress(octets: octets)
    }
}
