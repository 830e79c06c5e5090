import Glibc
import HotspotCore
import Testing
import Varlink

@testable import BoundHTTP
@testable import HelperKit

private struct Patient: Helper {
    let name = "patient"
    let displayName = "Patient"
    let state = Locked("")

    func evaluate(_ command: HelperCommand) throws -> Evaluation {
        state.with { $0 = "began" }
        let whole = command.scope.pause(milliseconds: 30_000)
        state.with { $0 = whole ? "finished" : "cancelled" }
        return Evaluation(.low)
    }
}

@Suite struct HelperServiceTests {
    private func service(_ helper: any Helper) -> HelperService {
        HelperService([helper], version: "1.2", attempts: SharedProbe(), policy: .testing())
    }

    private func ask(_ method: String, _ parameters: JSONValue = [:], name: String = "patient") -> Answer {
        service(Patient()).dispatch(Call(method: method, parameters: parameters), name: name, Cancellation())
    }

    @Test func describesItself() {
        #expect(
            ask("org.hotspotd.Helper.Describe").parameters == ["name": "patient", "displayName": "Patient", "version": "1.2"])
        #expect(ask("org.varlink.service.GetInfo").parameters?["product"] == "hotspot-helpers")
        #expect(ask("org.hotspotd.Helper.FilterScanList", ["networks": []]).parameters == ["annotations": []])
    }

    @Test(arguments: ["org.hotspotd.Helper", "org.hotspotd.Probe", "org.varlink.service"])
    func describesItsInterfaces(_ name: String) {
        let text =
            ask("org.varlink.service.GetInterfaceDescription", ["interface": .string(name)])
            .parameters?["description"]?.string ?? ""
        #expect(text.contains("\ninterface \(name)\n") && text.hasSuffix(")"))
    }

    @Test func refusesUnknownCalls() {
        #expect(ask("org.hotspotd.Helper.Dance").error == "org.varlink.service.MethodNotFound")
        #expect(ask("org.example.Dance").error == "org.varlink.service.InterfaceNotFound")
        #expect(ask("org.hotspotd.Helper.Describe", name: "other").error == "org.varlink.service.InterfaceNotFound")
        #expect(ask("org.hotspotd.Helper.Evaluate").error == "org.varlink.service.InvalidParameter")
        #expect(ask("nonsense").error == "org.varlink.service.InterfaceNotFound")
        let network = Coding.value(Network(ssid: SSID(hex: "61")!, interface: "lo", security: .open))
        let link = Coding.value(loopback())
        #expect(
            ask("org.hotspotd.Helper.Maintain", .object(["network": network, "link": link])).error
                == "org.varlink.service.MethodNotImplemented")
    }

    @Test func answersTheProbeOnEverySocket() {
        let server = ScriptedServer(["/": redirect("/login")])
        let link = Coding.value(loopback(probe: server.url + "/"))
        let parameters: JSONValue = .object(["link": link, "endpoints": [], "fresh": false])
        for name in ["probe", "patient"] {
            let answer = ask("org.hotspotd.Probe.Probe", parameters, name: name)
            #expect(answer.parameters?["verdict"] == "captive")
            #expect(answer.parameters?["portalURL"] == .string(server.url + "/login"))
        }
    }

    // MARK: Over a socket

    private func listening(_ name: String = "patient") -> (ListeningSocket, path: String) {
        let path = "/tmp/hotspotd-test-\(getpid())-\(UInt32.random(in: .min ... .max))"
        let descriptor = try! Socket.listen(path: path, mode: 0o600).take()
        return (ListeningSocket(descriptor: descriptor, name: name), path)
    }

    @Test func waitsForItsFirstConnectionWithoutALimit() throws {
        let (socket, path) = listening()
        defer {
            unlink(path)
            close(socket.descriptor)
        }
        let service = service(Patient())
        let ended = Locked(false)
        Worker.start {
            service.serve([socket], idleLimit: 20)
            ended.with { $0 = true }
        }
        #expect(ended.wait(until: .after(milliseconds: 300)) { $0 ? true : nil } == nil)
        #expect(try BlockingConnection(path: path).call("org.hotspotd.Helper.Describe")["name"] == "patient")
        #expect(ended.wait(until: .after(milliseconds: 20_000)) { $0 ? true : nil } == true)
    }

    @Test func servesAndEndsWhenIdle() throws {
        let (socket, path) = listening()
        defer {
            unlink(path)
            close(socket.descriptor)
        }
        let service = service(Patient())
        let ended = Locked(false)
        Worker.start {
            service.serve([socket], idleLimit: 300)
            ended.with { $0 = true }
        }
        let connection = try BlockingConnection(path: path)
        // Any number of introspection calls, then one command.
        #expect(try connection.call("org.varlink.service.GetInfo")["version"] == "1.2")
        #expect(try connection.call("org.varlink.service.GetInfo")["version"] == "1.2")
        #expect(try connection.call("org.hotspotd.Helper.Describe")["name"] == "patient")
        #expect(throws: VarlinkError.self) { try connection.call("org.hotspotd.Helper.Describe") }
        #expect(ended.wait(until: .after(milliseconds: 20_000)) { $0 ? true : nil } == true)
    }

    @Test func aProbeThatSendsNothingHoldsNoCommandUp() throws {
        let ((probes, probePath), (socket, path)) = (listening("probe"), listening())
        defer {
            for path in [probePath, path] { unlink(path) }
            for socket in [probes, socket] { close(socket.descriptor) }
        }
        let service = service(Patient())
        let ended = Locked(false)
        Worker.start {
            service.serve([socket, probes], idleLimit: 100)
            ended.with { $0 = true }
        }
        do {
            let probe = try BlockingConnection(path: probePath)
            #expect(try BlockingConnection(path: path).call("org.hotspotd.Helper.Describe")["name"] == "patient")
            #expect(try probe.call("org.varlink.service.GetInfo")["version"] == "1.2")
        }
        #expect(ended.wait(until: .after(milliseconds: 20_000)) { $0 ? true : nil } == true)
    }

    /// Exit handlers of libraries would free memory that threads of the service still use.
    @Test func endsWithoutExitHandlers() async {
        await #expect(processExitsWith: .exitCode(0)) {
            atexit { _exit(7) }
            HelperService([Patient()], version: "1").run()
        }
    }

    @Test func closingCancels() throws {
        let (socket, path) = listening()
        defer {
            unlink(path)
            close(socket.descriptor)
        }
        let helper = Patient()
        let service = service(helper)
        let ended = Locked(false)
        Worker.start {
            service.serve([socket], idleLimit: 100)
            ended.with { $0 = true }
        }
        do {
            let connection = try BlockingConnection(path: path)
            let network = Coding.value(Network(ssid: SSID(hex: "61")!, interface: "lo", security: .open))
            try connection.send(
                Call(
                    method: "org.hotspotd.Helper.Evaluate",
                    parameters: .object(["network": network, "link": Coding.value(loopback())])))
            #expect(helper.state.wait(until: .after(milliseconds: 10_000)) { $0 == "began" ? true : nil } == true)
        }
        #expect(
            helper.state.wait(until: .after(milliseconds: 20_000)) { $0 == "cancelled" || $0 == "finished" ? $0 : nil }
                == "cancelled")
        #expect(ended.wait(until: .after(milliseconds: 20_000)) { $0 ? true : nil } == true)
    }
}
