/// Finds laptops nearby and carries chunks to them. ``Companion`` decides; a transport carries its actions out and reports
/// events.
///
/// A transport reports events on the caller's executor, never from within ``perform(_:)``.
public protocol CompanionTransport: AnyObject {
    /// Receives the transport's events: a link opened or closed, its MTU changed, a chunk came or was written.
    var onEvent: (Companion.Event) -> Void { get set }
    /// Receives each change of the transport's state, and the first state.
    var onStateChange: (CompanionTransportState) -> Void { get set }

    /// Performs `advertise`, `scan`, `send`, `close` and `wantL2CAP`; ignores other actions. Wishes that cannot be met now are met as soon as
    /// the state is ``CompanionTransportState/ready`` again.
    func perform(_ action: Companion.Action)

    /// Closes all links and stops advertising and scanning, before the program ends.
    func stop()
}

/// Whether the radio can be used now.
public enum CompanionTransportState: Hashable, Sendable, CaseIterable {
    case ready
    /// BlueZ does not run.
    case noService
    /// The computer has no Bluetooth adapter, or not the adapter that the settings name.
    case noAdapter
    /// The adapter is switched off. The program does not switch it on: that is the user's choice.
    case adapterOff

    /// A sentence for the user with advice; `nil` if nothing is missing.
    public var message: String? {
        switch self {
        case .ready: nil
        case .noService: "BlueZ is not running. To install it: sudo apt install bluez"
        case .noAdapter: "No Bluetooth adapter was found. Connect one"
        case .adapterOff: "Bluetooth is switched off. Switch it on: bluetoothctl power on"
        }
    }
}
