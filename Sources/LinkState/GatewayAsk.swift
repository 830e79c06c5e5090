import CNetlink
import EventLoop
import Glibc
import HotspotCore
import Netlink

/// Finds the hardware address of a router: one empty datagram makes the kernel ask the neighbours (ARP, RFC 826; RFC 4861), and the
/// kernel tells when it knows. Waits at most one second.
///
/// It subscribes to the neighbour table for this time only, since that table is never quiet.
@LoopActor public final class GatewayAsk {
    /// How long an answer is waited for.
    public static let patience = Duration.seconds(1)
    /// The discard service (RFC 863): whoever listens there throws the datagram away.
    private static let port: UInt16 = 9

    private let index: Int
    private let address: [UInt8]
    private var onAnswer: ((HardwareAddress?) -> Void)?
    private var exchange: NetlinkExchange?
    private var timer: EventSource?

    /// Asks at once. `onAnswer` is called exactly once, never from within this initialiser, with `nil` if nobody answered in time;
    /// not at all after ``cancel()`` or when this object is gone.
    public init(gateway: String, on index: Int, onAnswer: @escaping (HardwareAddress?) -> Void) {
        self.index = index
        self.onAnswer = onAnswer
        address = AddressText.octets(of: gateway.prefix { $0 != "%" }) ?? []
        // Subscribing comes before looking, and looking before asking: so no answer falls between.
        exchange = try? NetlinkExchange { () throws(NetlinkError) in
            let socket = try NetlinkSocket(protocol: NETLINK_ROUTE)
            try socket.join(Int32(RTNLGRP_NEIGH.rawValue))
            return socket
        }
        let known = NeighbourTable.hardwareAddress(of: gateway, on: index)
        if let exchange, known == nil, !address.isEmpty, (try? exchange.start()) != nil, send() {
            exchange.onEvent = { [weak self] message in
                guard let self, let found = NeighbourTable.hardwareAddress(in: message, of: address, on: index) else { return }
                finish(found)
            }
            exchange.onOverrun = { [weak self] in
                if let found = NeighbourTable.hardwareAddress(of: gateway, on: index) { self?.finish(found) }
            }
            timer = try? EventLoop.shared.schedule(after: Self.patience) { [weak self] in self?.finish(nil) }
        } else {
            timer = try? EventLoop.shared.schedule(after: .zero) { [weak self] in self?.finish(known) }
        }
    }

    /// Gives up, without a call.
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

    /// One datagram on this link and no other.
    private func send() -> Bool {
        let isIPv6 = address.count == 16
        let descriptor = socket(
            isIPv6 ? AF_INET6 : AF_INET,
            Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue), 0)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        // By index, so that a rename cannot lead it astray. SO_BINDTOIFINDEX is 62 (asm-generic/socket.h), without privilege.
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
