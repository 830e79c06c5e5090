import EventLoop
import Foundation
import HotspotCore
import Testing

@testable import NetworkJoining

private func request(_ security: Security, _ password: String? = nil, once: Bool = false) -> JoinRequest {
    JoinRequest(
        interface: ManagedInterface(index: 3, name: "wlan9"), ssid: SSID(printable: "Cafe")!, security: security,
        password: password,
        once: once)
}

/// The commands and answers of wpa_supplicant 2.10.
@Suite struct WPASupplicantWordsTests {
    @Test func aNetworkIsDescribedByItsSecurity() {
        func settings(_ security: Security, _ password: String? = nil) -> [String]? {
            WPASupplicantAssociator.settings(for: request(security, password), id: "7")
        }
        #expect(settings(.open) == ["SET_NETWORK 7 ssid 43616665", "SET_NETWORK 7 key_mgmt NONE"])
        #expect(
            settings(.psk, "coffee beans")?[1...] == ["SET_NETWORK 7 psk \"coffee beans\"", "SET_NETWORK 7 key_mgmt WPA-PSK"])
        let key = String(repeating: "0f", count: 32)
        #expect(settings(.psk, key)?.contains("SET_NETWORK 7 psk \(key)") == true)
        #expect(settings(.sae, "coffee beans")?[2...] == ["SET_NETWORK 7 key_mgmt SAE", "SET_NETWORK 7 ieee80211w 2"])
        #expect(settings(.owe)?[1...] == ["SET_NETWORK 7 key_mgmt OWE", "SET_NETWORK 7 ieee80211w 2"])
        for security in [Security.psk, .sae, .wep, .enterprise, .unknown, .wired] { #expect(settings(security) == nil) }
    }

    @Test func listedNetworksAreRead() {
        let answer = """
            network id / ssid / bssid / flags
            0\tCafe Aroma\tany\t[DISABLED]
            1\tCaf\\xc3\\xa9 \\"1\\"\tany\t[CURRENT]
            x\tbroken
            """
        #expect(
            WPASupplicantAssociator.entries(answer) == [
                .init(id: "0", ssid: "Cafe Aroma", isCurrent: false, isDisabled: true),
                .init(id: "1", ssid: "Caf\\xc3\\xa9 \\\"1\\\"", isCurrent: true, isDisabled: false),
            ])
        #expect(WPASupplicantAssociator.escaped(SSID(octets: Array("Café \"1\"".utf8))!) == "Caf\\xc3\\xa9 \\\"1\\\"")
        #expect(WPASupplicantAssociator.escaped(SSID(octets: [0x5C, 9, 10, 13, 27, 1])!) == #"\\\t\n\r\e\x01"#)
    }

    @Test func eventsEndAJoin() {
        func outcome(_ events: String...) -> AssociationError?? {
            var misses = 0
            for event in events {
                if let end = WPASupplicantAssociator.outcome(event, of: "4", misses: &misses) { return .some(end) }
            }
            return .none
        }
        #expect(outcome("CTRL-EVENT-CONNECTED - Connection to 02:00:00:00:00:01 completed [id=4 id_str=]") == .some(nil))
        #expect(outcome("CTRL-EVENT-CONNECTED - Connection to 02:00:00:00:00:01 completed [id=44 id_str=]") == .none)
        #expect(
            outcome("CTRL-EVENT-SSID-TEMP-DISABLED id=4 ssid=\"Cafe\" auth_failures=1 duration=10 reason=WRONG_KEY")
                == .some(.wrongPassword))
        guard
            case .refused? = outcome(
                "CTRL-EVENT-SSID-TEMP-DISABLED id=4 ssid=\"C\" auth_failures=1 duration=10 reason=CONN_FAILED")
        else {
            Issue.record("not refused")
            return
        }
        let missed = "CTRL-EVENT-NETWORK-NOT-FOUND "
        #expect(outcome(missed, missed) == .none && outcome(missed, missed, missed) == .some(.notInSight))
        #expect(outcome("CTRL-EVENT-TERMINATING ") == .some(.managerGone("wpa_supplicant")))
        #expect(outcome("CTRL-EVENT-SCAN-STARTED ", "") == .none)
    }
}

