import EventLoop
import ForeignText
import Glibc
import HotspotCore
import Varlink

/// org.hotspotd.Control: each call checked against the caller's rights, handed to the daemon, and its answer cut to what the caller
/// may see.
///
/// Reading is open to every local user, without what prompts ask, traces and the paths of portals.
@LoopActor public final class ControlInterface: ServerInterface {
    /// org.hotspotd.Control
    public nonisolated var name: String { "org.hotspotd.Control" }
    /// The text of its `.varlink` file.
    public nonisolated var definition: String { controlDefinition }

    /// What a helper may call: both show the token that its process was started with, and tell it of its own network alone.
    static let callsOfHelpers: Set<String> = ["Current", "RequestLogoff"]

    /// The most attempts in one answer.
    static let historyLimit = 200

    private weak var backend: (any ControlBackend)?
    private let permission: Permission
    /// A change was made, or a call refused; for the log. Of the refused calls of one user to one method the first in a minute.
    public var onChange: (_ method: String, _ peer: PeerCredentials, _ allowed: Bool) -> Void = { _, _, _ in }
    /// So many more were refused within a minute; `nil` stands for many users and methods that are not told apart.
    public var onRefusals: (_ method: String?, _ user: uid_t?, _ count: Int) -> Void = { _, _, _ in }
    private var refusals = RefusalTally()
    private var refusing: EventSource?
    /// From the first refusal to the telling of how many more there were.
    static let refusalInterval = Duration.seconds(60)
    private static let methods = Set(
        controlDefinition.split(separator: "\n").compactMap { line -> String? in
            let words = line.split(whereSeparator: { $0 == " " || $0 == "(" })
            return words.count > 1 && words[0] == "method" ? String(words[1]) : nil
        })

    private var statusWatchers: [ObjectIdentifier: ServerCall] = [:]
    private var promptWatchers: [ObjectIdentifier: (call: ServerCall, id: String?)] = [:]
    private var listWatchers: [ObjectIdentifier: (call: ServerCall, interface: String?)] = [:]
    private var monitors: [ObjectIdentifier: ServerCall] = [:]

    /// An interface over the daemon.
    public init(backend: any ControlBackend, permission: Permission) {
        self.backend = backend
        self.permission = permission
    }

    /// Answers a call, or refuses it; `false` if there is no such method.
    public func handle(_ call: ServerCall) -> Bool {
        guard let backend else { return false }
        if call.standing == .restricted, !Self.callsOfHelpers.contains(call.method) {
            refused(call)
            fail(call, .notPermitted("A helper asks for its own network alone: Current and RequestLogoff."))
            return true
        }
        do {
            return try dispatch(call, backend)
        } catch {
            fail(call, error)
            return true
        }
    }

    // MARK: What the daemon tells

    /// Something in the status changed.
    public func statusChanged() {
        guard !statusWatchers.isEmpty, let backend else { return }
        let status = status(backend)
        for call in statusWatchers.values { call.replyMore(encoded: status) }
    }

    /// A prompt came or went.
    public func promptsChanged() {
        guard !promptWatchers.isEmpty, let backend else { return }
        for (call, id) in promptWatchers.values { call.replyMore(encoded: prompts(backend, call, id)) }
    }

    /// A scan ended, or claims changed.
    public func listChanged() {
        guard !listWatchers.isEmpty, let backend else { return }
        // Who watches the same interface sees the same list; it is made once.
        var replies: [String?: Result<[UInt8], ControlError>] = [:]
        for (call, interface) in listWatchers.values {
            let reply =
                replies[interface]
                ?? Result { () throws(ControlError) in Self.reply(try backend.networks(interface: interface)) }
            replies[interface] = reply
            switch reply {
            case .success(let networks): call.replyMore(encoded: networks)
            case .failure(let error): fail(call, error)
            }
        }
    }

    /// A step happened.
    public func stepped(_ interface: String, _ step: Step) {
        let step = step.shown
        for call in monitors.values where step.isPublic || permission.allows(call) {
            call.replyMore(MonitorReply(interface: interface, step: step))
        }
    }

    // MARK: What clients ask

