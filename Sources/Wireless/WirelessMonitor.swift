import CNetlink
import EventLoop
import Glibc
import HotspotCore
import Netlink

/// Watches all radios of the machine through nl80211: interfaces, scans and associations.
///
/// Watching needs no capability and no polling: the kernel's events wake the loop, and a table is read when an event reports a change. If the kernel
/// had to drop events, everything is read again.
@LoopActor public final class WirelessMonitor {
    /// Called for each event, in the loop's turn that read it.
    public var onEvent: (WirelessEvent) -> Void = { _ in }
    /// Called when the kernel's socket is lost permanently; no other call follows.
    public var onFailure: (WirelessError) -> Void = { _ in }
    /// For tests: the number of messages with contradictory lengths, which are dropped whole.
    package internal(set) var malformedCount = 0
    /// For tests: the number of datagrams that did not come from the kernel, which are dropped.
    package var foreignCount: Int { exchange.foreignCount }

    let exchange: NetlinkExchange
    let family: UInt16
    var stations: [Int: Station] = [:]
    var isReadingInterfaces = false
    private var generation = 0
    /// The timers that run while ``Station/isWaitingForRoam``.
    private var roamTimers: [Int: EventSource] = [:]
    private var isStarted = false

    /// Finds nl80211 and joins its groups. Throws ``WirelessError/unavailable`` on a machine without nl80211.
    public convenience init() throws(WirelessError) {
        do {
            // A separate socket requests the numbers of the family and its groups, because the answers must not mix with events.
            let asking = try NetlinkSocket(protocol: NETLINK_GENERIC)
            guard let family = try asking.family("nl80211") else { throw WirelessError.unavailable }
            // The names of the groups are NL80211_MULTICAST_GROUP_… in linux/nl80211.h.
            let groups = try ["scan", "mlme", "config", "regulatory"].compactMap { try asking.group($0, of: "nl80211") }
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
        exchange.onEvent = { [weak self] in self?.handle($0) }
        exchange.onOverrun = { [weak self] in
            guard let self else { return }
            onEvent(.lost)
            // End every attempt to associate, because the event with its outcome may be lost. The tables show the current state.
            for index in stations.keys.sorted() { handle(.associationFailed, of: index) }
            readInterfaces()
        }
        exchange.onFailure = { [weak self] in
            self?.onFailure(.system(operation: $0.operation, code: $0.code))
        }
    }

    /// Starts watching. Reports the existing interfaces as if they had just appeared.
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

    /// Reads everything again, and calls `done` once after reporting the changes.
    public func readAgain(_ done: @escaping () -> Void) {
        readInterfaces()
        exchange.whenIdle(done)
    }

    /// Stops watching; no event follows.
    public func stop() {
        exchange.stop()
        roamTimers = [:]
        stations = [:]
    }

    /// All interfaces by their index.
    public var interfaces: [Int: WirelessInterface] { stations.mapValues(\.interface) }

    /// Returns the last scan list of an interface, at most 512 entries: the associated entry first, then the strongest.
    public func networks(on index: Int) -> [BSS] { stations[index]?.networks ?? [] }

    /// Returns the network that an interface is in.
    public func association(of index: Int) -> WirelessAssociation? { stations[index]?.association }

    // MARK: Commands

    /// Starts a scan; `scanFinished` follows.
    ///
    /// - Parameter frequencies: in MHz; empty means all.
    public func triggerScan(index: Int, frequencies: [Int] = []) throws(WirelessError) {
        var payload = PayloadBuilder(command: UInt8(NL80211_CMD_TRIGGER_SCAN.rawValue))
        payload.append(Int(NL80211_ATTR_IFINDEX.rawValue), integer: UInt32(truncatingIfNeeded: index))
        // One empty name makes the scan active: it sends probe requests as well as listening.
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

    /// Joins an unencrypted network; `connected` or `disconnected` follows. Only for a machine without a connection manager.
    public func connect(index: Int, ssid: SSID) throws(WirelessError) {
        var payload = PayloadBuilder(command: UInt8(NL80211_CMD_CONNECT.rawValue))
        payload.append(Int(NL80211_ATTR_IFINDEX.rawValue), integer: UInt32(truncatingIfNeeded: index))
        payload.append(Int(NL80211_ATTR_SSID.rawValue), ssid.octets)
        payload.append(Int(NL80211_ATTR_AUTH_TYPE.rawValue), integer: UInt32(NL80211_AUTHTYPE_OPEN_SYSTEM.rawValue))
        try command(payload, "Joining", index)
    }

    /// Leaves the interface's network; `disconnected` follows. The connection manager may join again.
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
            // Use a separate socket for this command: its outcome is known at once, and the socket uses no memory afterwards.
            _ = try NetlinkSocket(protocol: NETLINK_GENERIC).ask(type: family, payload: payload.octets)
        } catch {
            throw WirelessError(error, operation: operation, index: index)
        }
    }

