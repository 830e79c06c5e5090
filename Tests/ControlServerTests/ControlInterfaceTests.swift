import ControlAPI
import EventLoop
import Glibc
import HotspotCore
import Synchronization
import Testing
import Varlink

@testable import ControlServer

@Suite struct ControlInterfaceTests {
    init() { EventLoop.startThread() }

    /// A server on a socket of its own. The client is this very process.
    @LoopActor private final class Fixture {
        let backend = ScriptedBackend()
        let control: ControlInterface
        let server: Server
        nonisolated let path: String

        init(trusted: Bool, standing: ((PeerCredentials) -> Standing)? = nil, permission: Permission? = nil) throws {
            path = "/tmp/hotspotd-control-\(getpid())-\(UInt32.random(in: 0...UInt32.max))"
            let permission = permission ?? Permission(trusted: trusted ? [geteuid()] : [], group: nil) { nil }
            control = ControlInterface(backend: backend, permission: permission)
            server = try Server(
                listening: Socket.listen(path: path, mode: 0o600), product: "test", version: "0", interfaces: [control],
                standing: standing ?? permission.standing)
        }

        func close() {
            server.close()
            unlink(path)
        }
    }

    private func call(_ path: String, _ method: String, _ parameters: JSONValue = [:]) async
        -> Result<JSONValue, VarlinkError>
    {
        await Task.detached {
            do throws(VarlinkError) {
                return .success(try BlockingConnection(path: path).call("org.hotspotd.Control." + method, parameters))
            } catch {
                return .failure(error)
            }
        }.value
    }

    private func name(_ result: Result<JSONValue, VarlinkError>) -> String? {
        if case .failure(.reply(let name, _)) = result { name } else { nil }
    }

    @Test @LoopActor func strangersReadNoQuestionsAndNoTraces() async throws {
        let fixture = try Fixture(trusted: false)
        defer { fixture.close() }
        let prompts = try await call(fixture.path, "Prompts").get()
        let prompt = prompts["prompts"]?.array?.first
        #expect(prompt?["title"] == "Hotel" && prompt?["interface"] == "wlan0" && prompt?["ssid"] == "Hotel")
        #expect(prompt?["withheld"] == true && prompt?["fields"] == [] && !"\(prompts)".contains("214"))
        let path = fixture.path
        let first: JSONValue? = await Task.detached {
            var first: JSONValue?
            try? BlockingConnection(path: path).stream("org.hotspotd.Control.Prompts") { answer in
                first = answer
                return false
            }
            return first
        }.value
        #expect(first == prompts, "watchers see no more")
        let explained = try await call(fixture.path, "Explain").get()
        #expect(explained["steps"]?.array?.count == 1)
        #expect(explained["attempt"]?["ssid"] == "Cafe" && explained["attempt"]?["interface"] == "wlan0")
        #expect(!"\(explained)".contains("secret"))
    }

    @Test @LoopActor func theCompanionServiceReadsNoStoredAnswerAndNoSetting() async throws {
        let fixture = try Fixture(
            trusted: true, permission: Permission(trusted: [geteuid()], group: nil, companion: geteuid()) { nil })
        defer { fixture.close() }
        let offer: JSONValue = [
            "network": "wifi:43616665:open", "portal": "http://p.example", "answers": ["room": "214"], "from": "Ida",
        ]
        for (method, parameters): (String, JSONValue) in [("Status", [:]), ("Prompts", [:]), ("AddOffered", offer)] {
            _ = try await call(fixture.path, method, parameters).get()
        }
        let answer: JSONValue = ["id": "1", "answers": ["room": "214"], "remember": true, "from": "Ida"]
        _ = try await call(fixture.path, "Answer", answer).get()
        #expect(fixture.backend.answered == ["room": "214"])
        let others = Set(ControlInterface.methods.keys).subtracting(["Status", "Prompts", "AddOffered", "Answer"])
        for method in others {
            let refused = await call(fixture.path, method, ["ssid": "Hotel"])
            #expect(name(refused) == "org.hotspotd.Control.NotPermitted", "\(method)")
        }
        let person = try Fixture(trusted: true)
        defer { person.close() }
        let shared = try await call(person.path, "SharedAnswers", ["ssid": "Hotel"]).get()
        #expect(shared["answers"]?["room"] == "214")
        let stranger = try Fixture(trusted: false)
        defer { stranger.close() }
        let refused = await call(stranger.path, "SharedAnswers", ["ssid": "Hotel"])
        #expect(name(refused) == "org.hotspotd.Control.NotPermitted")
    }

