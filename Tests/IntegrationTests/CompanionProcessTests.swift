import Foundation
import HotspotCore
import TestSupport
import Testing
import Varlink

/// The methods for the companion service at the built daemon, and the built service beside it.
@Suite(
    .timeLimit(.minutes(10)),
    .enabled(
        if: Machine.runs(CabledDaemon.canRun && geteuid() == 0), "needs make build, root, ip, nsenter and a network namespace"))
struct CompanionProcessTests {
    private static let portal: JSONValue = ["origin": "http://192.0.1.1", "kind": "form"]
    private static let canary = "canary-4711"

    private func daemon() throws -> CabledDaemon {
        let asks: JSONValue = [
            "result": "uiRequired", "portal": Self.portal,
            "prompt": ["title": "Room?", "fields": [["name": "room", "label": "Room", "kind": "text", "required": true]]],
        ]
        let daemon = try CabledDaemon(
            settings: "[Commands]\nTimeoutSec=120",
            plan: [
                "Authenticate": asks, "Maintain": ["result": "authenticationRequired", "portal": Self.portal],
                "PresentUI": ["portal": Self.portal],
            ])
        try daemon.plug("hot1", 1)
        try daemon.eventually("there is a prompt") { try !daemon.prompts().isEmpty }
        return daemon
    }

    private func offer(_ network: String, _ portal: String = "http://192.0.1.1", key: String? = nil) -> JSONValue {
        var offer: [String: JSONValue] = [
            "network": .string(network), "portal": .string(portal), "answers": ["room": .string(Self.canary)], "from": "Ida",
        ]
        offer["portalKey"] = key.map(JSONValue.string)
        return .object(offer)
    }

    @Test("An offer is used at its own network and portal alone, and can be handed on once the login is proven")
    func offersAndStoredAnswers() throws {
        let daemon = try daemon()
        let status = try daemon.status("hot1")
        let network = try #require(status?["network"]?.string)
        #expect(network.hasPrefix("wired:") && status?["portalKey"] == nil)
        for wrong in [
            offer("wired:02:00:00:00:00:99"), offer(network, "http://192.0.1.2"), offer(network, key: "cGlu"),
            offer(network, "https://192.0.1.1"),
        ] {
            #expect(throws: VarlinkError.self) { try daemon.call("AddOffered", wrong) }
        }
        let isUntouched = try !daemon.prompts().isEmpty && !daemon.methods().contains("PresentUI")
        #expect(isUntouched)
        let id = try daemon.prompts().first?["id"]?.string ?? ""
        let reply = try daemon.call("AddOffered", offer(network))
        #expect(reply["answered"] == true && reply["interface"] == "hot1" && reply["helper"] == "clerk")
        try daemon.wait("hot1", "authenticated") { $0?["answers"]?.string?.hasPrefix("Your answers are kept") == true }
        #expect(try daemon.calls().last?["parameters"]?["answers"] == ["room": .string(Self.canary)])
        #expect(
            try daemon.call("Prompts", ["id": .string(id)])["gone"] == "The question was answered on the paired laptop \"Ida\".")
        #expect(try daemon.steps().contains { $0["detail"] == "by the user on Ida" })

