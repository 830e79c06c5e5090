import Answers
import ControlAPI
import EventLoop
import Glibc
import HelperHost
import HotspotCore
import HotspotMachine
import LinkState
import Testing
import Vault

@testable import Store
@testable import hotspotd

/// A controller with one helper that asks for room, name and code.
@LoopActor final class Hotel {
    nonisolated static let network = NetworkID.wireless(SSID(printable: "Hotel")!, .open)
    nonisolated static let plain = #"{"origin": "http://p.example", "kind": "form"}"#
    nonisolated static let secure = #"{"origin": "https://p.example", "pin": "cGlu", "kind": "form"}"#
    nonisolated static let canary = "canary-4711"
    nonisolated static let typed = ["room": "214", "name": canary, "sms": "998877"]

    let bench: FilterBench
    let controller: InterfaceController
    let keeper: CredentialKeeper
    var desk: AnswerDesk { controller.desk }
    func remember(_ shown: ShownPrompt) -> Remember { desk.remember(for: shown) }

    init(_ portal: String = Hotel.plain, _ adjust: (inout Settings) -> Void = { _ in }) throws {
        bench = try FilterBench()
        adjust(&bench.services.settings)
        try bench.add("form")
        let controller = InterfaceController(index: 7, name: "hot7", services: bench.services)
        self.controller = controller
        keeper = CredentialKeeper(services: bench.services) { [controller] }
        show(portal)
    }

    /// The helper meets this portal from now on.
    func show(_ portal: String) {
        bench.replies("form", to: "Maintain", #"{"result": "authenticationRequired", "portal": \#(portal)}"#)
        asks(for: [("room", "text", false), ("name", "password", false), ("sms", "code", false)], at: portal)
        bench.replies("form", to: "PresentUI", #"{"result": "success", "portal": \#(portal)}"#)
        bench.evaluates("form", #"{"confidence": "high", "portal": \#(portal)}"#)
    }

    /// The helper asks for these fields from now on: name, kind, and whether an answer is required.
    func asks(for fields: [(name: String, kind: String, required: Bool)], terms: String? = nil, at portal: String) {
        let list = fields.map { #"{"name": "\#($0.name)", "label": "", "kind": "\#($0.kind)", "required": \#($0.required)}"# }
        let terms = terms.map { #", "terms": "\#($0)""# } ?? ""
        let prompt = #"{"title": "Hotel", "fields": [\#(list.joined(separator: ", "))]\#(terms)}"#
        bench.replies("form", to: "Authenticate", #"{"result": "uiRequired", "portal": \#(portal), "prompt": \#(prompt)}"#)
    }

    func join(hardware: String? = nil) {
        controller.join(
            Joined(
                association: Services.randomID(), network: Hotel.network, ssid: SSID(printable: "Hotel")!,
                security: .open, bssid: HardwareAddress("02:00:00:00:00:01"), signal: -50,
                snapshot: LinkSnapshot(
                    index: 7, name: "hot7", hardwareAddress: hardware.flatMap { HardwareAddress($0) }, isUp: true,
                    hasCarrier: true, addresses: ["192.0.2.2/24"],
                    gateways: ["192.0.2.1"]),
                facts: LinkFacts(nameservers: ["192.0.2.53"], source: "none")))
    }

    /// Joins, and returns the prompt that comes up.
    func ask(hardware: String? = nil) async throws -> ShownPrompt {
        join(hardware: hardware)
        #expect(await bench.eventually { self.desk.prompt != nil })
        return try #require(desk.prompt)
    }

    /// Answers, and returns the sentence about the answers once the login is proven.
    @discardableResult func answer(
        _ typed: [String: String], stored: [String] = [], remember: Bool = true, confirmed: Bool = false
    ) async throws -> String? {
        let shown = try #require(desk.prompt)
        let values = try desk.complete(typed, stored: stored, for: shown)
        controller.answer(shown, values, stored: Set(stored), remember: remember, confirmed: confirmed)
        #expect(await bench.eventually { self.controller.machine.state.name == .authenticated })
        return controller.status.answers
    }

    func leave() { controller.leave("the test leaves") }

    /// The answers that PresentUI was sent last.
    var sent: JSONValue? { bench.told("form", "PresentUI").last?["answers"] }

    /// The parameters of the last Authenticate.
    var credential: JSONValue? { bench.told("form", "Authenticate").last?["credential"] }

    var journal: [String] { bench.steps.filter { ["credential", "warning"].contains($0.kind) }.map(\.detail) }

    func close() async {
        leave()
        await bench.close()
    }

    // MARK: The PIN

    /// A hotel with stored answers behind a PIN, as a new daemon finds it.
    static func guarded(_ pin: String, _ portal: String = Hotel.plain) async throws -> Hotel {
        let hotel = try Hotel(portal)
        _ = try await hotel.ask()
        try await hotel.answer(typed)
        hotel.leave()
        try hotel.setPIN(pin)
        return hotel
    }

    /// Sets a PIN whose key is cheap to derive.
    private func setPIN(_ pin: String) throws {
        let (store, vault) = (bench.services.store, bench.services.vault)
        let all = store.allCredentials
        try vault.changePIN(
            to: pin, passes: 1, memory: 8192,
            credentials: all.map { ($0.sealed, CredentialOwner($0, in: Self.network).purpose) }
        ) { lock, sealed in
            try store.setPIN(
                lock.map(StoredPIN.init),
                credentials: zip(all, sealed).map { credential, sealed in
                    var credential = credential
                    credential.sealed = sealed
                    return credential
                })
        }
        restart()
    }

    /// Locks the credentials, as at the start of a daemon.
    func restart() { bench.services.vault.guardCredentials(by: bench.services.store.pin?.lock) }

    /// Guesses; returns how many guesses are left after a wrong one.
    func left(_ pin: String) -> Int? {
        do throws(ControlError) { try keeper.unlock(pin) } catch {
            if case .wrongPIN(let left) = error { return left }
            Issue.record("\(error)")
        }
        return nil
    }
}
