import CompanionBluetooth
import CompanionService
import EventLoop

/// The companion service: see the target `CompanionService`.
@main struct Main {
    static func main() {
        ServiceProgram.run { options in
            // Without the system's bus there is no BlueZ either.
            guard let bus = try? SystemBus({ _ in }), let transport = try? BluetoothTransport(bus: bus, adapter: options.adapter)
            else { return MissingTransport() }
            return transport
        }
    }
}