        let shared = try daemon.call("SharedAnswers", ["ssid": .string(network)])
        #expect(shared["answers"] == ["room": .string(Self.canary)] && shared["network"]?.string == network)
        try daemon.call("SetPIN", ["pin": "2580"])
        #expect(throws: Never.self) { try daemon.call("SharedAnswers", ["ssid": .string(network)]) }
        daemon.kill()
        try daemon.start()
        #expect(throws: VarlinkError.self) { try daemon.call("SharedAnswers", ["ssid": .string(network)]) }
        try daemon.call("Unlock", ["pin": "2580"])
        #expect(try daemon.call("SharedAnswers", ["ssid": .string(network)])["helper"] == "clerk")
        #expect(!daemon.log.contains(Self.canary))
    }

    @Test("The service finds the daemon, keeps its key, and leaves nothing behind") func theService() throws {
        let (daemon, bus) = (try daemon(), try PrivateBus())
        let scratch = TemporaryFolder()
        let service = Process()
        service.environment = ["DBUS_SYSTEM_BUS_ADDRESS": bus.address]
        service.executableURL = Machine.release.appendingPathComponent("hotspot-companion")
        service.arguments = [
            "--state", scratch.path + "/state", "--runtime", scratch.path + "/run", "--daemon", daemon.socket, "--name", "Box",
        ]
        service.standardError = FileHandle.nullDevice
        try service.run()
        defer {
            if service.isRunning { Foundation.kill(service.processIdentifier, SIGKILL) }
            service.waitUntilExit()
        }
        let socket = scratch.path + "/run/org.hotspotd.Companion"
        func status() -> JSONValue? { try? BlockingConnection(path: socket).call("org.hotspotd.Companion.Status") }
        try daemon.eventually("it finds the daemon") { status()?["daemon"] == true }
        #expect(status()?["name"] == "Box" && status()?["peers"] == [])
        var info = stat()
        #expect(stat(scratch.path + "/state/key", &info) == 0 && info.st_mode & 0o777 == 0o600 && info.st_size == 32)
        let tool = try Finished.run(
            Machine.release.appendingPathComponent("hotspotctl").path, ["companion", "--companion-socket", socket])
        #expect(tool.status == 0 && tool.output.contains("\"Box\"") && tool.output.contains("No laptop is paired"))
        let memory = try String(contentsOfFile: "/proc/\(service.processIdentifier)/status", encoding: .utf8)
        print("hotspot-companion:", memory.split(separator: "\n").filter { $0.hasPrefix("VmRSS") || $0.hasPrefix("RssAnon") })
        daemon.kill()
        try daemon.eventually("it misses the daemon") { status()?["daemon"] == false }
        try daemon.start()
        try daemon.eventually("it finds the daemon again") { status()?["daemon"] == true }
        service.terminate()
        service.waitUntilExit()
        #expect(service.terminationStatus == 0 && !FileManager.default.fileExists(atPath: socket))
        bus.stop()
    }

    /// Runs the service on a bus of the test's own until it ends, and returns its exit status and its errors.
    private func end(_ folder: TemporaryFolder, _ bus: PrivateBus, once isReady: () -> Void = {}) throws -> (Int32, String) {
        let (service, errors) = (Process(), Pipe())
        service.executableURL = Machine.release.appendingPathComponent("hotspot-companion")
        service.arguments = ["--state", folder.path + "/state", "--runtime", folder.path + "/run", "--daemon", "/nonexistent"]
        service.environment = ["DBUS_SYSTEM_BUS_ADDRESS": bus.address]
        service.standardError = errors
        try service.run()
        isReady()
        let words = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        service.waitUntilExit()
        return (service.terminationStatus, words)
    }

    @Test("The service ends with its bus, and systemd starts it again; not where its key is refused")
    func theEndOfTheService() throws {
        let (folder, bus) = (TemporaryFolder(), try PrivateBus())
        let socket = folder.path + "/run/org.hotspotd.Companion"
        let lost = try end(folder, bus) {
            while (try? BlockingConnection(path: socket).call("org.hotspotd.Companion.Status")) == nil { usleep(10_000) }
            bus.stop()
        }
        #expect(lost == (1, "hotspot-companion: The system's D-Bus has ended.\n"))
        chmod(folder.path + "/state/key", 0o644)
        let refused = try end(folder, try PrivateBus())
        #expect(refused.0 == 78 && refused.1.contains(folder.path + "/state/key"), "\(refused)")
        let unit = try String(
            contentsOf: Machine.checkout.appendingPathComponent("systemd/hotspot-companion.service.in"), encoding: .utf8)
        #expect(unit.contains("\nRestart=on-failure\n") && unit.contains("\nRestartPreventExitStatus=2 78\n"))
    }
}
