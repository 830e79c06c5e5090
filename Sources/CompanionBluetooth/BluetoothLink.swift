import Companion
import EventLoop

/// A connection with one laptop, on either side of it.
@LoopActor protocol BluetoothLink: AnyObject {
    /// The path of the laptop's device.
    var device: String { get }

    func send(_ chunk: [UInt8], on channel: Channel)
    /// Ends it without a report.
    func end()
    /// BlueZ says of the device what changed.
    func deviceChanged(_ properties: [String: BusValue])
}

/// The reports of a link.
struct LinkReports {
    /// Chunks may come and go.
    var onOpen: (any BluetoothLink, _ mtu: Int) -> Void
    var onMTU: (Int) -> Void
    var onChunk: (Channel, [UInt8]) -> Void
    /// The last chunk on the control channel was accepted.
    var onWritten: () -> Void
    /// It has ended, or never began. Called once.
    var onEnd: () -> Void
}
