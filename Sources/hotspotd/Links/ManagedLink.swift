import EventLoop
import HotspotCore
import HotspotMachine
import LinkState
import Wireless

/// Everything that the daemon keeps about one link of this computer.
@LoopActor final class ManagedLink {
    /// The interval at which a waiting join is checked, even if no file has changed, because some limits are times.
    private static let interval = Duration.milliseconds(100)
    /// The interval on a wired link, whose gateway must answer as well.
    private static let wiredInterval = Duration.milliseconds(20)

    /// The controller, if the settings let the daemon manage the link.
    var controller: InterfaceController?
    /// The network that the radio is in, with or without an address.
    var association: WirelessAssociation?
    var joining = Joining()
    /// The program that joins networks on this link, as last found.
    var manager: String?
    /// The request to the network itself for its portal's API, kept until the network is left.
    var question: PortalQuestion?
    /// Whether the facts about the joined link are to be read again: a manager has answered, or an address family came.
    var areFactsDue = false
    /// The gateway's hardware address, once it was looked up.
    private(set) var gateway: HardwareAddress??
    private var ask: (gateway: String, question: GatewayAsk)?
    private var timer: EventSource?
    private var records: RecordWatch?
    private var hadCarrier = false
    /// Whether the radio is in no network and helpers are kept ready for the next one.
    private var isAwaiting = false

    init(controller: InterfaceController? = nil) { self.controller = controller }

    /// Returns whether the gate closes this link to ordinary programs: neither the machine nor `TrustedNetworks=` opens it.
    func isClosed(under settings: Settings) -> Bool {
        guard let controller, !controller.machine.state.opensGate else { return false }
        return !(association.map { settings.trusts($0.ssid, $0.security) } ?? false)
    }

    /// Notes whether the link has a carrier. Returns whether it had none before.
    func noteCarrier(_ has: Bool) -> Bool {
        defer { hadCarrier = has }
        return has && !hadCarrier
    }

    /// Notes whether helpers are kept ready for a network. Returns whether this has changed.
    func noteAwaiting(_ isAwaited: Bool) -> Bool {
        defer { isAwaiting = isAwaited }
        return isAwaited != isAwaiting
    }

    /// Waits for facts that a join needs, and calls back when they may have arrived.
    ///
    /// - Parameters:
    ///   - gateway: the gateway whose hardware address is needed.
    ///   - folders: the folders to which DHCP clients write their records.
    func wait(
        forAddressOf gateway: String?, on index: Int, recordsIn folders: [String], _ onProgress: @escaping () -> Void
    ) {
        if records == nil { records = RecordWatch(folders) }
        records?.onChange = onProgress
        let interval = association == nil ? Self.wiredInterval : Self.interval
        timer = try? EventLoop.shared.schedule(after: interval, onProgress)
        guard let gateway, ask?.gateway != gateway else { return }
        let question = GatewayAsk(gateway: gateway, on: index) { [weak self] answer in
            self?.gateway = .some(answer)
            onProgress()
        }
        ask = (gateway, question)
    }

    /// Ends the wait of a join.
    func endWait() {
        timer?.cancel()
        ask?.question.cancel()
        (timer, records, ask, gateway) = (nil, nil, nil, nil)
    }

    /// Withdraws all requests and waits, because the network is left.
    func leave() {
        endWait()
        question = nil
    }
}

extension WirelessAssociation {
    var network: NetworkID { .wireless(ssid, security) }
}

extension MachineState {
    /// Whether the gate is open: the machine opened it, or the user switched the network off, so that no helper would ever open it.
    var opensGate: Bool {
        if case .inactive(.held(_, .disabled, _)) = self { true } else { gateIsOpen }
    }

    /// Whether the network is joined, and no helper runs or will run soon. Without an address, a join may still be under way, so helpers may be
    /// needed.
    var needsNoHelper: Bool {
        switch self {
        case .inactive(.noAddress): false
        case .inactive(.held), .inactive(.leaving), .authenticated, .failure: true
        case .evaluating, .authenticating, .presentingUI, .maintaining, .loggingOff: false
        }
    }
}
