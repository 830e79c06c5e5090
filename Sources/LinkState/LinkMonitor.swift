import CNetlink
import EventLoop
import Glibc
import HotspotCore
import Netlink

/// Watches the machine's links, their addresses and default routes through rtnetlink. This target also reads what programs know
/// about a link (`SystemLinkFacts`), and which rule of this computer blocks a probe (`ProbeLoss`).
///
/// Needs no capability and no timer. All events of one turn of the loop become one change for each link. If the kernel had to drop events, everything
/// is read again and compared.
@LoopActor public final class LinkMonitor {
    /// Called for each link that changed, in the turn that read it.
    public var onChange: (LinkChange) -> Void = { _ in }
    /// Called when the kernel's socket is lost permanently; no other call follows.
    public var onFailure: (LinkError) -> Void = { _ in }
    /// All links by their index, as last reported.
    public private(set) var links: [Int: LinkSnapshot] = [:]
    /// Whether the first reading is over, so that ``links`` is complete.
    public private(set) var isComplete = false
    /// For tests: the number of messages with contradictory lengths, which are dropped whole.
    package private(set) var malformedCount = 0
    /// For tests: the number of datagrams that did not come from the kernel, which are dropped.
    package var foreignCount: Int { exchange.foreignCount }

    let exchange: NetlinkExchange
    private var table = LinkTable()
    /// The table of a reading in progress. Events change this table too, because events and answers arrive on one socket, in order.
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
        exchange.onEvent = { [weak self] in self?.handle($0) }
        exchange.onOverrun = { [weak self] in self?.readAll() }
        exchange.onTurn = { [weak self] in self?.endTurn() }
        exchange.onFailure = { [weak self] in self?.onFailure(LinkError($0)) }
    }

    /// Starts watching. Reports the existing links as if they had just appeared.
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

    /// Reads everything again, and calls `done` once after reporting the changes.
    public func readAgain(_ done: @escaping () -> Void) {
        readAll()
        exchange.whenIdle(done)
    }

    /// Stops watching; no change follows.
    public func stop() { exchange.stop() }

    // MARK: Events

    private func handle(_ message: NetlinkMessage) {
        do {
            let effect = if incoming != nil { try incoming!.apply(message) } else { try table.apply(message) }
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

    /// Reports the changes of a turn, unless routes must be read first.
    private func endTurn() {
        if needsRoutes {
            needsRoutes = false
            readRoutes()
        }
        if isChanged, incoming == nil, exchange.isIdle { reportChanges() }
    }

    private func reportChanges() {
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

    /// Reads links, addresses and routes again. Does nothing if such a reading is already waiting.
    private func readAll() {
        guard !isReadingWaiting else { return }
        isReadingWaiting = true
        dump(
            RTM_GETLINK, header: 16,
            begun: { [weak self] in
                // Let another reading wait from now on: if the kernel drops events during this reading, its result is doubtful.
                self?.isReadingWaiting = false
                self?.isReadingFailed = false
                self?.incoming = LinkTable()
            },
            answered: { [weak self] message in self?.handle(message) })
        dump(RTM_GETADDR, header: 8, answered: { [weak self] message in self?.handle(message) })
        // Each complete reading ends with its own dump of routes, even if another dump of routes waits.
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
                    if incoming != nil { try incoming!.addRoute(message) } else { try table.addRoute(message) }
                } catch {
                    malformedCount += 1
                }
            },
            finished: { [weak self] in
                guard let self else { return }
                isChanged = true
                // If another complete reading waits, only its result is reported.
                if let incoming, !isReadingWaiting {
                    // Keeps the old table if the reading failed, because a link that the reading lacks may still exist.
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

/// The reason why the links cannot be watched.
public struct LinkError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The failed operation, in a few words.
    public let operation: String
    /// The error number, which is positive.
    public let code: Int32

    init(_ error: NetlinkError) {
        operation = error.operation
        code = error.code
    }

    /// One sentence for the user.
    public var description: String {
        "hotspotd cannot watch the network links: \(operation): \(String(cString: strerror(code)))."
    }
}
