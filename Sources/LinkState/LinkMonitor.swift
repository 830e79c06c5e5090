import CNetlink
import EventLoop
import Glibc
import HotspotCore
import Netlink

/// Watches the machine's links, their addresses and default routes through rtnetlink.
///
/// Needs no capability and no timer. Many events within one turn of the loop become one change for each link. When the kernel had
/// to leave out events, everything is read anew and compared, so that nothing is lost in effect.
@LoopActor public final class LinkMonitor {
    /// Called for each link that changed, in the turn that read it.
    public var onChange: (LinkChange) -> Void = { _ in }
    /// Called when the kernel's socket is lost for good; nothing follows.
    public var onFailure: (LinkError) -> Void = { _ in }
    /// All links by their index, as last told.
    public private(set) var links: [Int: LinkSnapshot] = [:]
    /// The first reading is over: ``links`` is the whole truth from here on.
    public private(set) var isComplete = false
    /// Messages whose lengths contradicted each other, dropped whole.
    public private(set) var malformedCount = 0
    /// Datagrams of others than the kernel, dropped.
    public var foreignCount: Int { exchange.foreignCount }

    let exchange: NetlinkExchange
    private var table = LinkTable()
    /// A new reading that is being filled; events go there too, for in the order of the socket they belong to it.
    private var incoming: LinkTable?
    private var isReadingWaiting = false
    private var isReadingFailed = false
    private var isReadingRoutesWaiting = false
    private var needsRoutes = false
    private var isChanged = false
    private var isStarted = false

    /// Opens the socket and joins the groups of links, addresses and routes.
    public convenience init() throws(LinkError) {
        do {
            try self.init { () throws(NetlinkError) in
                let socket = try NetlinkSocket(protocol: NETLINK_ROUTE)
                for group in [
                    RTNLGRP_LINK, RTNLGRP_IPV4_IFADDR, RTNLGRP_IPV6_IFADDR, RTNLGRP_IPV4_ROUTE, RTNLGRP_IPV6_ROUTE,
                ] { try socket.join(Int32(group.rawValue)) }
                return socket
            }
        } catch {
            throw LinkError(error)
        }
    }

    init(open: @escaping () throws(NetlinkError) -> any NetlinkTransport) throws(NetlinkError) {
        exchange = try NetlinkExchange(open: open)
        exchange.onEvent = { [weak self] in self?.take($0) }
        exchange.onOverrun = { [weak self] in self?.readAll() }
        exchange.onTurn = { [weak self] in self?.endTurn() }
        exchange.onFailure = { [weak self] in self?.onFailure(LinkError($0)) }
    }

    /// Begins. What is there already is told as if it had just come.
    public func start() {
        guard !isStarted else { return }
        isStarted = true
        readAll()
        do {
            try exchange.start()
        } catch {
            onFailure(LinkError(error))
        }
    }

    /// Reads everything again, and calls once when what it found has been told.
    public func readAgain(_ done: @escaping () -> Void) {
        readAll()
        exchange.whenIdle(done)
    }

    /// Ends; no change follows.
    public func stop() { exchange.stop() }

    /// The hardware address of a router, if the kernel knows it by now; ``GatewayAsk`` makes it find out.
    public func gatewayAddress(of gateway: String, on index: Int) -> HardwareAddress? {
        NeighbourTable.hardwareAddress(of: gateway, on: index)
    }

    // MARK: Events

    private func take(_ message: NetlinkMessage) {
        do {
            let effect = if incoming != nil { try incoming!.take(message) } else { try table.take(message) }
            switch effect {
            case .none: break
            case .links: isChanged = true
            case .routes:
                isChanged = true
                needsRoutes = true
            }
        } catch {
            malformedCount += 1
        }
    }

    /// All that waited was taken in: tells the changes, unless something still has to be read for them.
    private func endTurn() {
        if needsRoutes {
            needsRoutes = false
            readRoutes()
        }
        if isChanged, incoming == nil, exchange.isIdle { tell() }
    }

    private func tell() {
        isChanged = false
        let old = links
        let new = table.snapshots
        links = new
        for index in Set(old.keys).union(new.keys).sorted() {
            switch (old[index], new[index]) {
            case (let before?, let after?): if before != after { onChange(.changed(after, from: before)) }
            case (nil, let after?): onChange(.appeared(after))
            case (let before?, nil): onChange(.vanished(before))
            case (nil, nil): break
            }
        }
    }

    // MARK: Readings

    /// Reads links, addresses and routes anew. A reading that has not begun yet serves this wish too.
    private func readAll() {
        guard !isReadingWaiting else { return }
        isReadingWaiting = true
        dump(
            RTM_GETLINK, header: 16,
            begun: { [weak self] in
                // From here on an overrun makes this reading doubtful and asks for another.
                self?.isReadingWaiting = false
                self?.isReadingFailed = false
                self?.incoming = LinkTable()
            },
            answered: { [weak self] message in self?.take(message) })
        dump(RTM_GETADDR, header: 8, answered: { [weak self] message in self?.take(message) })
        // Not shared with one that waits already: a whole reading ends with its own routes.
        dumpRoutes()
    }

    private func readRoutes() {
        guard !isReadingRoutesWaiting else { return }
        isReadingRoutesWaiting = true
        dumpRoutes()
    }

    private func dumpRoutes() {
        dump(
            RTM_GETROUTE, header: 12,
            begun: { [weak self] in
                guard let self else { return }
                isReadingRoutesWaiting = false
                needsRoutes = false
                if incoming != nil { incoming!.removeRoutes() } else { table.removeRoutes() }
            },
            answered: { [weak self] message in
                guard let self else { return }
                do {
                    if incoming != nil { try incoming!.takeRoute(message) } else { try table.takeRoute(message) }
                } catch {
                    malformedCount += 1
                }
            },
            finished: { [weak self] in
                guard let self else { return }
                isChanged = true
                // With another whole reading behind this one, only that one's result is told.
                if let incoming, !isReadingWaiting {
                    // A reading that failed half-way says nothing of what it lacks.
                    if !isReadingFailed { table = incoming }
                    self.incoming = nil
                    isComplete = true
                }
            })
    }

    private func dump(
        _ type: Int, header: Int, begun: @escaping () -> Void = {}, answered: @escaping (NetlinkMessage) -> Void,
        finished: @escaping () -> Void = {}
    ) {
        exchange.enqueue(
            NetlinkExchange.Request(
                type: UInt16(type), isDump: true, payload: [UInt8](repeating: 0, count: header), begun: begun,
                answered: answered,
                finished: { [weak self] error in
                    if error != nil { self?.isReadingFailed = true }
                    finished()
                }))
    }
}
