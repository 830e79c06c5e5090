import CNetlink
import EventLoop
import Netlink

/// Reports changes of routing rules of any family, including the gate's own. Needs no capability and no timer.
@LoopActor public final class RuleWatch {
    private let exchange: NetlinkExchange
    private var isChanged = false

    /// - Parameter onChange: called once for all changes in one turn of the loop, including the gate's own changes.
    public init(onChange: @escaping () -> Void) throws(GateError) {
        do {
            exchange = try NetlinkExchange { () throws(NetlinkError) in
                let socket = try NetlinkSocket(protocol: NETLINK_ROUTE)
                for group in [RTNLGRP_IPV4_RULE, RTNLGRP_IPV6_RULE] { try socket.join(Int32(group.rawValue)) }
                return socket
            }
            exchange.onEvent = { [weak self] _ in self?.isChanged = true }
            exchange.onOverrun = { [weak self] in self?.isChanged = true }
            exchange.onTurn = { [weak self] in
                guard let self, isChanged else { return }
                isChanged = false
                onChange()
            }
            try exchange.start()
        } catch {
            throw GateError(error)
        }
    }

    /// Stops watching; `onChange` is not called again.
    public func stop() { exchange.stop() }
}
