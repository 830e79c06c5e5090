import ControlAPI
import ControlServer
import EventLoop
import HotspotCore

/// A daemon that knows one prompt and one attempt.
@LoopActor final class ScriptedBackend: ControlBackend {
    var version: String { "0" }
    var settingsFile: String { "/etc/other.conf" }
    var showsNamesToAll = true
    var off: [SwitchedOff] = []
    func switchedOff() -> [SwitchedOff] { off }
    var answered: [String: String] = [:]
    var watchers = 0
    var network = ScannedNetwork(
        ssid: SSID(printable: "Cafe")!, bssid: HardwareAddress("02:00:00:00:00:01")!, interface: "wlan0", frequency: 2412,
        signal: -50,
        security: .open, stations: 1, lastSeen: 0, joined: false, claims: [], disabled: false, autoJoin: nil, last: nil)

    func daemonProblems() -> [Problem] { [] }
    var interfaces = [InterfaceStatus(interface: "wlan0", state: .presentingUI, since: 1)]
    func interfaceStatus() -> [InterfaceStatus] { interfaces }
    func check(interface: String?, _ answer: @escaping (Result<CheckReply, ControlError>) -> Void) {
        answer(interface == "nope" ? .failure(.noSuchInterface("nope")) : .success(checked))
    }
    var checked = CheckReply(verdict: "online")
    /// How often the list was made.
    var lists = 0
    var networkCount = 1
    func networks(interface: String?, all: Bool) throws(ControlError) -> [ScannedNetwork] {
        lists += 1
        return Array(repeating: network, count: networkCount)
    }
    var asksAccessPoints: [Bool] = []
    func refreshClaims(askingAccessPoints: Bool, _ done: @escaping () -> Void) {
        asksAccessPoints.append(askingAccessPoints)
        done()
    }
    func listWatchers(_ count: Int, askingAccessPoints: Bool) {
        asksAccessPoints.append(askingAccessPoints)
        watchers = count
    }
    var helpers: [HelperStatus] = []
    func helperStatus() -> [HelperStatus] { helpers }
    var prompt = Prompt(
        title: "Hotel", message: "For Ms Canary of room 214",
        fields: [Field(name: "room-214", label: "Room 214", kind: .choice, required: true, choices: ["214"], value: "214")],
        termsURL: "https://portal.example/terms?guest=214", terms: "for 214 alone")
    /// The number of interfaces that ask.
    var askers = 1
    func pendingPrompts() -> [PendingPrompt] {
        (1...askers).map { number in
            PendingPrompt(
                id: "\(number)", interface: "wlan\(number - 1)", ssid: "Hotel", helper: "form", portal: "https://portal.example",
                prompt: prompt, since: 1)
        }
    }
    func ending(ofPrompt id: String) -> String? { id == "0" ? "It was answered already." : nil }
    func answer(_ parameters: AnswerParameters) throws(ControlError) {
        let prompt = parameters.id
        guard prompt == "1" else { throw .noSuchPrompt(prompt, reason: prompt == "0" ? "It was answered already." : nil) }
        answered = parameters.answers
    }
    func dismiss(prompt: String) throws(ControlError) { throw .noSuchPrompt(prompt) }
    func login(interface: String?, helper: String?, fresh: Bool) throws(ControlError) -> InterfaceReply {
        throw .wrongState(interface: "wlan0", state: "inactive")
    }
    func browse(interface: String?, anyway: Bool) throws(ControlError) -> BrowseReply {
        guard anyway || interface != "trap0" else { throw .suspiciousPortal(warning: "This may be an impostor.") }
        return BrowseReply(
            interface: interface ?? "wlan0", start: "http://probe.example/", addresses: ["192.0.2.7/24"], gateways: ["192.0.2.1"],
            nameservers: ["192.0.2.53"])
    }
    func join(_ parameters: JoinParameters, _ answer: @escaping (Result<AssociationReply, ControlError>) -> Void) {
        guard parameters.ssid == "Cafe" else { return answer(.failure(.noSuchNetwork(parameters.ssid))) }
        answer(.success(AssociationReply(interface: parameters.interface ?? "wlan0", manager: "NetworkManager")))
    }
    func leave(interface: String?, _ answer: @escaping (Result<AssociationReply, ControlError>) -> Void) {
        answer(.failure(.failed(code: .notJoined, message: "The interface is not in a network.")))
    }
    func logoff(interface: String?) throws(ControlError) -> String { interface ?? "wlan0" }
    func setEnabled(helper: String?, ssid: String?, enabled: Bool) throws(ControlError) -> Bool { enabled }
    var currentNetwork = CurrentNetwork()
    func requestLogoff(token: String, interface: String, ssidHex: String) throws(ControlError) -> Bool {
        guard token == "right" else { throw .notPermitted("unknown token") }
        return interface == "wlan0" && ssidHex == "43616665"
    }
    func current(token: String) throws(ControlError) -> CurrentNetwork {
        guard token == "right" else { throw .notPermitted("unknown token") }
        return currentNetwork
    }
    func forget(ssid: String) throws(ControlError) { throw .noSuchNetwork(ssid) }
    var hasForgotten = false
    func forgetEverything() throws(ControlError) { hasForgotten = true }
    let credential = CredentialStatus(
        ssid: "Hotel", security: "open", helper: "form", portal: "http://p.example", fields: ["room"], release: .confirm)
    func credentials(ssid: String?) throws(ControlError) -> (credentials: [CredentialStatus], pin: String) {
        ([credential], "open")
    }
    func addCredential(ssid: String, helper: String?, answers: [String: String]) throws(ControlError) -> CredentialStatus {
        credential
    }
    func removeCredentials(ssid: String, helper: String?, portal: String?) throws(ControlError) -> Int { 1 }
    func sharedAnswers(ssid: String, helper: String?, portal: String?) throws(ControlError) -> SharedReply {
        SharedReply(
            network: "wifi:486f74656c:open", helper: "form", portal: "http://p.example", portalKey: nil, answers: ["room": "214"])
    }
    func addOffered(_ offer: OfferedParameters) throws(ControlError) -> OfferedReply {
        OfferedReply(interface: "wlan0", helper: "form", answered: offer.answers == answered)
    }
    func unlock(pin: String, resumes: Bool) throws(ControlError) { throw .wrongPIN(left: resumes ? 2 : 3) }
    func setPIN(_ pin: String?, old: String?) throws(ControlError) {}
    func explain(
        interface: String?, ssid: String?, attempt: String?
    ) throws(ControlError) -> (attempt: AttemptStatus, steps: [Step], verdict: String) {
        (AttemptStatus(id: "a1", interface: "wlan0", ssid: "Cafe", began: 0, outcome: "online"), steps, "well")
    }
    var steps = [Step(at: 0, kind: "command", detail: "evaluate"), Step(at: 1, kind: "trace", detail: "GET /secret/path")]
    var attemptCount = 0
    /// The limits that the callers passed.
    var limits: [Int] = []
    func history(ssid: String?, interface: String?, before: String?, limit: Int) throws(ControlError) -> [AttemptStatus] {
        if before == "unknown" { throw .failed(code: .noAttempt, message: "no") }
        limits.append(limit)
        let older = (0..<attemptCount).filter { index in before.flatMap { Int($0) }.map { index > $0 } ?? true }
        // Each attempt is as long as an attempt can be.
        return older.prefix(limit).map { index in
            AttemptStatus(
                id: "\(index)", interface: "wlan0", ssid: "Cafe", began: 0, ended: nil, helper: nil, portal: nil,
                outcome: String(repeating: "x", count: 1024))
        }
    }
}