    // MARK: Events

    /// Handles one message. Ignores events for unknown interfaces.
    private func handle(_ message: NetlinkMessage) {
        guard let (command, attributes) = parse(message) else { return }
        do {
            guard let index = try attributes.integer(Int(NL80211_ATTR_IFINDEX.rawValue), as: UInt32.self).map(Int.init) else {
                return
            }
            switch command {
            case NL80211_CMD_NEW_INTERFACE.rawValue, NL80211_CMD_SET_INTERFACE.rawValue:
                if let interface = interface(in: message) { update(interface) }
            case NL80211_CMD_DEL_INTERFACE.rawValue: remove(index)
            // An aborted scan is ignored, because it leaves the old list unchanged.
            case NL80211_CMD_NEW_SCAN_RESULTS.rawValue, NL80211_CMD_SCHED_SCAN_RESULTS.rawValue: readTable(index, for: .scan)
            default:
                guard stations[index]?.interface.isStation == true, let event = try stationEvent(command, attributes) else {
                    return
                }
                handle(event, of: index)
                // `connected` is reported once the interface and the scan table have been read.
                guard case .connectSucceeded = event else { return }
                readInterface(index)
                readTable(index, for: .association)
            }
        } catch {
            malformedCount += 1
        }
    }

    private func stationEvent(_ command: UInt32, _ attributes: AttributeReader) throws(MalformedMessage) -> StationEvent? {
        let address = try attributes.octets(Int(NL80211_ATTR_MAC.rawValue)).flatMap { HardwareAddress(octets: $0) }
        let hasTimedOut = try attributes.flag(Int(NL80211_ATTR_TIMED_OUT.rawValue))
        switch command {
        case NL80211_CMD_NEW_STATION.rawValue: return .turned(to: address)
        case NL80211_CMD_AUTHENTICATE.rawValue, NL80211_CMD_ASSOCIATE.rawValue:
            return hasTimedOut ? .associationFailed : .turned(to: nil)
        case NL80211_CMD_DEL_STATION.rawValue: return .peerRemoved(address)
        case NL80211_CMD_CONNECT.rawValue, NL80211_CMD_ROAM.rawValue:
            let status = try attributes.integer(Int(NL80211_ATTR_STATUS_CODE.rawValue), as: UInt16.self) ?? 0
            guard status == 0, !hasTimedOut else { return .associationFailed }
            let elements = try attributes.octets(Int(NL80211_ATTR_REQ_IE.rawValue))
            return .connectSucceeded(to: address, requested: elements.flatMap { InformationElements($0).ssid })
        case NL80211_CMD_DISCONNECT.rawValue:
            return .disconnected(
                isByAccessPoint: try attributes.flag(Int(NL80211_ATTR_DISCONNECTED_BY_AP.rawValue)),
                reasonCode: try attributes.integer(Int(NL80211_ATTR_REASON_CODE.rawValue), as: UInt16.self).map(Int.init))
        default: return nil
        }
    }

    /// Passes an event to a station, starts or stops its roam timer, and reports the resulting events.
    func handle(_ event: StationEvent, of index: Int) {
        guard stations[index]?.interface.isStation == true, let events = stations[index]?.handle(event) else { return }
        if stations[index]?.isWaitingForRoam != true {
            roamTimers[index] = nil
        } else if roamTimers[index] == nil {
            roamTimers[index] = try? EventLoop.shared.schedule(after: Station.roamPatience) { [weak self] in
                self?.handle(.roamTimedOut, of: index)
            }
            if roamTimers[index] == nil { handle(.roamTimedOut, of: index) }
        }
        for event in events { onEvent(event) }
    }

    /// Adopts the kernel's current description of an interface.
    ///
    /// - Parameter isReadingAll: whether everything is being read again, so that a known interface's table is read too.
    func update(_ interface: WirelessInterface, isReadingAll: Bool = false) {
        if let old = stations[interface.index]?.interface {
            if old.identifier == interface.identifier, old.wiphy == interface.wiphy, old.isStation == interface.isStation {
                stations[interface.index]!.interface = interface
                if isReadingAll { readTable(interface.index, for: .association) }
                return
            }
            // The index was given to another interface, or the interface changed its mode.
            remove(interface.index)
        }
        generation += 1
        stations[interface.index] = Station(interface: interface, generation: generation)
        onEvent(.interfaceAppeared(interface))
        readTable(interface.index, for: .association)
    }

    /// Forgets an interface that is gone.
    func remove(_ index: Int) {
        guard stations.removeValue(forKey: index) != nil else { return }
        roamTimers[index] = nil
        onEvent(.interfaceVanished(index: index))
    }
}