/// A peer that plays wpa_supplicant on a socket.
@Suite(.timeLimit(.minutes(10))) struct WPASupplicantSocketTests {
    init() { EventLoop.startThread() }

    private final class Supplicant {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("hotspotd-wpa-\(UUID().uuidString)").path
        private var descriptor: Int32 = -1
        private var source: EventSource?
        private var client = sockaddr_un()
        private var length = socklen_t(0)
        var commands: [String] = []
        var answers: [String: String] = [:]
        /// The events after a command.
        var events: [String: [String]] = [:]

        @LoopActor init() throws {
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
            var address = sockaddr_un()
            address.sun_family = sa_family_t(AF_UNIX)
            withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: "\(folder)/wlan9".utf8) }
            let bound = withUnsafePointer(to: &address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
                }
            }
            #expect(bound == 0)
            source = try EventLoop.shared.watch(descriptor) { [unowned self] _ in receive() }
        }

        @LoopActor private func receive() {
            var octets = [UInt8](repeating: 0, count: 4096)
            var length = socklen_t(MemoryLayout<sockaddr_un>.size)
            let count = withUnsafeMutablePointer(to: &client) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    recvfrom(descriptor, &octets, octets.count, Int32(MSG_DONTWAIT), $0, &length)
                }
            }
            self.length = length
            guard count > 0 else { return }
            let command = String(decoding: octets[..<count], as: UTF8.self)
            commands.append(command)
            let answer = answers[command] ?? answers[command.split(separator: " ")[0].description] ?? "OK"
            if answer == "dies" { return end() }
            say(answer + "\n")
            for event in events[command] ?? [] { say("<3>" + event) }
        }

        @LoopActor func say(_ text: String) {
            _ = withUnsafePointer(to: &client) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    sendto(descriptor, text, text.utf8.count, 0, $0, length)
                }
            }
        }

        @LoopActor func end() {
            guard descriptor >= 0 else { return }
            source?.cancel()
            close(descriptor)
            descriptor = -1
            try? FileManager.default.removeItem(atPath: folder)
        }
    }

    private static let list =
        "network id / ssid / bssid / flags\n0\tHome\tany\t\n1\tOld\tany\t[DISABLED]\n2\tSide\tany\t[CURRENT]\n"
    private static let connected = "CTRL-EVENT-CONNECTED - Connection to 02:00:00:00:00:01 completed [id=3 id_str=]"

    @LoopActor private func join(
        _ request: JoinRequest, upTo last: String? = nil, _ play: (Supplicant) -> Void
    ) async throws -> (AssociationError?, [String]) {
        let supplicant = try Supplicant()
        defer { supplicant.end() }
        supplicant.answers = ["LIST_NETWORKS": Self.list, "ADD_NETWORK": "3", "PING": "PONG", "SAVE_CONFIG": "FAIL"]
        play(supplicant)
        let associator = WPASupplicantAssociator(sockets: supplicant.folder, radio: RadioAssociator())
        var outcome: AssociationError??
        associator.join(request) { outcome = .some($0) }
        while outcome == nil { await pause() }
        // Waits for the last commands, which are still on their way.
        while let last, !supplicant.commands.contains(last) { await pause() }
        return (outcome ?? nil, supplicant.commands)
    }

    @Test @LoopActor func aNewNetworkIsMadeAndTheOthersAreAsBefore() async throws {
        let (error, commands) = try await join(request(.psk, "coffee beans"), upTo: "SAVE_CONFIG") {
            $0.events["SELECT_NETWORK 3"] = [Self.connected]
        }
        #expect(error == nil)
        #expect(
            commands == [
                "LIST_NETWORKS", "ADD_NETWORK", "SET_NETWORK 3 ssid 43616665", "SET_NETWORK 3 psk \"coffee beans\"",
                "SET_NETWORK 3 key_mgmt WPA-PSK", "ATTACH", "SELECT_NETWORK 3", "DETACH", "ENABLE_NETWORK 0 no-connect",
                "ENABLE_NETWORK 2 no-connect", "SAVE_CONFIG",
            ])
    }

    @Test @LoopActor func aWrongPasswordLeavesNothingBehind() async throws {
        let (error, commands) = try await join(request(.psk, "coffee beans"), upTo: "ENABLE_NETWORK 2") {
            $0.events["SELECT_NETWORK 3"] = [
                "CTRL-EVENT-SSID-TEMP-DISABLED id=3 ssid=\"Cafe\" auth_failures=1 duration=10 reason=WRONG_KEY"
            ]
        }
        #expect(error == .wrongPassword)
        #expect(commands.suffix(4) == ["DETACH", "REMOVE_NETWORK 3", "ENABLE_NETWORK 0", "ENABLE_NETWORK 2"])
    }

    @Test @LoopActor func aKnownNetworkNeedsNoPassword() async throws {
        let (error, commands) = try await join(request(.psk)) {
            $0.answers["LIST_NETWORKS"] = "network id / ssid / bssid / flags\n3\tCafe\tany\t[DISABLED]\n"
            $0.events["SELECT_NETWORK 3"] = [Self.connected]
        }
        #expect(error == nil && commands.prefix(3) == ["LIST_NETWORKS", "ATTACH", "SELECT_NETWORK 3"])
    }

    @Test @LoopActor func anUnknownNetworkWantsAPassword() async throws {
        let (error, commands) = try await join(request(.psk)) { _ in }
        #expect(error == .passwordNeeded && !commands.contains("ADD_NETWORK"))
    }

    @Test @LoopActor func aProgramThatIsKilledInTheMiddleIsNoticed() async throws {
        let (error, _) = try await join(request(.open)) { $0.answers["PING"] = "dies" }
        #expect(error == .managerGone("wpa_supplicant"))
    }

    @Test @LoopActor func aNetworkStaysAwayUntilItIsReleased() async throws {
        let supplicant = try Supplicant()
        defer { supplicant.end() }
        supplicant.answers = ["LIST_NETWORKS": Self.list]
        let associator = WPASupplicantAssociator(sockets: supplicant.folder, radio: RadioAssociator())
        let link = ManagedInterface(index: 3, name: "wlan9")
        var outcome: AssociationError??
        associator.end(link, .staysAway(SSID(printable: "Side")!, for: nil)) { outcome = .some($0) }
        while outcome == nil { await pause() }
        #expect(outcome == .some(nil) && supplicant.commands == ["LIST_NETWORKS", "DISABLE_NETWORK 2"])
        associator.release(SSID(printable: "Home")!)
        associator.release(SSID(printable: "Side")!)
        associator.release(nil)
        while supplicant.commands.count < 3 { await pause() }
        #expect(supplicant.commands.dropFirst(2) == ["ENABLE_NETWORK 2"])
    }

    private static let question = "ANQP_GET 02:00:00:00:00:01 258,260,261,263,268,277"

    @LoopActor private func ask(
        patience: Duration = AccessPointQuery.patience, _ play: (Supplicant) -> Void
    ) async throws -> (ANQPOutcome?, [String]) {
        let supplicant = try Supplicant()
        defer { supplicant.end() }
        supplicant.answers["BSS"] = "bssid=02:00:00:00:00:01\nanqp_domain_name=0161"
        play(supplicant)
        var outcome: ANQPOutcome?
        _ = AccessPointQuery(
            path: supplicant.folder + "/wlan9", bssid: BSSID("02:00:00:00:00:01")!, hasHotspot20: false, patience: patience
        ) { outcome = $0 }
        while outcome == nil { await pause() }
        return (outcome, supplicant.commands)
    }

    @Test @LoopActor func anAccessPointAnswers() async throws {
        let other = "ANQP-QUERY-DONE addr=02:00:00:00:00:02 result=SUCCESS"
        let (outcome, commands) = try await ask {
            $0.events[Self.question] = [other, "ANQP-QUERY-DONE addr=02:00:00:00:00:01 result=SUCCESS"]
        }
        guard case .answered(let answer) = outcome else {
            Issue.record("\(String(describing: outcome))")
            return
        }
        #expect(answer.domains == ["a"])
        #expect(commands.prefix(3) == ["ATTACH", Self.question, "BSS 02:00:00:00:00:01 MASK=0x8002"])
    }

    @Test @LoopActor func aQuestionThatIsRefusedWasNotSent() async throws {
        #expect(try await ask { $0.answers["ANQP_GET"] = "FAIL" }.0 == .notSent)
        #expect(try await ask { $0.answers["ATTACH"] = "dies" }.0 == .notSent)
        #expect(try await ask { $0.end() }.0 == .notSent)
    }

    @Test @LoopActor func anAnswerIsReadAlsoIfItsEventIsLost() async throws {
        let (outcome, _) = try await ask(patience: .milliseconds(50)) { _ in }
        guard case .answered(let answer) = outcome else {
            Issue.record("\(String(describing: outcome))")
            return
        }
        #expect(answer.domains == ["a"])
    }

    @Test @LoopActor func aProgramThatDiesBeforeTheAnswerCountsAsSilence() async throws {
        let (outcome, commands) = try await ask {
            $0.answers["BSS"] = "dies"
            $0.events[Self.question] = ["ANQP-QUERY-DONE addr=02:00:00:00:00:01 result=FAILURE"]
        }
        #expect(outcome == .silent && commands.last?.hasPrefix("BSS ") == true)
    }

    @LoopActor private func pause() async {
        var source: EventSource?
        await withCheckedContinuation { continuation in
            source = try! EventLoop.shared.schedule(after: .milliseconds(5)) { continuation.resume() }
        }
        source?.cancel()
    }
}