    private func dispatch(_ call: ServerCall, _ backend: any ControlBackend) throws(ControlError) -> Bool {
        switch call.method {
        case "Status":
            if call.wantsMore {
                watch(call, in: \.statusWatchers, call)
                call.replyMore(encoded: status(backend))
            } else {
                call.reply(encoded: status(backend))
            }
        case "Check":
            guard let parameters = call.decode(InterfaceParameter.self) else { return true }
            backend.check(interface: parameters.interface) { [weak self] result in
                switch result {
                case .success(let answer): call.reply(answer)
                case .failure(let error): self?.fail(call, error)
                }
            }
        case "List": try list(call, backend)
        case "Helpers":
            guard let parameters = call.decode(NameParameter.self) else { return true }
            var helpers = backend.helperStatus()
            if let name = parameters.name { helpers.removeAll { $0.name != name } }
            call.reply(encoded: Fitting.reply("helpers", helpers.lazy.map(\.shown)))
        case "Prompts":
            guard let parameters = call.decode(PromptParameter.self) else { return true }
            if call.wantsMore {
                watch(call, in: \.promptWatchers, (call, parameters.id))
                call.replyMore(encoded: prompts(backend, call, parameters.id))
            } else {
                call.reply(encoded: prompts(backend, call, parameters.id))
            }
        case "Answer":
            guard let parameters = call.decode(AnswerParameters.self), try mayChange(call) else { return true }
            try backend.answer(prompt: parameters.id, answers: parameters.answers, remember: parameters.remember)
            call.reply()
        case "Dismiss":
            guard let parameters = call.decode(IDParameter.self), try mayChange(call) else { return true }
            try backend.dismiss(prompt: parameters.id)
            call.reply()
        case "Login":
            guard let parameters = call.decode(LoginParameters.self), try mayChange(call) else { return true }
            try backend.login(interface: parameters.interface, helper: parameters.helper)
            call.reply()
        case "Logoff":
            guard let parameters = call.decode(InterfaceParameter.self), try mayChange(call) else { return true }
            try backend.logoff(interface: parameters.interface)
            call.reply()
        case "SetEnabled":
            guard let parameters = call.decode(EnabledParameters.self), try mayChange(call) else { return true }
            guard parameters.helper != nil || parameters.ssid != nil else {
                call.failInvalidParameter("helper or ssid")
                return true
            }
            try backend.setEnabled(helper: parameters.helper, ssid: parameters.ssid, enabled: parameters.enabled)
            call.reply()
        case "Forget":
            guard let parameters = call.decode(SSIDParameter.self), try mayChange(call) else { return true }
            try backend.forget(ssid: parameters.ssid)
            call.reply()
        case "RequestLogoff":
            // The token is the permission: whoever runs under another user's number may hold it.
            guard let parameters = call.decode(RequestLogoffParameters.self) else { return true }
            let queued = try backend.requestLogoff(
                token: parameters.token, interface: parameters.interface, ssidHex: parameters.ssidHex)
            if queued { onChange(call.method, call.peer, true) } else { refused(call) }
            call.reply(QueuedReply(queued: queued))
        case "Current":
            guard let parameters = call.decode(TokenParameter.self) else { return true }
            call.reply(try backend.current(token: parameters.token))
        case "Monitor":
            guard call.wantsMore else {
                call.fail("Failed", ["code": "expectedMore", "message": "Monitor answers only callers that listen (more)"])
                return true
            }
            watch(call, in: \.monitors, call)
        case "Explain":
            guard let parameters = call.decode(ExplainParameters.self) else { return true }
            var (steps, verdict) = try backend.explain(
                interface: parameters.interface, ssid: parameters.ssid, attempt: parameters.attempt)
            if !permission.allows(call) { steps.removeAll { !$0.isPublic } }
            verdict = Printable.cut(verdict, limit: 4096)
            call.reply(
                encoded: Fitting.reply("steps", steps.lazy.map(\.shown)) { omitted in
                    let rest = omitted > 0 ? " (\(omitted) later steps are too many for one answer.)" : ""
                    return Fitting.omitted(omitted).merging(["verdict": .string(verdict + rest)]) { $1 }
                })
        case "History":
            guard let parameters = call.decode(HistoryParameters.self) else { return true }
            let attempts = try backend.history(
                ssid: parameters.ssid, before: parameters.before, limit: Self.historyLimit + 1)
            call.reply(
                encoded: Fitting.reply("attempts", Array(attempts.prefix(Self.historyLimit))) { omitted in
                    ["more": .bool(omitted > 0 || attempts.count > Self.historyLimit)]
                })
        default: return false
        }
        return true
    }

