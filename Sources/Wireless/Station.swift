import HotspotCore

/// An event of one station.
enum StationEvent {
    /// The station begins to join an access point, whose address is known once the kernel adds it as a peer.
    case turned(to: BSSID?)
    /// Associating failed, or its outcome was lost.
    case associationFailed
    /// The kernel removed a peer.
    case peerRemoved(BSSID?)
    /// The kernel reported CONNECT, with the name in the request. The tables are read next, and then `connected` is reported.
    case connectSucceeded(to: BSSID?, requested: SSID?)
    /// The station left, or the access point removed it.
    case disconnected(isByAccessPoint: Bool, reasonCode: Int?)
    /// The time of ``Station/roamPatience`` is over.
    case roamTimedOut
    /// The scan table was read; `nil` if the reading failed.
    case tableRead([BSS]?, for: Set<Station.ReadingPurpose>)
}

/// One interface as a state machine: takes an event and returns the events to report.
///
/// It has no timer of its own: while ``isWaitingForRoam`` is true, the owner waits ``roamPatience`` and then sends ``StationEvent/roamTimedOut``.
struct Station {
    /// Why a scan table is read.
    enum ReadingPurpose: Hashable {
        /// A scan has ended, and its list is to be reported.
        case scan
        /// The association may have changed.
        case association
    }

    /// A disconnect that may be the first half of a roam: a connection manager that moves to another access point leaves the old one and joins the
    /// new one in a single system call.
    private struct Parting {
        let reasonCode: Int?
        /// Whether the station has not yet begun to join another access point.
        var isWaiting = true
    }

    /// The time for which a disconnect waits for the second half of a roam. Both halves come from one system call.
    static let roamPatience = Duration.milliseconds(50)
    /// IEEE 802.11-2020, table 9-49: unspecified. mac80211 gives this reason when it moves to another access point.
    private static let unspecifiedReason = 1

    var interface: WirelessInterface
    /// Distinguishes this interface from an earlier one with the same index, for which answers may still come.
    let generation: Int
    /// The purposes of the reading that waits in the queue; empty if none waits.
    var waitingPurposes: Set<ReadingPurpose> = []
    private(set) var networks: [BSS] = []
    private(set) var association: WirelessAssociation?
    /// Whether `associationBegan` was reported, but not its end.
    private var isAssociating = false
    /// The access point of a connection that succeeded, until the tables are read.
    private var connecting: BSSID? { didSet { if connecting == nil { requested = nil } } }
    /// The name in that connection's request, which no access point can hide.
    private var requested: SSID?
    private var parting: Parting?

    init(interface: WirelessInterface, generation: Int) {
        self.interface = interface
        self.generation = generation
    }

    /// Whether a disconnect is not reported yet because it may become a roam.
    var isWaitingForRoam: Bool { parting?.isWaiting ?? false }

    /// Handles an event and returns what to report, in this order.
    mutating func handle(_ event: StationEvent) -> [WirelessEvent] {
        switch event {
        case .turned(let bssid): return turn(to: bssid)
        case .associationFailed: return endAssociating(reason: nil)
        case .peerRemoved(let bssid):
            // This event ends the attempt to associate, because some stations stop associating without any other event.
            let isRoaming = parting.map { !$0.isWaiting } ?? false
            guard connecting == nil, isAssociating || isRoaming, association?.bssid != bssid else { return [] }
            return endAssociating(reason: nil)
        case .connectSucceeded(let bssid, let name):
            parting?.isWaiting = false
            connecting = bssid
            requested = name
            return []
        case .disconnected(let isByAccessPoint, let reason): return leave(isByAccessPoint: isByAccessPoint, reason: reason)
        case .roamTimedOut: return isWaitingForRoam ? disconnect(reason: nil) : []
        case .tableRead(let table, let purposes): return compare(with: table, for: purposes)
        }
    }

