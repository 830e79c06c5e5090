import CNetlink
import EventLoop
import Glibc
import HotspotCore
import Netlink

/// Following the kernel's events.
extension WirelessMonitor {
    /// How long a farewell waits for the second half of a roam. The two halves come from one system call of the connection manager.
    private static let roamPatience = Duration.milliseconds(50)
    /// IEEE 802.11-2020, table 9-49: unspecified. What mac80211 gives when it leaves one access point for another.
    private static let unspecifiedReason = 1

    /// Takes one event in. Those about interfaces that we do not know are nobody's.
    func take(_ message: NetlinkMessage) {
        guard let (command, attributes) = open(message) else { return }
        do {
            try take(command, attributes, message)
        } catch {
            malformedCount += 1
        }
    }

    private func take(
        _ command: UInt32, _ attributes: AttributeReader, _ message: NetlinkMessage
    ) throws(MalformedMessage) {
        guard let index = try attributes.integer(Int(NL80211_ATTR_IFINDEX.rawValue), as: UInt32.self).map(Int.init) else {
            return
        }
        switch command {
        case NL80211_CMD_NEW_INTERFACE.rawValue, NL80211_CMD_SET_INTERFACE.rawValue:
            if let interface = interface(in: message) { note(interface, reading: false) }
            return
        case NL80211_CMD_DEL_INTERFACE.rawValue:
            vanish(index)
            return
        default: break
        }
        guard stations[index]?.interface.type == .station else { return }
        let address = try attributes.octets(Int(NL80211_ATTR_MAC.rawValue)).flatMap { HardwareAddress(octets: $0) }
        switch command {
        case NL80211_CMD_NEW_SCAN_RESULTS.rawValue, NL80211_CMD_SCHED_SCAN_RESULTS.rawValue:
            readTable(index, for: .scan)
        // An aborted scan leaves the old list as it is.
        case NL80211_CMD_NEW_STATION.rawValue:
            begin(index, with: address)
        case NL80211_CMD_AUTHENTICATE.rawValue, NL80211_CMD_ASSOCIATE.rawValue:
            if try attributes.flag(Int(NL80211_ATTR_TIMED_OUT.rawValue)) {
                fail(index, reason: nil)
            } else {
                begin(index, with: nil)
            }
        case NL80211_CMD_DEL_STATION.rawValue:
            // An attempt that ends without a word: its peer is forgotten.
            if let station = stations[index], station.connecting == nil,
                station.isAssociating || station.parting?.isRoaming == true,
                station.association?.bssid != address
            {
                fail(index, reason: nil)
            }
        case NL80211_CMD_CONNECT.rawValue, NL80211_CMD_ROAM.rawValue:
            let status = try attributes.integer(Int(NL80211_ATTR_STATUS_CODE.rawValue), as: UInt16.self) ?? 0
            guard status == 0, try !attributes.flag(Int(NL80211_ATTR_TIMED_OUT.rawValue)) else {
                fail(index, reason: nil)
                return
            }
            stations[index]!.parting?.timer?.cancel()
            stations[index]!.connecting = address
            stations[index]!.requested = try attributes.octets(Int(NL80211_ATTR_REQ_IE.rawValue)).flatMap {
                InformationElements($0).ssid
            }
            readInterface(index)
            readTable(index, for: .association)
        case NL80211_CMD_DISCONNECT.rawValue:
            leave(
                index, isByAccessPoint: try attributes.flag(Int(NL80211_ATTR_DISCONNECTED_BY_AP.rawValue)),
                reason: try attributes.integer(Int(NL80211_ATTR_REASON_CODE.rawValue), as: UInt16.self).map(Int.init))
        default: break
        }
    }

    /// An interface as the kernel describes it now.
    ///
    /// - Parameter reading: everything is being read anew: read the table of a known interface too.
    func note(_ interface: WirelessInterface, reading: Bool) {
        if let station = stations[interface.index] {
            let old = station.interface
            if old.identifier == interface.identifier, old.wiphy == interface.wiphy, old.type == interface.type {
                stations[interface.index]!.interface = interface
                if reading, interface.type == .station { readTable(interface.index, for: .association) }
                return
            }
            // The index was given to another interface, or this one serves another end now.
            vanish(interface.index)
        }
        generation += 1
        stations[interface.index] = Station(interface: interface, generation: generation)
        onEvent(.interfaceAppeared(interface))
        if interface.type == .station { readTable(interface.index, for: .association) }
    }

