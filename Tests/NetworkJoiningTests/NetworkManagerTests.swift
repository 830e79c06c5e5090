@testable import EventLoop
import Foundation
import HotspotCore
import TestSupport
import Testing

@testable import NetworkJoining

private let isCI = ProcessInfo.processInfo.environment["CI"] == "true"

/// NetworkManager's answers, as they came from 1.42.
@Suite(.timeLimit(.minutes(10)), .enabled(if: isCI || PrivateBus.canRun, "needs dbus-daemon")) struct NetworkManagerTests {
    init() { EventLoop.startThread() }

    private static let service = "org.freedesktop.NetworkManager"
    private static let device = "/org/freedesktop/NetworkManager/Devices/2"
    private static let link = ManagedInterface(index: 3, name: "wlan9")

    private func request(_ security: Security, _ password: String? = nil, once: Bool = false) -> JoinRequest {
        JoinRequest(interface: Self.link, ssid: SSID(printable: "Cafe")!, security: security, password: password, once: once)
    }

    @Test func aProfileIsForThisUserAlone() {
        let open = NetworkManagerAssociator.profile(for: request(.open), user: "hotspotd")
        #expect(
            open == [
                "connection": [
                    "id": .text("Cafe"), "type": .text("802-11-wireless"), "permissions": .texts(["user:hotspotd:"]),
                ], "802-11-wireless": ["ssid": .octets(Array("Cafe".utf8))],
            ])
        func security(_ security: Security, _ password: String?) -> [String: SystemBus.Argument]? {
            NetworkManagerAssociator.profile(for: request(security, password), user: nil)?["802-11-wireless-security"]
        }
        #expect(security(.psk, "coffee beans") == ["key-mgmt": .text("wpa-psk"), "psk": .text("coffee beans")])
        #expect(security(.sae, "coffee beans") == ["key-mgmt": .text("sae"), "psk": .text("coffee beans")])
        #expect(security(.owe, nil) == ["key-mgmt": .text("owe")])
        for kind in [Security.psk, .sae, .wep, .enterprise, .unknown] { #expect(security(kind, nil) == nil) }
    }

    @Test func aProfileOfTheSameNameAndKindFits() {
        func fits(_ name: String, secured: Bool, _ wanted: Security) -> Bool {
            let octets = BusValue.list(name.utf8.map { .number(Int64($0)) })
            var settings: [String: BusValue] = ["802-11-wireless": .table(["ssid": octets])]
            if secured { settings["802-11-wireless-security"] = .table([:]) }
            return NetworkManagerAssociator.fits(settings, request(wanted))
        }
        #expect(fits("Cafe", secured: false, .open) && fits("Cafe", secured: true, .psk))
        #expect(
            !fits("Cafe", secured: true, .open) && !fits("Cafe", secured: false, .psk) && !fits("Cafe2", secured: false, .open))
    }

    @LoopActor private func peer() throws -> FakePeer {
        let peer = try FakePeer(Self.service)
        peer.replies = [
            "GetDeviceByIpIface": .values([.path(Self.device)]),
            "GetAll Device": .values([.table(["Managed": .truth(true), "Autoconnect": .truth(true)])]),
            "AddAndActivateConnection2": .values([.path("/p"), .path("/a"), .table([:])]),
            "ActivateConnection": .values([.path("/a")]), "Disconnect": .values([]), "Set": .values([]),
        ]
        return peer
    }

    /// The changes of a device: new state, old state, reason.
    @LoopActor private func play(_ states: [[UInt32]], at peer: FakePeer) {
        for state in states { peer.say("StateChanged", "\(Self.service).Device", at: Self.device, state) }
    }

    @LoopActor private func join(
        _ request: JoinRequest, at peer: FakePeer, within patience: Duration = .seconds(60), _ states: [[UInt32]]
    ) async throws -> AssociationError? {
        peer.onCall = { [unowned peer] method in if method.contains("Activate") { play(states, at: peer) } }
        let associations = Associations(address: peer.address, sockets: "/nonexistent", patience: patience)
        return await outcome { associations.join(request, $0) }
    }

    @LoopActor private func outcome(_ body: (@escaping (AssociationError?) -> Void) -> Void) async -> AssociationError? {
        var outcome: AssociationError??
        body { outcome = .some($0) }
        while outcome == nil { await pause() }
        return outcome ?? nil
    }

    @LoopActor private func pause() async {
        var source: EventSource?
        await withCheckedContinuation { continuation in
            source = try! EventLoop.shared.schedule(after: .milliseconds(5)) { continuation.resume() }
        }
        source?.cancel()
    }

    /// The earlier network is left first, which is not the end of our attempt.
    private static let well: [[UInt32]] = [
        [110, 100, 60], [30, 110, 60], [40, 30, 0], [50, 40, 0], [60, 50, 0], [70, 60, 0],
    ]

    @Test @LoopActor func anUnknownOpenNetworkGetsAProfile() async throws {
        let peer = try peer()
        defer { peer.stop() }
        #expect(try await join(request(.open), at: peer, Self.well) == nil)
        #expect(peer.calls.last == "AddAndActivateConnection2 /org/freedesktop/NetworkManager")
    }

    @Test @LoopActor func aKnownNetworkIsActivated() async throws {
        let peer = try peer()
        defer { peer.stop() }
        peer.replies["GetAll Device"] = .values([
            .table(["Managed": .truth(true), "AvailableConnections": .texts(["/other", "/cafe"])])
        ])
        peer.replies["GetSettings /other"] = .error("\(Self.service).Settings.PermissionDenied")
        peer.replies["GetSettings /cafe"] = .values([
            .tables(["802-11-wireless": ["ssid": .octets(Array("Cafe".utf8))], "802-11-wireless-security": [:]])
        ])
        #expect(try await join(request(.psk), at: peer, Self.well) == nil)
        #expect(peer.calls.last == "ActivateConnection /org/freedesktop/NetworkManager")
    }

    @Test @LoopActor func aProtectedNetworkThatIsNotKnownWantsAPassword() async throws {
        let peer = try peer()
        defer { peer.stop() }
        #expect(try await join(request(.psk), at: peer, []) == .passwordNeeded)
    }

    @Test(arguments: [(7 as UInt32, AssociationError.wrongPassword), (53, .notInSight)])
    @LoopActor func failuresHaveReasons(reason: UInt32, wanted: AssociationError) async throws {
        let peer = try peer()
        defer { peer.stop() }
        let states: [[UInt32]] = [[40, 30, 0], [50, 40, 0], [60, 50, 0], [120, 60, reason]]
        #expect(try await join(request(.psk, "coffee beans"), at: peer, states) == wanted)
        // NetworkManager would try the wrong password again, so the profile is deleted.
        while peer.calls.last != "Delete /p" { await pause() }
    }

    /// An access point out of reach says nothing about a password.
    @Test(arguments: [7 as UInt32, 8]) @LoopActor func anOpenNetworkHasNoWrongPassword(reason: UInt32) async throws {
        let peer = try peer()
        defer { peer.stop() }
        let error = try await join(request(.open), at: peer, [[40, 30, 0], [50, 40, 0], [120, 50, reason]])
        guard case .refused = error else { return #expect(error == .refused(manager: "NetworkManager", words: "")) }
    }

    @Test @LoopActor func aKnownProfileOutlivesAFailure() async throws {
        let peer = try peer()
        defer { peer.stop() }
        peer.replies["GetAll Device"] = .values([.table(["Managed": .truth(true), "AvailableConnections": .texts(["/cafe"])])])
        peer.replies["GetSettings /cafe"] = .values([.tables(["802-11-wireless": ["ssid": .octets(Array("Cafe".utf8))]])])
        #expect(try await join(request(.open), at: peer, [[40, 30, 0], [120, 60, 53]]) == .notInSight)
        let associations = Associations(address: peer.address, sockets: "/nonexistent")
        // The peer answers in the order of the questions.
        await withCheckedContinuation { continuation in
            associations.findManager(of: Self.link) { _ in continuation.resume() }
        }
        #expect(!peer.calls.contains { $0.hasPrefix("Delete") })
    }

    @Test @LoopActor func withoutThePolkitRuleItIsNamed() async throws {
        let peer = try peer()
        defer { peer.stop() }
        peer.replies["AddAndActivateConnection2"] = .error("\(Self.service).PermissionDenied")
        let error = try await join(request(.open), at: peer, [])
        guard case .notPermitted("NetworkManager", let missing) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(missing.contains("60-hotspotd.rules"))
    }

    @Test(arguments: ["AddAndActivateConnection2", "later"]) @LoopActor func itMayEndInTheMiddle(when: String) async throws {
        let peer = try peer()
        defer { peer.stop() }
        if when == "later" {
            peer.onCall = { [unowned peer] method in if method.contains("Activate") { peer.leave() } }
            let associations = Associations(address: peer.address, sockets: "/nonexistent")
            #expect(await outcome { associations.join(request(.open), $0) } == .managerGone("NetworkManager"))
        } else {
            peer.replies[when] = .ends
            #expect(try await join(request(.open), at: peer, []) == .managerGone("NetworkManager"))
        }
    }

    @Test @LoopActor func aJoinWithoutAnEndHasADeadline() async throws {
        let peer = try peer()
        defer { peer.stop() }
        guard case .timeout = try await join(request(.open), at: peer, within: .milliseconds(300), [[40, 30, 0]]) else {
            Issue.record("a join without an end has ended")
            return
        }
        // On a busy machine the deadline may pass before NetworkManager is called.
        guard peer.calls.contains(where: { $0.hasPrefix("AddAndActivate") }) else { return }
        while peer.calls.last != "Delete /p", !Task.isCancelled { await pause() }
    }

    /// NetworkManager is silent when hotspotd looks for it, or asks for its state, and answers after the deadline.
    @Test(arguments: ["GetDeviceByIpIface", "GetSettings"]) @LoopActor
    func aManagerThatAnswersTooLateIsAskedNoMore(_ silent: String) async throws {
        let peer = try peer()
        defer { peer.stop() }
        let usual = peer.replies["GetDeviceByIpIface"]
        peer.replies["GetAll Device"] = .values([.table(["Managed": .truth(true), "AvailableConnections": .texts(["/cafe"])])])
        peer.replies[silent] = .held(
            silent == "GetSettings" ? [.tables(["802-11-wireless": ["ssid": .octets(Array("Cafe".utf8))]])] : [.path(Self.device)]
        )
        let associations = Associations(address: peer.address, sockets: "/nonexistent", patience: .milliseconds(100))
        let error = await outcome { associations.join(request(.open), $0) }
        guard case .timeout? = error else { return #expect(Bool(false), "\(String(describing: error))") }
        peer.answerHeld()
        // The next question to the bus is answered only after all calls that the late answer has caused.
        peer.replies["GetDeviceByIpIface"] = usual
        await withCheckedContinuation { continuation in
            associations.findManager(of: Self.link) { _ in continuation.resume() }
        }
        #expect(!peer.calls.contains { $0.contains("Activate") })
    }

    @Test @LoopActor func aNetworkIsLeft() async throws {
        let peer = try peer()
        defer { peer.stop() }
        let associations = Associations(address: peer.address, sockets: "/nonexistent")
        #expect(await outcome { associations.end(Self.link, .byUser, $0) } == nil)
        #expect(peer.calls.last == "Disconnect \(Self.device)")
        // Another network may be joined: the device's Autoconnect is restored, and the profile stays off.
        #expect(await outcome { associations.end(Self.link, .staysAway(SSID(printable: "Cafe")!, for: nil), $0) } == nil)
        #expect(peer.calls.last == "Set Autoconnect \(BusValue.boolean(true))")
        peer.replies["GetAll Device"] = .values([.table(["Managed": .truth(true), "Autoconnect": .truth(false)])])
        #expect(await outcome { associations.end(Self.link, .staysAway(SSID(printable: "Cafe")!, for: nil), $0) } == nil)
        #expect(peer.calls.last == "Disconnect \(Self.device)")
        peer.replies["Disconnect"] = .error("\(Self.service).Device.NotActive")
        #expect(await outcome { associations.end(Self.link, .byUser, $0) } == .notInNetwork)
    }

    @Test @LoopActor func oneThingAtATime() async throws {
        let peer = try peer()
        defer { peer.stop() }
        let associations = Associations(address: peer.address, sockets: "/nonexistent")
        associations.join(request(.open)) { _ in }
        #expect(await outcome { associations.end(Self.link, .byUser, $0) } == .busy)
    }
}