    @Test @LoopActor func aPortalWithAWarningIsOpenedAfterAYes() async throws {
        let fixture = try Fixture(trusted: true)
        defer { fixture.close() }
        let refusal = VarlinkError.reply(
            name: "org.hotspotd.Control.SuspiciousPortal", parameters: ["warning": "This may be an impostor."])
        #expect(await call(fixture.path, "Browse", ["interface": "trap0"]) == .failure(refusal))
        #expect(await call(fixture.path, "Browse", ["interface": "trap0", "anyway": false]) == .failure(refusal))
        #expect(try await call(fixture.path, "Browse", ["interface": "trap0", "anyway": true]).get()["interface"] == "trap0")
    }

    private static let changes: [(String, JSONValue)] = [
        ("Answer", ["id": "1", "answers": ["room": "1"], "remember": false]), ("Dismiss", ["id": "1"]), ("Login", [:]),
        ("Browse", [:]), ("Logoff", [:]), ("Join", ["ssid": "Cafe", "once": false]), ("Leave", [:]),
        ("SetEnabled", ["ssid": "Cafe", "enabled": false]), ("Forget", ["ssid": "Cafe"]), ("ForgetEverything", [:]),
        ("Credentials", [:]), ("AddCredential", ["ssid": "Cafe", "answers": ["room": "1"]]),
        ("RemoveCredentials", ["ssid": "Cafe"]),
        ("Unlock", ["pin": "0000"]), ("SetPIN", ["pin": "0000"]),
    ]