    private func list(_ call: ServerCall, _ backend: any ControlBackend) throws(ControlError) {
        guard let parameters = call.decode(InterfaceParameter.self) else { return }
        let interface = parameters.interface
        let known = try backend.networks(interface: interface)
        guard call.wantsMore else {
            backend.refreshClaims { [weak self, weak backend] in
                guard let backend else { return }
                do throws(ControlError) {
                    call.reply(encoded: Self.reply(try backend.networks(interface: interface)))
                } catch {
                    self?.fail(call, error)
                }
            }
            return
        }
        let id = ObjectIdentifier(call)
        listWatchers[id] = (call, interface)
        call.onCancel = { [weak self] in
            guard let self else { return }
            listWatchers[id] = nil
            self.backend?.listWatchers(listWatchers.count)
        }
        call.replyMore(encoded: Self.reply(known))
        backend.listWatchers(listWatchers.count)
    }

    private func watch<Watcher>(
        _ call: ServerCall, in watchers: ReferenceWritableKeyPath<ControlInterface, [ObjectIdentifier: Watcher]>,
        _ watcher: Watcher
    ) {
        let id = ObjectIdentifier(call)
        self[keyPath: watchers][id] = watcher
        call.onCancel = { [weak self] in self?[keyPath: watchers][id] = nil }
    }

    private func mayChange(_ call: ServerCall) throws(ControlError) -> Bool {
        guard permission.allows(call) else {
            refused(call)
            throw .notPermitted("This needs root, the group hotspotd, or the user in front of the machine.")
        }
        onChange(call.method, call.peer, true)
        return true
    }

    /// Tells the first refusal, and counts the others for a while: whoever calls without end does not fill the log.
    private func refused(_ call: ServerCall) {
        // The name of a method that does not exist is the caller's to choose, as often as it likes.
        let method = Self.methods.contains(call.method) ? call.method : "an unknown method"
        if refusing == nil {
            refusing = try? EventLoop.shared.schedule(after: Self.refusalInterval, accuracy: .seconds(1)) { [weak self] in
                self?.tellRefusals()
            }
        }
        if refusals.note(.init(user: call.peer.uid, method: method)) { onChange(method, call.peer, false) }
    }

    func tellRefusals() {
        refusing = nil
        for (caller, count) in refusals.drain() { onRefusals(caller?.method, caller?.user, count) }
    }

    private func fail(_ call: ServerCall, _ error: ControlError) {
        let (name, parameters) = error.reply
        call.fail(name, parameters)
    }

    // MARK: Answers with lists

    private func status(_ backend: any ControlBackend) -> [UInt8] {
        let problems = Coding.value(backend.daemonProblems().shown)
        return Fitting.reply("interfaces", backend.interfaceStatus().lazy.map(\.shown)) { omitted in
            Fitting.omitted(omitted).merging(["version": .string(backend.version), "problems": problems]) { $1 }
        }
    }

    private static func reply(_ networks: [ScannedNetwork]) -> [UInt8] {
        Fitting.reply("networks", networks.lazy.map(\.shown), inOrder: { $0.comesBefore($1) })
    }

    private func prompts(_ backend: any ControlBackend, _ call: ServerCall, _ id: String?) -> [UInt8] {
        var prompts = backend.pendingPrompts()
        if let id { prompts.removeAll { $0.id != id } }
        if !permission.allows(call) { prompts = prompts.map(\.withheldFromStrangers) }
        return Fitting.reply("prompts", prompts)
    }
}

extension Step {
    /// For every local user: a trace names the paths of portals.
    var isPublic: Bool { kind != "trace" }
}

private struct InterfaceParameter: Decodable { var interface: String? }
private struct IDParameter: Decodable { var id: String }
private struct PromptParameter: Decodable { var id: String? }
private struct NameParameter: Decodable { var name: String? }
private struct SSIDParameter: Decodable { var ssid: String }
private struct HistoryParameters: Decodable { var ssid: String?; var before: String? }
private struct TokenParameter: Decodable { var token: String }
private struct RequestLogoffParameters: Decodable { var token: String; var interface: String; var ssidHex: String }
private struct LoginParameters: Decodable { var interface: String?; var helper: String? }
private struct AnswerParameters: Decodable { var id: String; var answers: [String: String]; var remember: Bool }
private struct EnabledParameters: Decodable { var helper: String?; var ssid: String?; var enabled: Bool }
private struct ExplainParameters: Decodable { var interface: String?; var ssid: String?; var attempt: String? }

private struct QueuedReply: Encodable { var queued: Bool }
private struct MonitorReply: Encodable { var interface: String; var step: Step }
