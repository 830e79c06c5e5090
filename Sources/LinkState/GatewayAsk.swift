import CNetlink
import EventLoop
import Glibc
import HotspotCore
import Netlink
import PortalAnnouncement

/// Finds a router's hardware address within three seconds. Tells the kernel that the router's entry in the neighbour table is needed (`NTF_USE`, as
/// `ip neigh replace … use` does). The kernel resolves the address (ARP, RFC 826; RFC 4861), and an event of that table contains the answer.
///
/// hotspotd sends no packet itself, so a kill switch that drops hotspotd's packets does not block the request; ARP is not IP and passes. The request
/// needs `CAP_NET_ADMIN`. This object subscribes to the table only while it waits, because the table changes all the time.
@LoopActor public final class GatewayAsk {
    /// The kernel sends three requests, a second apart (arp(7): `mcast_solicit`, `retrans_time_ms`). The first request or its answer is lost if the
    /// other end of a cable is not ready yet.
    public static let patience = Duration.seconds(3)

    private let index: Int
    private let address: [UInt8]
    private var onAnswer: ((HardwareAddress?) -> Void)?
    private var exchange: NetlinkExchange?
    private var timer: EventSource?

    /// Sends the request. Calls `onAnswer` once, after this initialiser has returned, with `nil` if no answer came in time; never after ``cancel()``
    /// or after this object is gone.
    public init(gateway: String, on index: Int, onAnswer: @escaping (HardwareAddress?) -> Void) {
        self.index = index
        self.onAnswer = onAnswer
        address = AddressText.octets(of: gateway.prefix { $0 != "%" }) ?? []
        // Subscribes first, then reads the table, then sends the request, so that no answer is missed.
        exchange = try? NetlinkExchange { () throws(NetlinkError) in
            let socket = try NetlinkSocket(protocol: NETLINK_ROUTE)
            try socket.join(Int32(RTNLGRP_NEIGH.rawValue))
            return socket
        }
        let known = NeighbourTable.hardwareAddress(of: gateway, on: index)
        if let exchange, known == nil, !address.isEmpty, (try? exchange.start()) != nil,
            (try? NeighbourTable.resolve(address, on: index)) != nil
        {
            exchange.onEvent = { [weak self] message in
                guard let self else { return }
                if let answer = NeighbourTable.hardwareAddress(in: message, of: address, on: index) { finish(answer) }
            }
            exchange.onOverrun = { [weak self] in
                if let answer = NeighbourTable.hardwareAddress(of: gateway, on: index) { self?.finish(answer) }
            }
            // Reads the table again, because on a busy machine the time may end before the event is read.
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
}

/// The kernel's neighbour table: the hardware address of each IP address on a link.
enum NeighbourTable {
    /// The states in which an entry contains a hardware address: reachable, stale, delay, probe, permanent (linux/neighbour.h).
    private static let resolved: UInt16 = 0x02 | 0x04 | 0x08 | 0x10 | 0x80

    /// Reads one entry; `nil` if there is none or it is not resolved.
    static func hardwareAddress(of gateway: String, on index: Int) -> HardwareAddress? {
        guard let address = AddressText.octets(of: gateway.prefix { $0 != "%" }), let answers = try? read(address, on: index)
        else { return nil }
        return answers.lazy.compactMap { hardwareAddress(in: $0, of: address, on: index) }.first
    }

    /// Returns whether no packets are going to this router: its entry is missing, empty, stale or failed. All other states change to one of these by
    /// themselves, except the state of a fixed address.
    static func isAtRest(_ gateway: String, on index: Int) -> Bool {
        guard let address = AddressText.octets(of: gateway.prefix { $0 != "%" }) else { return false }
        do {
            let states = try read(address, on: index).map { $0.payload.host(UInt16.self, at: 8) }
            return !states.isEmpty && states.allSatisfy { $0.map { $0 & ~UInt16(NUD_STALE | NUD_FAILED) == 0 } ?? false }
        } catch {
            return error.code == ENOENT
        }
    }

    private static func read(_ address: [UInt8], on index: Int) throws(NetlinkError) -> [NetlinkMessage] {
        guard let number = Int32(exactly: index) else { throw NetlinkError(operation: "reading a neighbour", code: ENODEV) }
        return try NetlinkSocket(protocol: NETLINK_ROUTE).ask(type: UInt16(RTM_GETNEIGH), payload: entry(address, on: number))
    }

    /// Makes the kernel begin to resolve an address, and returns at once.
    static func resolve(_ address: [UInt8], on index: Int) throws(NetlinkError) {
        guard let number = Int32(exactly: index) else { throw NetlinkError(operation: "resolving a router", code: ENODEV) }
        let socket = try NetlinkSocket(protocol: NETLINK_ROUTE)
        let flags = UInt16(NLM_F_CREATE | NLM_F_REPLACE)
        _ = try socket.ask(type: UInt16(RTM_NEWNEIGH), flags: flags, payload: entry(address, on: number, flags: UInt8(NTF_USE)))
    }

    /// An entry as a request: `struct ndmsg` (linux/neighbour.h) with family, padding, index, state, flags and type, then the address.
    private static func entry(_ address: [UInt8], on index: Int32, flags: UInt8 = 0) -> [UInt8] {
        var header: [UInt8] = [UInt8(address.count == 4 ? AF_INET : AF_INET6), 0, 0, 0]
        header.appendHost(index)
        header += [0, 0, flags, 0]
        var payload = PayloadBuilder(header: header)
        payload.append(Int(NDA_DST), address)
        return payload.octets
    }

    /// Returns the hardware address if the message is a resolved entry for this address on this link.
    static func hardwareAddress(in message: NetlinkMessage, of address: [UInt8], on index: Int) -> HardwareAddress? {
        guard message.type == UInt16(RTM_NEWNEIGH), message.payload.host(Int32.self, at: 4).map(Int.init) == index,
            let state = message.payload.host(UInt16.self, at: 8), state & resolved != 0,
            let rest = message.payload.after(12), let attributes = try? AttributeReader(rest),
            let destination = try? attributes.octets(Int(NDA_DST)), Array(destination) == address,
            let octets = try? attributes.octets(Int(NDA_LLADDR))
        else { return nil }
        return HardwareAddress(octets: octets)
    }
}
