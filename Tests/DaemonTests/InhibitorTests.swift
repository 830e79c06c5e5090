import Foundation
import HotspotCore
import HotspotMachine
import LinkState
import TestSupport
import Testing

@testable import EventLoop
@testable import hotspotd

private let isCI = ProcessInfo.processInfo.environment["CI"] == "true"

/// The time that a suspend waits for a logoff, with a logind that writes down when its delay is taken and released.
@Suite(.serialized, .timeLimit(.minutes(10)), .enabled(if: isCI || PrivateBus.canRun, "needs dbus-daemon")) struct InhibitorTests
{
    init() { EventLoop.startThread() }

    private final class Logind {
        private static let program = """
            import ctypes, os, select
            sd, bus, held = ctypes.CDLL("libsystemd.so.0"), ctypes.c_void_p(), []
            assert sd.sd_bus_open_system(ctypes.byref(bus)) >= 0
            assert sd.sd_bus_request_name(bus, b"org.freedesktop.login1", ctypes.c_uint64(0)) >= 0
            def say(word):
                with open(os.environ["WORDS"], "a") as file: file.write(word + "\\n")
            say("ready")
            while True:
                message = ctypes.c_void_p()
                done = sd.sd_bus_process(bus, ctypes.byref(message))
                if message and sd.sd_bus_message_is_method_call(message, b"org.freedesktop.login1.Manager", b"Inhibit") > 0:
                    ours, theirs = os.pipe()
                    sd.sd_bus_reply_method_return(message, b"h", ctypes.c_int(theirs))
                    sd.sd_bus_flush(bus)
                    os.close(theirs)
                    held.append(ours)
                    say("taken")
                if message: sd.sd_bus_message_unref(message)
                for pipe in select.select(held, [], [], 0)[0]:
                    held.remove(pipe)
                    say("released")
                if done == 0: sd.sd_bus_wait(bus, ctypes.c_uint64(10000))
            """
        private let folder = TemporaryFolder()
        private let bus: PrivateBus
        private let logind = Process()
        private var file: URL { URL(fileURLWithPath: folder.path + "/words") }

        init() throws {
            bus = try PrivateBus()
            setenv("DBUS_SYSTEM_BUS_ADDRESS", bus.address, 1)
            logind.executableURL = URL(fileURLWithPath: "/usr/bin/python3")
            logind.arguments = ["-IS", "-c", Self.program]
            logind.environment = ["DBUS_SYSTEM_BUS_ADDRESS": bus.address, "WORDS": file.path]
            try logind.run()
        }

        deinit {
            unsetenv("DBUS_SYSTEM_BUS_ADDRESS")
            stop()
        }

        func stop() {
            kill(logind.processIdentifier, SIGKILL)
            logind.waitUntilExit()
        }

        /// logind's notes.
        var words: [String] {
            ((try? String(contentsOf: file, encoding: .utf8)) ?? "").split(separator: "\n").map(String.init)
        }
    }

    @Test @LoopActor func aSuspendWaitsForALogoffThatIsQueuedAlsoAfterAReload() async throws {
        let logind = try Logind()
        let bench = try FilterBench()
        #expect(await bench.eventually { logind.words == ["ready"] })
        try bench.add("a")
        let controller = InterfaceController(index: 7, name: "hot7", services: bench.services)
        controller.join(
            Joined(
                association: Services.randomID(), network: .wireless(SSID(printable: "Cafe")!, .open),
                ssid: SSID(printable: "Cafe")!, security: .open, bssid: nil, signal: -50,
                snapshot: LinkSnapshot(
                    index: 7, name: "hot7", isUp: true, hasCarrier: true, addresses: ["192.0.2.2/24"], gateways: ["192.0.2.1"]),
                facts: LinkFacts(nameservers: ["192.0.2.53"], source: "none")))
        #expect(await bench.eventually { controller.machine.state.name == .authenticated })
        let absence = Absence(services: bench.services, problems: ProblemList()) { [controller] }
        bench.services.settings.logoffOn.lock = true
        absence.applySettings()
        bench.services.settings.logoffOn.sleep = true
        absence.applySettings()
        #expect(await bench.eventually { logind.words == ["ready", "taken"] }, "the reload adds sleep")

        bench.hold("a")
        controller.feed(.loginRequested(helper: nil))
        func sleeps(_ value: Bool) -> SystemBus.BusSignal {
            SystemBus.BusSignal(path: "/org/freedesktop/login1", flags: ["PrepareForSleep": value])
        }
        absence.handle(sleeps(true))
        #expect(controller.machine.state.name == .maintaining)
        await bench.pause(.milliseconds(200))
        #expect(logind.words == ["ready", "taken"], "the logoff waits for the upkeep's answer")
        bench.letGo("a")
        #expect(await bench.eventually { controller.machine.state.name == .inactive })
        absence.stateChanged()
        #expect(await bench.eventually { logind.words.last == "released" })

        absence.handle(sleeps(false))
        #expect(await bench.eventually { logind.words.last == "taken" })
        bench.services.settings.logoffOn.sleep = false
        absence.applySettings()
        #expect(await bench.eventually { logind.words.last == "released" }, "the reload takes sleep away")
        controller.leave("the test ends")
        await bench.close()
    }

    @Test(arguments: [true, false]) @LoopActor func withoutLogindTheSettingIsAProblem(hasBus: Bool) async throws {
        let logind = try Logind()
        let bench = try FilterBench()
        let problems = ProblemList()
        #expect(await bench.eventually { logind.words == ["ready"] })
        bench.services.settings.logoffOn.lock = true
        let there = Absence(services: bench.services, problems: problems) { [] }
        there.applySettings()
        await bench.pause(.milliseconds(200))
        #expect(problems.all.isEmpty)

        logind.stop()
        if !hasBus { setenv("DBUS_SYSTEM_BUS_ADDRESS", "unix:path=/nonexistent/bus", 1) }
        let gone = Absence(services: bench.services, problems: problems) { [] }
        gone.applySettings()
        #expect(await bench.eventually { problems.all.map(\.code) == [.logoffOn] })
        #expect(problems.all.first?.message.hasPrefix("LogoffOn= does nothing, because ") == true)
        bench.services.settings.logoffOn.lock = false
        gone.applySettings()
        #expect(problems.all.isEmpty)
        await bench.close()
    }

    @Test @LoopActor func aDelayThatComesAfterItIsWantedIsGivenBack() async throws {
        let logind = try Logind()
        let bench = try FilterBench()
        #expect(await bench.eventually { logind.words == ["ready"] })
        let absence = Absence(services: bench.services, problems: ProblemList()) { [] }
        bench.services.settings.logoffOn = LogoffOn(sleep: true, lock: true)
        absence.applySettings()
        // The reply cannot arrive within this turn of the loop, so the delay is still being taken.
        bench.services.settings.logoffOn.sleep = false
        absence.applySettings()
        #expect(await bench.eventually { logind.words == ["ready", "taken", "released"] })
        await bench.close()
    }
}
