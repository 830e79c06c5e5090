import Companion
import EventLoop

/// A connection with one laptop, for either side.
@LoopActor protocol BluetoothLink: AnyObject {
    /// The path of the laptop's device.
    var device: String { get }

    /// Whether this laptop may open an L2CAP channel to the other laptop.
    var offersL2CAP: Bool { get }

    func send(_ chunk: [UInt8], on channel: Channel)
    /// Opens the L2CAP channel, or closes it without a report.
    func wantL2CAP(_ isWanted: Bool)
    /// Ends the link without a report.
    func end()
    /// Handles changed properties of the device, as BlueZ reports them.
    func deviceChanged(_ properties: [String: BusValue])
}

/// The reports of a link.
struct LinkReports {
    /// Chunks may now be sent and received.
    var onOpen: (any BluetoothLink, _ mtu: Int) -> Void
    var onMTU: (Int) -> Void
    var onChunk: (Channel, [UInt8]) -> Void
    var onL2CAP: (_ isOpen: Bool) -> Void
    /// The last chunk on the control channel was accepted.
    var onWritten: () -> Void
    /// The link has ended, or never began. Called once.
    var onEnd: () -> Void

    /// Passes on what the link's L2CAP channel reports. A channel that has ended sends nothing, so the link may keep it.
    func pass(_ report: L2CAPChannel.Report) {
        switch report {
        case .opened: onL2CAP(true)
        case .chunk(let chunk): onChunk(.l2cap, chunk)
        case .ended: onL2CAP(false)
        }
    }
}
