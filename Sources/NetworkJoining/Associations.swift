import EventLoop
import HotspotCore
import Wireless

/// Joins and leaves networks through the program that manages an interface; the program is looked up at each call.
@LoopActor public final class Associations {
    private struct Attempt {
        let number: Int
        let deadline: EventSource?
    }

    /// The time for a join: several rounds of scanning, association and handshake.
    private let patience: Duration
    private let associators: [any Associator]
    private let radio: RadioAssociator
    private let sockets: String
    private var attempts: [Int: Attempt] = [:]
    private var count = 0

    /// - Parameters:
    ///   - address: the address of the bus; `nil` for the system bus.
    ///   - sockets: the folder of wpa_supplicant's control sockets.
    public init(address: String? = nil, sockets: String = "/run/wpa_supplicant", patience: Duration = .seconds(45)) {
        (self.patience, self.sockets) = (patience, sockets)
        radio = RadioAssociator()
        associators = [
            NetworkManagerAssociator(address: address), IwdAssociator(address: address),
            WPASupplicantAssociator(sockets: sockets, radio: radio), radio,
        ]
    }

    /// The socket to the kernel; without it there is no Wi-Fi.
    public var monitor: WirelessMonitor? {
        get { radio.monitor }
        set { radio.monitor = newValue }
    }

    /// Finds the name of the program that manages an interface; `nil` if no program does.
    public func findManager(of interface: ManagedInterface, _ done: @escaping (String?) -> Void) {
        find(interface) { [radio] in done($0 === radio ? nil : $0.name) }
    }

    /// Joins a network, and calls back when the interface is associated; it has no address yet.
    public func join(_ request: JoinRequest, _ done: @escaping (AssociationError?) -> Void) {
        attempt(request.interface, done) { associator, done in associator.join(request, done) }
    }

    public func end(_ interface: ManagedInterface, _ ending: Ending, _ done: @escaping (AssociationError?) -> Void) {
        attempt(interface, done) { associator, done in associator.end(interface, ending, done) }
    }

    /// Sends an ANQP question to an access point in sight, which only wpa_supplicant can do; calls back once.
    ///
    /// - Parameter hasHotspot20: whether the beacon contains the Hotspot 2.0 indication.
    public func ask(
        _ bssid: BSSID, hasHotspot20: Bool, on interface: ManagedInterface, _ done: @escaping (ANQPOutcome) -> Void
    ) {
        _ = AccessPointQuery(path: "\(sockets)/\(interface.name)", bssid: bssid, hasHotspot20: hasHotspot20, done)
    }

    /// Notes that, according to the kernel, an interface has joined a network.
    public func joined(_ interface: ManagedInterface, _ ssid: SSID) { radio.joined(interface, ssid) }

    public func left(_ interface: ManagedInterface) {
        for associator in associators { associator.left(interface) }
    }

    /// Restores the original auto-join setting: for one network, or for all.
    public func release(_ ssid: SSID? = nil) {
        for associator in associators { associator.release(ssid) }
    }

    private func find(_ interface: ManagedInterface, from number: Int = 0, _ done: @escaping (any Associator) -> Void) {
        guard number < associators.count - 1 else { return done(radio) }
        associators[number].manages(interface) { [self] manages in
            if manages { done(associators[number]) } else { find(interface, from: number + 1, done) }
        }
    }

    /// Runs one operation at a time on an interface, within ``patience``.
    private func attempt(
        _ interface: ManagedInterface, _ done: @escaping (AssociationError?) -> Void,
        _ body: @escaping (any Associator, @escaping (AssociationError?) -> Void) -> Void
    ) {
        guard attempts[interface.index] == nil else { return done(.busy) }
        count += 1
        let number = count
        var associator: (any Associator)?
        let finish = { [weak self] (error: AssociationError?) in
            // An answer after the deadline is ignored.
            guard let self, attempts[interface.index]?.number == number else { return }
            attempts.removeValue(forKey: interface.index)?.deadline?.cancel()
            done(error)
        }
        let deadline = try? EventLoop.shared.schedule(after: patience) {
            associator?.abandon(interface)
            finish(.timeout(manager: associator?.name ?? "The system"))
        }
        attempts[interface.index] = Attempt(number: number, deadline: deadline)
        find(interface) { [weak self] in
            guard let self, attempts[interface.index]?.number == number else { return }
            associator = $0
            body($0, finish)
        }
    }
}