    @Test @LoopActor func storedAnswersAndThePINAreForThoseThatMayChangeThings() async throws {
        let fixture = try Fixture(trusted: true)
        defer { fixture.close() }
        let listed = try await call(fixture.path, "Credentials").get()
        #expect(listed["pin"] == "open" && listed["credentials"]?.array?.first?["fields"] == ["room"])
        #expect(try await call(fixture.path, "RemoveCredentials", ["ssid": "Hotel"]).get() == ["removed": 1])
        #expect(
            try await call(fixture.path, "Prompts", ["id": "0"]).get() == ["prompts": [], "gone": "It was answered already."])
        let wrong = await call(fixture.path, "Unlock", ["pin": "0000"])
        #expect(wrong == .failure(.reply(name: "org.hotspotd.Control.WrongPIN", parameters: ["left": 2])))
        // The scripted backend returns another number here, which shows that it received `resume`.
        let held = await call(fixture.path, "Unlock", ["pin": "0000", "resume": false])
        #expect(held == .failure(.reply(name: "org.hotspotd.Control.WrongPIN", parameters: ["left": 3])))
        let gone = await call(fixture.path, "Answer", ["id": "0", "answers": [:], "remember": true])
        #expect(
            gone
                == .failure(
                    .reply(
                        name: "org.hotspotd.Control.NoSuchPrompt", parameters: ["id": "0", "reason": "It was answered already."]))
        )
    }

    @Test @LoopActor func strangersChangeNothing() async throws {
        let fixture = try Fixture(trusted: false)
        defer { fixture.close() }
        var refused: [String] = []
        fixture.control.onChange = { method, _, allowed in if !allowed { refused.append(method) } }
        for (method, parameters) in Self.changes {
            #expect(name(await call(fixture.path, method, parameters)) == "org.hotspotd.Control.NotPermitted", "\(method)")
        }
        #expect(refused == Self.changes.map(\.0))
        #expect(fixture.backend.answered.isEmpty && !fixture.backend.hasForgotten)
    }

    /// Other local users learn nothing about the visits of this machine's users, by any method.
    @Test(arguments: [true, false]) @LoopActor func strangersReadNoNamesUnlessTheSettingsSaySo(isTrusted: Bool) async throws {
        let fixture = try Fixture(trusted: isTrusted)
        defer { fixture.close() }
        let backend = fixture.backend
        backend.showsNamesToAll = false
        var status = InterfaceStatus(interface: "wlan0", state: .failure, since: 1)
        (status.ssid, status.ssidHex, status.bssid, status.portal) = ("Canary", "43616e617279", "02:00", "https://canary.example")
        status.problems = [Problem(.loginFailed, "form could not log in.\nCanary Hotel says no.")]
        status.link = LinkDetails(
            addresses: [], gateways: [], nameservers: [], nameserversFrom: "x", portalAPI: "https://canary.example/api",
            portalAPIFrom: "DHCP")
        backend.interfaces = [status]
        backend.off = [SwitchedOff(helper: nil, ssid: "Canary"), SwitchedOff(helper: "form", ssid: nil)]
        backend.prompt.title = "Canary"
        backend.checked.detail = "portal https://canary.example"
        backend.helpers = [
            HelperStatus(
                name: "form", displayName: "Form", enabled: true, disabledFor: ["Canary"], priority: 1, ssids: [],
                activation: "stdio", running: false, strikes: 0, quarantined: false,
                given: [DisclosedNetworks(networks: ["Canary"], count: 1, scanList: false, credential: false, at: 1)])
        ]
        for method in ["Status", "Prompts", "Helpers", "Check"] {
            let reply = "\(try await call(fixture.path, method).get())".lowercased()
            #expect(reply.contains("canary") == isTrusted, "\(method): \(reply)")
        }
        for method in ["List", "Explain", "History", "Monitor"] {
            let refused = name(await call(fixture.path, method)) == "org.hotspotd.Control.NotPermitted"
            #expect(refused != isTrusted, "\(method)")
        }
        let shown = try await call(fixture.path, "Status").get()
        #expect(shown["withheld"] == (isTrusted ? nil : true) && shown["off"]?.array?.count == (isTrusted ? 2 : 1))
        #expect(shown["interfaces"]?.array?.first?["problems"]?.array?.first?["code"] == "loginFailed")
    }

    @Test(arguments: [Standing.stranger, .restricted]) @LoopActor func manyRefusedCallsAreTwoLinesOfTheLog(_ standing: Standing)
        async throws
    {
        let fixture = try Fixture(trusted: false, standing: { _ in standing })
        defer { fixture.close() }
        var logged: [String] = []
        var counted: [String] = []
        fixture.control.onChange = { method, _, allowed in logged.append("\(method) \(allowed)") }
        fixture.control.onRefusals = { method, user, count in counted.append("\(method ?? "-") \(user == geteuid()) \(count)") }
        let path = fixture.path
        let refusals: Int? = await Task.detached {
            guard let connection = try? BlockingConnection(path: path) else { return nil }
            var refusals = 0
            for number in 0..<300 {
                do throws(VarlinkError) {
                    // A caller can use any number of method names that do not exist.
                    let method = standing == .restricted && number >= 100 ? "Dance\(number)" : "Forget"
                    _ = try connection.call("org.hotspotd.Control.\(method)", ["ssid": "x"])
                } catch {
                    if case .reply("org.hotspotd.Control.NotPermitted", _) = error { refusals += 1 }
                }
            }
            return refusals
        }.value
        #expect(refusals == 300)
        let isHelper = standing == .restricted
        fixture.control.reportRefusals()
        // On a slow machine, the interval of the reports may end before the calls do.
        #expect(Set(logged) == (isHelper ? ["Forget false", "an unknown method false"] : ["Forget false"]))
        #expect(counted.allSatisfy { $0.contains(" true ") } && logged.count + counted.count < 30)
        #expect(logged.count + counted.compactMap { $0.split(separator: " ").last.flatMap { Int($0) } }.reduce(0, +) == 300)
        let (lines, counts) = (logged.count, counted.count)
        fixture.control.reportRefusals()
        #expect(counted.count == counts)
        _ = await call(fixture.path, "Forget", ["ssid": "x"])
        #expect(logged.last == "Forget false" && logged.count == lines + 1, "the count begins again")
    }

    @Test("71, 72 The token is a helper's permission, whatever its user") @LoopActor func helpersLogOffByToken() async throws {
        let fixture = try Fixture(trusted: false)
        defer { fixture.close() }
        var logged: [Bool] = []
        fixture.control.onChange = { _, _, allowed in logged.append(allowed) }
        func ask(_ token: String, _ interface: String, _ ssidHex: String) async -> Result<JSONValue, VarlinkError> {
            await call(
                fixture.path, "RequestLogoff",
                ["token": .string(token), "interface": .string(interface), "ssidHex": .string(ssidHex)])
        }
        #expect(try await ask("right", "wlan0", "43616665").get()["queued"] == true)
        #expect(try await ask("right", "wlan0", "00").get()["queued"] == false)
        #expect(name(await ask("wrong", "wlan0", "43616665")) == "org.hotspotd.Control.NotPermitted")
        #expect(name(await call(fixture.path, "RequestLogoff")) == "org.varlink.service.InvalidParameter")
        #expect(logged == [true, false])
    }

    @Test("80 Without a link there is no network, not one without a name") @LoopActor func current() async throws {
        let fixture = try Fixture(trusted: false)
        defer { fixture.close() }
        let none = try await call(fixture.path, "Current", ["token": "right"]).get()
        #expect(none["interface"] == nil && none["ssidHex"] == nil && none["chosenHelper"] == false)
        fixture.backend.currentNetwork = CurrentNetwork(interface: "wlan0", ssidHex: "43616665", chosenHelper: true)
        let some = try await call(fixture.path, "Current", ["token": "right"]).get()
        #expect(some["interface"] == "wlan0" && some["ssidHex"] == "43616665" && some["chosenHelper"] == true)
        #expect(name(await call(fixture.path, "Current", ["token": "wrong"])) == "org.hotspotd.Control.NotPermitted")
    }

    @Test @LoopActor func permittedCallersReadAndChangeEverything() async throws {
        let fixture = try Fixture(trusted: true)
        defer { fixture.close() }
        let prompts = try await call(fixture.path, "Prompts").get()
        let prompt = prompts["prompts"]?.array?.first
        #expect(prompt?["withheld"] == nil && prompt?["message"] != nil && prompt?["terms"] != nil)
        #expect(prompt?["fields"]?.array?.first?["value"] == "214")
        #expect(try await call(fixture.path, "Explain").get()["steps"]?.array?.count == 2)
        #expect(try await call(fixture.path, "Logoff").get() == ["interface": "wlan0"])
        let joined = try await call(fixture.path, "Join", ["ssid": "Cafe", "once": true]).get()
        #expect(joined == ["interface": "wlan0", "manager": "NetworkManager"])
        #expect(name(await call(fixture.path, "Join", ["ssid": "Other", "once": true])) == "org.hotspotd.Control.NoSuchNetwork")
        #expect(name(await call(fixture.path, "Leave")) == "org.hotspotd.Control.Failed")
        _ = try await call(fixture.path, "Answer", ["id": "1", "answers": ["room": "214"], "remember": true]).get()
        #expect(fixture.backend.answered == ["room": "214"])
    }

    /// A helper may learn only about its own network, and every helper can open the helpers' socket.
    @Test @LoopActor func aHelperMayAskOnlyForItselfWhateverItsUser() async throws {
        // The caller has the daemon's user and sits in front of the machine.
        let permission = Permission(trusted: [0, geteuid()], group: getegid()) { geteuid() }
        let fixture = try Fixture(trusted: true, standing: { _ in .restricted }, permission: permission)
        defer { fixture.close() }
        let methods = fixture.control.definition.split(separator: "\n").compactMap { line -> String? in
            line.hasPrefix("method ") ? String(line.dropFirst("method ".count).prefix { $0 != "(" }) : nil
        }
        #expect(methods.count >= 15 && methods.contains("Status") && methods.contains("History"))
        for method in methods + ["Dance"] where !["Current", "RequestLogoff"].contains(method) {
            let parameters = Self.changes.first { $0.0 == method }?.1 ?? [:]
            #expect(name(await call(fixture.path, method, parameters)) == "org.hotspotd.Control.NotPermitted", "\(method)")
        }
        #expect(fixture.backend.answered.isEmpty)
        let logoff: JSONValue = ["token": "right", "interface": "wlan0", "ssidHex": "43616665"]
        #expect(try await call(fixture.path, "Current", ["token": "right"]).get()["chosenHelper"] == false)
        #expect(try await call(fixture.path, "RequestLogoff", logoff).get()["queued"] == true)
        let path = fixture.path
        let described = await Task.detached {
            try? BlockingConnection(path: path).call(
                "org.varlink.service.GetInterfaceDescription", ["interface": "org.hotspotd.Control"])
        }.value
        #expect(described?["description"]?.string == fixture.control.definition)
    }

    @Test func standingOfPeers() {
        let ofTheSystem = Permission(trusted: [0], restricted: [990], group: 991) { 1000 }
        #expect(
            ofTheSystem.standing(of: PeerCredentials(uid: 990, gid: 991, pid: 5)) == .restricted, "a helper has its group too")
        #expect(ofTheSystem.standing(of: PeerCredentials(uid: 0, gid: 0, pid: 5)) == .permitted)
        #expect(ofTheSystem.standing(of: PeerCredentials(uid: 1000, gid: 991, pid: 5)) == .permitted)
        #expect(ofTheSystem.standing(of: PeerCredentials(uid: 1000, gid: 1000, pid: 5)) == .stranger)
        #expect(ofTheSystem.standing(of: PeerCredentials(uid: 1000, gid: 1000, groups: [4, 991], pid: 5)) == .permitted)
        let ofRoot = Permission(trusted: [0], group: nil) { nil }
        #expect(ofRoot.standing(of: PeerCredentials(uid: 0, gid: 0, pid: 5)) == .permitted)
    }

    @Test @LoopActor func theUserInFrontHasRightsOnlyWhileThere() async throws {
        let seated = Mutex(true)
        let permission = Permission(trusted: [], group: nil) { seated.withLock { $0 } ? geteuid() : nil }
        let fixture = try Fixture(trusted: false, permission: permission)
        defer { fixture.close() }
        let path = fixture.path
        // One connection for both calls: its standing was determined before, but each call checks the seat again.
        let names: [String?] = await Task.detached {
            guard let connection = try? BlockingConnection(path: path) else { return [] }
            var names: [String?] = []
            for sits in [true, false] {
                seated.withLock { $0 = sits }
                do throws(VarlinkError) {
                    _ = try connection.call("org.hotspotd.Control.Logoff")
                    names.append(nil)
                } catch {
                    if case .reply(let name, _) = error { names.append(name) } else { names.append("\(error)") }
                }
            }
            return names
        }.value
        #expect(names == [nil, "org.hotspotd.Control.NotPermitted"])
    }

    /// One call of 60 KB of combining marks used to block all clients for seconds.
    @Test @LoopActor func longRunsOfCombiningMarksAreRefused() async throws {
        let fixture = try Fixture(trusted: false)
        defer { fixture.close() }
        let path = fixture.path
        let marks = "a" + String(repeating: "\u{301}\u{323}", count: 15_000)
        let answers: [String] = await Task.detached {
            [(marks, "x"), ("org.hotspotd.Control.Status", marks)].map { method, key in
                do {
                    let connection = try BlockingConnection(path: path)
                    return "\(try connection.call(method, [key: "x"]))"
                } catch { return "\(error)" }
            }
        }.value
        #expect(answers == [String](repeating: "\(VarlinkError.closed)", count: 2))
        #expect((try await call(path, "Status").get())["interfaces"] != nil)
    }

    @Test @LoopActor func aLongHistoryComesInPages() async throws {
        let fixture = try Fixture(trusted: false)
        defer { fixture.close() }
        fixture.backend.attemptCount = 450
        var seen: [String] = []
        var pages: [Int] = []
        var reply = try await call(fixture.path, "History").get()
        while true {
            let page = reply["attempts"]?.array?.compactMap { $0["id"]?.string } ?? []
            pages.append(page.count)
            seen += page
            guard reply["more"] == true, let last = page.last else { break }
            reply = try await call(fixture.path, "History", ["before": .string(last)]).get()
        }
        #expect(pages == [200, 200, 50] && reply["more"] == false)
        #expect(seen == (0..<450).map(String.init))
        #expect(fixture.backend.limits == [201, 201, 201], "one more than a page shows whether there are more")
        fixture.backend.attemptCount = 200
        #expect(try await call(fixture.path, "History").get()["more"] == false)
        #expect(name(await call(fixture.path, "History", ["before": "unknown"])) == "org.hotspotd.Control.Failed")
    }

    /// Each prompt has the longest allowed text, 64 KiB, and more interfaces ask than a machine has.
    @Test @LoopActor func longPromptsAreCountedAndReadableOneByOne() async throws {
        let fixture = try Fixture(trusted: true)
        defer { fixture.close() }
        fixture.backend.prompt.terms = String(repeating: "\u{1}", count: 64 * 1024 / 6 - 100)
        fixture.backend.askers = 64
        let reply = try await call(fixture.path, "Prompts").get()
        let shown = reply["prompts"]?.array?.count ?? 0
        #expect(shown >= 6 && shown < 64 && reply["omitted"]?.integer == 64 - shown)
        let last = try await call(fixture.path, "Prompts", ["id": "64"]).get()
        #expect(last["prompts"]?.array?.map { $0["id"] } == ["64"] && last["omitted"] == nil)
        #expect(try await call(fixture.path, "Prompts", ["id": "65"]).get()["prompts"] == [])
        fixture.backend.askers = 6
        let all = try await call(fixture.path, "Prompts").get()
        #expect(all["prompts"]?.array?.count == 6 && all["omitted"] == nil)
    }

    @Test @LoopActor func aLongExplanationIsCutAndSaysSo() async throws {
        let fixture = try Fixture(trusted: true)
        defer { fixture.close() }
        fixture.backend.steps = (0..<2000).map { Step(at: $0, kind: "command", detail: String(repeating: "x", count: 4096)) }
        let explained = try await call(fixture.path, "Explain").get()
        let count = explained["steps"]?.array?.count ?? 0
        #expect(count > 100 && count < 300)
        #expect(explained["verdict"]?.string == "well (\(2000 - count) later steps are too many for one answer.)")
        #expect(explained["omitted"]?.integer == 2000 - count)
    }

    /// Each of these replies would be longer than the server's limit for one client.
    @Test @LoopActor func longRepliesAreCutAndSaySo() async throws {
        let fixture = try Fixture(trusted: true)
        defer { fixture.close() }
        let backend = fixture.backend
        let long = String(repeating: "x", count: 100)
        backend.helpers = (0..<200).map { number in
            HelperStatus(
                name: "h\(number)", displayName: "H", enabled: true, priority: 1,
                ssids: Array(repeating: long, count: number == 0 ? 60_000 : 100), activation: "stdio", running: false, strikes: 0,
                quarantined: false)
        }
        backend.network.claims = (0..<200).map { number in
            ClaimStatus(helper: "helper\(number)", displayName: "Helper", confidence: .low, source: "manifest", ready: false)
        }
        backend.networkCount = 1000
        let endless = Problem(.held, String(repeating: "m", count: 1 << 20))
        backend.interfaces = (0..<2000).map { number in
            var status = InterfaceStatus(interface: "tap\(number)", state: .failure, since: 1)
            status.problems = [endless, Problem(.scan, long)]
            return status
        }
        for (method, member, all) in [("Helpers", "helpers", 200), ("List", "networks", 1000), ("Status", "interfaces", 2000)] {
            let reply = try await call(fixture.path, method).get()
            // Compares only numbers, because describing whole replies in expectations takes long.
            let shown = reply[member]?.array?.count ?? 0
            let omitted = reply["omitted"]?.integer
            #expect(shown > 50 && shown < all && omitted == all - shown, "\(method): \(shown)")
            if method == "Helpers" { continue }
            let path = fixture.path
            let watched: Int? = await Task.detached {
                var first: Int?
                try? BlockingConnection(path: path).stream("org.hotspotd.Control.\(method)") { answer in
                    first = answer[member]?.array?.count
                    return false
                }
                return first
            }.value
            #expect(watched == shown, "watchers get the same reply")
        }
        let last = try await call(fixture.path, "Helpers", ["name": "h199"]).get()
        #expect(last["helpers"]?.array?.map { $0["name"] } == ["h199"] && last["omitted"] == nil)
        #expect(last["helpers"]?.array?.first?["moreSSIDs"] == 36)
        #expect(try await call(fixture.path, "Helpers", ["name": "nobody"]).get()["helpers"] == [])
    }

    @Test @LoopActor func errorsCarryTheirParameters() async throws {
        let fixture = try Fixture(trusted: true)
        defer { fixture.close() }
        let result = await call(fixture.path, "Login")
        #expect(
            result
                == .failure(
                    .reply(name: "org.hotspotd.Control.WrongState", parameters: ["interface": "wlan0", "state": "inactive"])))
        #expect(name(await call(fixture.path, "Check", ["interface": "nope"])) == "org.hotspotd.Control.NoSuchInterface")
        #expect(name(await call(fixture.path, "Answer", ["id": "1"])) == "org.varlink.service.InvalidParameter")
        #expect(name(await call(fixture.path, "SetEnabled", ["enabled": true])) == "org.varlink.service.InvalidParameter")
        #expect(name(await call(fixture.path, "Monitor")) == "org.hotspotd.Control.Failed")
        #expect(name(await call(fixture.path, "Dance")) == "org.varlink.service.MethodNotFound")
    }

    /// A question to an access point sends frames, so only a caller with permission who requests the details causes it.
    @Test(arguments: [(true, true, true), (true, false, false), (false, true, false), (false, false, false)])
    @LoopActor func accessPointsAreAskedForCallersWithPermission(trusted: Bool, verbose: Bool, asks: Bool) async throws {
        let fixture = try Fixture(trusted: trusted)
        defer { fixture.close() }
        let parameters: JSONValue = verbose ? ["verbose": true] : [:]
        let list = try await call(fixture.path, "List", parameters).get()
        #expect(list["networks"]?.array?.count == 1 && fixture.backend.asksAccessPoints == [asks])
        let client = try Socket.connect(path: fixture.path, nonblocking: false).take()
        let text = #"{"method":"org.hotspotd.Control.List","more":true,"parameters":{"verbose":\#(verbose)}}"# + "\0"
        #expect(write(client, text, text.utf8.count) == text.utf8.count)
        while fixture.backend.asksAccessPoints.count < 2 { await Task.yield() }
        close(client)
        while fixture.backend.asksAccessPoints.count < 3 { await Task.yield() }
        #expect(fixture.backend.asksAccessPoints == [asks, asks, false])
    }

    @Test @LoopActor func theListOfAnInterfaceIsMadeOnceForAllWatchers() async throws {
        let fixture = try Fixture(trusted: true)
        defer { fixture.close() }
        // The test does not read the replies: the pool has too few threads for that many blocked readers.
        var clients: [Int32] = []
        defer { for client in clients { close(client) } }
        for parameters in ["{}", "{}", #"{"interface":"wlan0"}"#] {
            clients.append(try Socket.connect(path: fixture.path, nonblocking: false).take())
            let text = #"{"method":"org.hotspotd.Control.List","more":true,"parameters":\#(parameters)}"# + "\0"
            let octets = Array(text.utf8)
            #expect(write(clients.last!, octets, octets.count) == octets.count)
        }
        while fixture.backend.watchers != 3 { await Task.yield() }
        #expect(fixture.backend.lists == 3, "each new watcher gets one at once")
        fixture.control.listChanged()
        #expect(fixture.backend.lists == 5, "one for all interfaces, one for wlan0")
    }

    @Test @LoopActor func aWatcherOfTheListIsCountedUntilItLeaves() async throws {
        let fixture = try Fixture(trusted: true)
        defer { fixture.close() }
        let path = fixture.path
        let first: JSONValue? = await Task.detached {
            var first: JSONValue?
            try? BlockingConnection(path: path).stream("org.hotspotd.Control.List") { answer in
                first = answer
                return false
            }
            return first
        }.value
        #expect(first?["networks"]?.array?.first?["ssid"] == "Cafe")
        // The client closed the connection; the loop notices its end in one of the next turns.
        while fixture.backend.watchers != 0 { await Task.yield() }
        #expect(fixture.server.clientCount == 0)
    }
}
