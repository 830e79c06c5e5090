import CompanionBluetooth
import CompanionService
import EventLoop

/// The companion service: see the target `CompanionService`.
@main struct Main {
    /// The service manager starts the service again, with another connection.
    private static func end() { ServiceProgram.fail("The system's D-Bus has ended.", code: 1) }

    static func main() {
        ServiceProgram.run { options in
            let bus = try SystemBus { _ in }
            try bus.onLoss(end)
            return try BluetoothTransport(bus: bus, adapter: options.adapter)
        }
    }
}
