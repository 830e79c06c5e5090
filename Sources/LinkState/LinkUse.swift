import CNetlink
import EventLoop
import Glibc
import Netlink

/// Waits until programs use an idle link again, without a timer and without inspecting packets.
///
/// An entry of the neighbour table becomes stale after a while without packets (15 to 45 s). After the next packet, whatever its protocol, the kernel
/// checks the address 5 s later (RFC 4861, 7.3.3; arp(7): `delay_first_probe_time`) and reports the check.
@LoopActor public final class LinkUse {
    private let socket: NetlinkSocket
    private var source: EventSource?

    /// Starts waiting. Calls `onUse` once, but not after this object is gone. Returns `nil` if a router is in use, or if the kernel would not report
    /// its use, as with a fixed hardware address.
    ///
    /// - Parameter routers: the link's default routers.
    public init?(of routers: [String], on index: Int, onUse: @escaping () -> Void) {
        guard let number = Int32(exactly: index), !routers.isEmpty, let socket = try? NetlinkSocket(protocol: NETLINK_ROUTE),
            let descriptor = socket.descriptor, cnetlink_accept_use(descriptor, number) == 0,
            (try? socket.join(Int32(RTNLGRP_NEIGH.rawValue))) != nil,
            // Subscribes first and then reads the table, so that no event is missed.
            routers.allSatisfy({ NeighbourTable.isAtRest($0, on: index) })
        else { return nil }
        self.socket = socket
        let source = try? EventLoop.shared.watch(descriptor) { [weak self] _ in
            self?.source?.cancel()
            onUse()
        }
        guard let source else { return nil }
        self.source = source
    }

    // The source is cancelled before the socket is closed.
    isolated deinit { source?.cancel() }
}