    private mutating func turn(to bssid: BSSID?) -> [WirelessEvent] {
        guard !isAssociating, connecting == nil else { return [] }
        var events: [WirelessEvent] = []
        if let parting {
            guard parting.isWaiting else { return [] }
            if let bssid, isSameNetwork(bssid) {
                self.parting?.isWaiting = false
                return []
            }
            events = disconnect(reason: nil)
        } else if association != nil {
            // Report nothing: the peer is of another kind, or belongs to a roam, of which only the outcome is reported.
            return []
        }
        isAssociating = true
        return events + [.associationBegan(index: interface.index)]
    }

    private mutating func leave(isByAccessPoint: Bool, reason: Int?) -> [WirelessEvent] {
        connecting = nil
        if association != nil, parting == nil, !isByAccessPoint, reason ?? Self.unspecifiedReason == Self.unspecifiedReason {
            parting = Parting(reasonCode: reason)
            return []
        }
        let events = endAssociating(reason: reason)
        return association == nil ? events : events + disconnect(reason: reason)
    }

    private mutating func endAssociating(reason: Int?) -> [WirelessEvent] {
        connecting = nil
        if parting != nil { return disconnect(reason: nil) }
        guard isAssociating else { return [] }
        isAssociating = false
        return [.disconnected(index: interface.index, reasonCode: reason)]
    }

    /// Ends the association. If a disconnect waited for a roam, its reason takes precedence over `reason`.
    private mutating func disconnect(reason: Int?) -> [WirelessEvent] {
        let reason = parting?.reasonCode ?? reason
        parting = nil
        association = nil
        isAssociating = false
        return [.disconnected(index: interface.index, reasonCode: reason)]
    }

    private mutating func compare(with table: [BSS]?, for purposes: Set<ReadingPurpose>) -> [WirelessEvent] {
        if let table { networks = table }
        var events: [WirelessEvent] = []
        let read = association(in: table ?? [])
        if purposes.contains(.association), table != nil || connecting != nil {
            if let read {
                events = join(read)
            } else if parting == nil, association != nil {
                // Without a running roam, a table without this station's entry ends the association. During a roam, such a table means nothing.
                events = disconnect(reason: nil)
            }
        } else if let read, read.bssid == association?.bssid {
            association?.signal = read.signal
            association?.frequency = read.frequency
        }
        if purposes.contains(.scan), let table { events.append(.scanFinished(index: interface.index, table)) }
        return events
    }

    private mutating func join(_ new: WirelessAssociation) -> [WirelessEvent] {
        var new = new
        var events: [WirelessEvent] = []
        let old = association
        if let old {
            // If the table lacks the network's entry, keep the known security.
            if old.bssid == new.bssid || old.ssid == new.ssid, new.security == .unknown { new.security = old.security }
            if old.ssid != new.ssid || old.security != new.security { events = disconnect(reason: nil) }
        }
        let isKnown = association != nil
        parting = nil
        connecting = nil
        isAssociating = false
        association = new
        if !isKnown {
            events.append(.connected(index: interface.index, new))
        } else if old?.bssid != new.bssid {
            events.append(.roamed(index: interface.index, bssid: new.bssid))
        }
        return events
    }

    /// Returns the association in the table, completed with the data of the interface and the request.
    private func association(in networks: [BSS]) -> WirelessAssociation? {
        let entry =
            connecting.flatMap { bssid in networks.first { $0.bssid == bssid && $0.isAssociated } }
            ?? networks.first { $0.isAssociated }
            ?? connecting.flatMap { bssid in networks.first { $0.bssid == bssid } }
        guard let entry else {
            // The connection was reported, but the table has no entry for it.
            return connecting.map {
                WirelessAssociation(ssid: requested ?? interface.ssid ?? .empty, bssid: $0, security: .unknown)
            }
        }
        let ssid = requested ?? (entry.ssid.isHidden ? interface.ssid ?? entry.ssid : entry.ssid)
        return WirelessAssociation(
            ssid: ssid, bssid: entry.bssid, security: entry.security, frequency: entry.frequency, signal: entry.signal)
    }

    private func isSameNetwork(_ bssid: BSSID) -> Bool {
        guard let association else { return false }
        return networks.contains {
            $0.bssid == bssid && $0.security == association.security && ($0.ssid == association.ssid || $0.ssid.isHidden)
        }
    }
}
