import CompanionBluetooth
import CompanionService
import EventLoop

/// The companion service: see the target `CompanionService`.
@main struct Main {
    /// The service manager restarts the service with a new connection.
    private static func end() { ServiceProgram.fail("The system's D-Bus has ended.", code: 1) }

    static func main() {
        ServiceProgram.run { options in
            let bus = try SystemBus { _ in }
            try bus.onLoss(end)
            if options.usesL2CAP, let problem = L2CAP.problem {
                ServiceProgram.say("no L2CAP channels (\(problem)); GATT carries everything. See docs/companion.md")
            }
            return try BluetoothTransport(bus: bus, adapter: options.adapter, usesL2CAP: options.usesL2CAP)
        }
    }
}