    /// An interface is gone.
    func vanish(_ index: Int) {
        guard let station = stations.removeValue(forKey: index) else { return }
        station.parting?.timer?.cancel()
        onEvent(.interfaceVanished(index: index))
    }

    /// The first sign that the station turns to an access point.
    private func begin(_ index: Int, with bssid: BSSID?) {
        guard let station = stations[index], !station.isAssociating, station.connecting == nil else { return }
        if let parting = station.parting {
            guard !parting.isRoaming else { return }
            parting.timer?.cancel()
            if let bssid, station.isSameNetwork(bssid) {
                stations[index]!.parting!.isRoaming = true
                return
            }
            part(index)
        } else if station.association != nil {
            // A peer of another kind, or a roam of which only the outcome is told.
            return
        }
        stations[index]!.isAssociating = true
        onEvent(.associationBegan(index: index))
    }

    /// The station has left, or was left.
    private func leave(_ index: Int, isByAccessPoint: Bool, reason: Int?) {
        guard let station = stations[index] else { return }
        stations[index]!.connecting = nil
        guard station.association != nil, station.parting == nil, !isByAccessPoint, reason ?? 1 == Self.unspecifiedReason
        else {
            fail(index, reason: reason)
            if stations[index]?.association != nil { part(index, reason: reason) }
            return
        }
        let generation = station.generation
        let timer = try? EventLoop.shared.schedule(after: Self.roamPatience) { [weak self] in
            // The interface may have gone, and its index been given away, before the timer fired.
            guard let self, stations[index]?.generation == generation else { return }
            part(index)
        }
        stations[index]!.parting = Station.Parting(reasonCode: reason, timer: timer)
        if timer == nil { part(index) }
    }

    /// An attempt came to nothing.
    private func fail(_ index: Int, reason: Int?) {
        guard let station = stations[index] else { return }
        stations[index]!.connecting = nil
        if station.parting != nil {
            part(index)
        } else if station.isAssociating {
            stations[index]!.isAssociating = false
            onEvent(.disconnected(index: index, reasonCode: reason))
        }
    }

    /// Events were lost, perhaps the end of what is under way: it counts as failed, and the tables say what is true.
    func abandonAttempts() {
        for index in stations.keys.sorted() { fail(index, reason: nil) }
    }

    /// The farewell was one.
    private func part(_ index: Int, reason: Int? = nil) {
        guard let station = stations[index] else { return }
        station.parting?.timer?.cancel()
        stations[index]!.parting = nil
        stations[index]!.association = nil
        stations[index]!.isAssociating = false
        onEvent(.disconnected(index: index, reasonCode: station.parting?.reasonCode ?? reason))
    }

    /// A table was read: tells what it says.
    ///
    /// - Parameter isComplete: the reading succeeded, and what it does not show is not there.
    func settle(_ index: Int, for purposes: Set<Station.Purpose>, isComplete: Bool) {
        guard let station = stations[index] else { return }
        let found = station.association(in: isComplete ? station.networks : [])
        if purposes.contains(.association), isComplete || station.connecting != nil {
            // While a farewell waits for its second half, the table's silence is no news.
            if found != nil || station.parting == nil { become(index, found) }
        } else if let found, found.bssid == station.association?.bssid {
            stations[index]!.association?.signal = found.signal
            stations[index]!.association?.frequency = found.frequency
        }
        if purposes.contains(.scan), isComplete { onEvent(.scanFinished(index: index, stations[index]?.networks ?? [])) }
    }

    /// The station is in this network now, or in none.
    private func become(_ index: Int, _ new: Association?) {
        guard let station = stations[index] else { return }
        guard var new else {
            // An attempt under way has not got that far; what was there before is over.
            if station.association != nil { part(index) }
            return
        }
        let old = station.association
        // A table that has forgotten the entry does not make a known network another one.
        if let old, old.bssid == new.bssid || old.ssid == new.ssid, new.security == .unknown { new.security = old.security }
        if let old, old.ssid != new.ssid || old.security != new.security { part(index) }
        stations[index]!.parting?.timer?.cancel()
        stations[index]!.parting = nil
        stations[index]!.connecting = nil
        stations[index]!.isAssociating = false
        let isKnown = stations[index]!.association != nil
        stations[index]!.association = new
        if !isKnown {
            onEvent(.connected(index: index, new))
        } else if old?.bssid != new.bssid {
            onEvent(.roamed(index: index, bssid: new.bssid))
        }
    }
}
