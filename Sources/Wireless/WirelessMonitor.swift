import CNetlink
import EventLoop
import Glibc
import HotspotCore
import Netlink

/// Watches all radios of the machine through nl80211: interfaces, scans, and who joins what.
///
/// Watching needs no capability. Nothing is asked at intervals: the kernel's events wake the loop, and a table is read when an event
/// says that it changed. When the kernel had to leave out events, everything is read anew.
@LoopActor public final class WirelessMonitor {
    /// Called for each event, in the loop's turn that read it.
    public var onEvent: (WirelessEvent) -> Void = { _ in }
    /// Called when the kernel's socket is lost for good; nothing follows.
    public var onFailure: (WirelessError) -> Void = { _ in }
    /// Messages whose lengths contradicted each other, dropped whole.
    public internal(set) var malformedCount = 0
    /// Datagrams of others than the kernel, dropped.
    public var foreignCount: Int { exchange.foreignCount }

    let exchange: NetlinkExchange
    let family: UInt16
    var stations: [Int: Station] = [:]
    var generation = 0
    var isReadingInterfaces = false
    private var isStarted = false

    /// Finds nl80211 and joins its groups. Throws ``WirelessError/unavailable`` on a machine without.
    public convenience init() throws(WirelessError) {
        do {
            // A socket of its own asks for the numbers, since the answer of a family must not mix with events.
            let asking = try NetlinkSocket(protocol: NETLINK_GENERIC)
            guard let family = asking.family("nl80211") else { throw WirelessError.unavailable }
            // The names of the groups are NL80211_MULTICAST_GROUP_… in linux/nl80211.h.
            let groups = ["scan", "mlme", "config", "regulatory"].compactMap { asking.group($0, of: "nl80211") }
            try self.init(family: family) { () throws(NetlinkError) in
                let socket = try NetlinkSocket(protocol: NETLINK_GENERIC)
                for group in groups { try socket.join(group) }
                return socket
            }
        } catch let error as NetlinkError {
            throw .system(operation: error.operation, code: error.code)
        } catch let error as WirelessError {
            throw error
        } catch {
            throw .unavailable
        }
    }

    init(family: UInt16, open: @escaping () throws(NetlinkError) -> any NetlinkTransport) throws(NetlinkError) {
        self.family = family
        exchange = try NetlinkExchange(open: open)
        exchange.onEvent = { [weak self] in self?.take($0) }
        exchange.onOverrun = { [weak self] in
            guard let self else { return }
            onEvent(.lost)
            abandonAttempts()
            readInterfaces()
        }
        exchange.onFailure = { [weak self] in
            self?.onFailure(.system(operation: $0.operation, code: $0.code))
        }
    }

    /// Begins. What is there already is told as if it had just come.
    public func start() {
        guard !isStarted else { return }
        isStarted = true
        readInterfaces()
        do {
            try exchange.start()
        } catch {
            onFailure(.system(operation: error.operation, code: error.code))
        }
    }

    /// Reads everything again, and calls once when what it found has been told.
    public func readAgain(_ done: @escaping () -> Void) {
        readInterfaces()
        exchange.whenIdle(done)
    }

    /// Ends; no event follows.
    public func stop() {
        exchange.stop()
        for station in stations.values { station.parting?.timer?.cancel() }
        stations = [:]
    }

    /// All interfaces by their index.
    public var interfaces: [Int: WirelessInterface] { stations.mapValues(\.interface) }

    /// The last scan list of an interface, the strongest first, at most 512.
    public func networks(on index: Int) -> [BSS] { stations[index]?.networks ?? [] }

    /// The network that an interface is in.
    public func association(of index: Int) -> Association? { stations[index]?.association }

    /// Asks the radio to scan; `scanFinished` follows.
    ///
    /// - Parameter frequencies: in MHz; none means all.
    public func triggerScan(index: Int, frequencies: [Int] = []) throws(WirelessError) {
        var payload = PayloadBuilder(command: UInt8(NL80211_CMD_TRIGGER_SCAN.rawValue))
        payload.append(Int(NL80211_ATTR_IFINDEX.rawValue), integer: UInt32(truncatingIfNeeded: index))
        // One empty name: ask everybody rather than only listen.
        payload.append(Int(NL80211_ATTR_SCAN_SSIDS.rawValue)) { $0.append(1, []) }
        if !frequencies.isEmpty {
            payload.append(Int(NL80211_ATTR_SCAN_FREQUENCIES.rawValue)) { list in
                for (number, frequency) in frequencies.prefix(256).enumerated() {
                    list.append(number, integer: UInt32(truncatingIfNeeded: frequency))
                }
            }
        }
        try command(payload, "Scanning", index)
    }

    /// Leaves the network that the interface is in; `disconnected` follows. Whoever manages the connection may join again.
    public func disconnect(index: Int) throws(WirelessError) {
        var payload = PayloadBuilder(command: UInt8(NL80211_CMD_DISCONNECT.rawValue))
        payload.append(Int(NL80211_ATTR_IFINDEX.rawValue), integer: UInt32(truncatingIfNeeded: index))
        // IEEE 802.11: the station is leaving.
        payload.append(Int(NL80211_ATTR_REASON_CODE.rawValue), integer: UInt16(3))
        try command(payload, "Disconnecting", index)
    }

    private func command(_ payload: PayloadBuilder, _ operation: String, _ index: Int) throws(WirelessError) {
        guard stations[index] != nil else { throw .noInterface(index: index) }
        do {
            // A socket for this one command, so that its outcome is known at once and no memory is held for it at rest.
            _ = try NetlinkSocket(protocol: NETLINK_GENERIC).ask(type: family, payload: payload.octets)
        } catch {
            throw WirelessError(error, operation: operation, index: index)
        }
    }
}
