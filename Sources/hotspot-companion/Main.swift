import CompanionBluetooth
import CompanionService
import EventLoop

/// The companion service: see the target `CompanionService`.
@main struct Main {
    /// The service manager starts the service again, with another connection.
    private static func end() { ServiceProgram.fail("The system's D-Bus has ended.", code: 1) }

    static func main() {
        ServiceProgram.run { options in
            // Without the system's bus there is no BlueZ either.
            guard let bus = try? SystemBus({ _ in }), (try? bus.onLoss(end)) != nil,
                let transport = try? BluetoothTransport(bus: bus, adapter: options.adapter)
            else { return MissingTransport() }
            return transport
        }
    }
}
