import ControlAPI
import EventLoop
import ForeignText
import Glibc
import HotspotCore
import Varlink

/// The server of org.hotspotd.Control: checks the caller's rights, passes the call to the daemon, and removes from the reply the parts that the
/// caller may not see.
@LoopActor public final class ControlInterface: ServerInterface {
    public nonisolated var name: String { ControlContract.name }
    public nonisolated var definition: String { ControlContract.definition }

    /// The only methods that helpers may call. A helper's call carries the token of its process, and its reply describes only the helper's own
    /// network.
    private static let helperMethods: Set<String> = ["Current", "RequestLogoff"]
    /// The only methods that the companion service may call. That service reads data from strangers nearby, so none of these methods returns a stored
    /// answer or changes a setting.
    private static let companionMethods: Set<String> = ["Status", "Prompts", "Answer", "AddOffered"]

    private weak var backend: (any ControlBackend)?
    private let permission: Permission
    /// Reports a change or a refused call to the log. Of the refused calls of each user and method, only the first one in a minute is reported.
    public var onChange: (_ method: String, _ peer: PeerCredentials, _ allowed: Bool) -> Void = { _, _, _ in }
    /// Reports, at the end of the minute, how many more calls of a user and method were refused. `nil` stands for all callers beyond the first
    /// ``RefusalLimiter/limit``.
    public var onRefusals: (_ method: String?, _ user: uid_t?, _ count: Int) -> Void = { _, _, _ in }
    var refusals = RefusalLimiter()
    var refusalTimer: EventSource?
    static let refusalInterval = Duration.seconds(60)
    /// The largest number of attempts in one reply.
    private static let historyLimit = 200

    private var statusWatchers: [ObjectIdentifier: ServerCall] = [:]
    private var promptWatchers: [ObjectIdentifier: (call: ServerCall, id: String?)] = [:]
    private var listWatchers: [ObjectIdentifier: (call: ServerCall, parameters: ListParameters)] = [:]
    private var monitors: [ObjectIdentifier: ServerCall] = [:]

    public init(backend: any ControlBackend, permission: Permission) {
        self.backend = backend
        self.permission = permission
    }

    /// Replies to a call, or fails it; returns `false` if there is no such method.
    public func handle(_ call: ServerCall) -> Bool {
        guard let backend else { return false }
        if call.standing == .restricted, !Self.helperMethods.contains(call.method) {
            noteRefusal(of: call)
            fail(call, .notPermitted("A helper may only call Current and RequestLogoff, for its own network."))
            return true
        }
        if permission.isCompanion(call.peer), !Self.isForCompanion(call) {
            noteRefusal(of: call)
            fail(call, .notPermitted("The companion service may only show and answer questions, and add offers."))
            return true
        }
        guard let method = Self.methods[call.method] else { return false }
        do throws(ControlError) { try method(self, call, backend) } catch { fail(call, error) }
        return true
    }

    /// Returns whether the companion service may make this call. It may not have stored answers sent, or confirm that answers are kept.
    private static func isForCompanion(_ call: ServerCall) -> Bool {
        guard companionMethods.contains(call.method) else { return false }
        guard call.method == "Answer", let answer = call.decode(AnswerParameters.self) else { return true }
        return answer.stored?.isEmpty != false && answer.confirmed != true
    }

    // MARK: Changes in the daemon, sent to the clients that watch

    public func statusChanged() {
        guard !statusWatchers.isEmpty, let backend else { return }
        // Each reply is encoded once for all clients that may read the names, and once for all others.
        var replies: [Bool: [UInt8]] = [:]
        for call in statusWatchers.values {
            let withNames = mayReadNames(call, backend)
            let status = replies[withNames] ?? ListReplies.status(backend, withNames: withNames)
            replies[withNames] = status
            call.replyMore(encoded: status)
        }
    }

    public func promptsChanged() {
        guard !promptWatchers.isEmpty, let backend else { return }
        for (call, id) in promptWatchers.values {
            call.replyMore(
                encoded:
                    ListReplies.prompts(
                        backend, id, isPermitted: permission.allows(call), hidesStored: permission.isCompanion(call.peer)))
        }
    }

    /// Sends the list to the clients that watch it, after a scan has ended or claims have changed.
    public func listChanged() {
        guard !listWatchers.isEmpty, let backend else { return }
        // Each list is encoded once for all clients that want the same list.
        var replies: [ListParameters: Result<[UInt8], ControlError>] = [:]
        for (call, parameters) in listWatchers.values where mayReadNames(call, backend) {
            let reply = replies[parameters] ?? Result { () throws(ControlError) in try ListReplies.networks(backend, parameters) }
            replies[parameters] = reply
            switch reply {
            case .success(let list): call.replyMore(encoded: list)
            case .failure(let error): fail(call, error)
            }
        }
    }

    public func stepped(_ interface: String, _ step: Step) {
        guard !monitors.isEmpty, let backend else { return }
        let step = step.shown
        for call in monitors.values where permission.allows(call) || (step.isPublic && backend.showsNamesToAll) {
            call.replyMore(MonitorReply(interface: interface, step: step))
        }
    }

    // MARK: The methods

    typealias Method = @LoopActor (ControlInterface, ServerCall, any ControlBackend) throws(ControlError) -> Void

    /// Every method by its name. `read` methods are open to all callers. `permitted`, `change` and `later` methods need permission. A `change` method
    /// has an empty reply; a `later` method replies when its work is done.
    static let methods: [String: Method] = [
        "Status": { control, call, backend in
            let status = ListReplies.status(backend, withNames: control.mayReadNames(call, backend))
            guard call.wantsMore else { return call.reply(encoded: status) }
            control.watch(call, in: \.statusWatchers, call)
            call.replyMore(encoded: status)
        },
        "Check": read { (control, call, backend, parameters: OptionalInterface) in
            backend.check(interface: parameters.interface) { [weak control] result in
                switch result {
                case .success(var reply):
                    if control?.permission.allows(call) != true {
                        // Remove the probe's findings, which describe the network; keep the settings.
                        (reply.detail, reply.requests) = (nil, nil)
                    }
                    call.reply(reply)
                case .failure(let error): control?.fail(call, error)
                }
            }
        },
        "List": read { (control, call, backend, parameters: ListParameters) throws(ControlError) in
            try control.requireNames(call, backend)
            try control.list(call, backend, parameters)
        },
        "Helpers": read { (control, call, backend, parameters: OptionalName) in
            var helpers = backend.helperStatus()
            if let name = parameters.name { helpers.removeAll { $0.name != name } }
            let withNames = control.mayReadNames(call, backend)
            call.reply(encoded: ReplyBudget.reply("helpers", helpers.lazy.map { withNames ? $0.shown : $0.shown.withoutNames }))
        },
        "Prompts": read { (control, call, backend, parameters: OptionalPrompt) in
            let prompts = ListReplies.prompts(
                backend, parameters.id, isPermitted: control.permission.allows(call),
                hidesStored: control.permission.isCompanion(call.peer))
            guard call.wantsMore else { return call.reply(encoded: prompts) }
            control.watch(call, in: \.promptWatchers, (call, parameters.id))
            call.replyMore(encoded: prompts)
        },
        "Monitor": { control, call, backend throws(ControlError) in
            try control.requireNames(call, backend)
            guard call.wantsMore else {
                throw .failed(code: .expectedMore, message: "Monitor answers only callers that listen (more)")
            }
            control.watch(call, in: \.monitors, call)
        },
        "Explain": read { (control, call, backend, parameters: ExplainParameters) throws(ControlError) in
            try control.requireNames(call, backend)
            var (attempt, steps, verdict) = try backend.explain(
                interface: parameters.interface, ssid: parameters.ssid, attempt: parameters.attempt)
            if !control.permission.allows(call) { steps.removeAll { !$0.isPublic } }
            verdict = Printable.cut(verdict, limit: 4096)
            call.reply(
                encoded: ReplyBudget.reply("steps", steps.lazy.map(\.shown)) { omitted in
                    let rest = omitted > 0 ? " (\(omitted) later steps are too many for one answer.)" : ""
                    return ReplyBudget.omitted(omitted).merging(
                        ["verdict": .string(verdict + rest), "attempt": Coding.value(attempt)]
                    ) { $1 }
                })
        },
        "History": read { (control, call, backend, parameters: HistoryParameters) throws(ControlError) in
            try control.requireNames(call, backend)
            // Asks for one attempt more than the reply holds, to learn whether there are older ones.
            let attempts = try backend.history(
                ssid: parameters.ssid, interface: parameters.interface, before: parameters.before, limit: historyLimit + 1)
            call.reply(
                encoded: ReplyBudget.reply("attempts", Array(attempts.prefix(historyLimit))) { omitted in
                    ["more": .bool(omitted > 0 || attempts.count > historyLimit)]
                })
        },
        "Current": read { (_, call, backend, parameters: TokenParameter) throws(ControlError) in
            call.reply(try backend.current(token: parameters.token))
        },
        // Accept the token as the permission, because a helper may run as another user than the daemon.
        "RequestLogoff": read { (control, call, backend, parameters: LogoffParameters) throws(ControlError) in
            let queued = try backend.requestLogoff(
                token: parameters.token, interface: parameters.interface, ssidHex: parameters.ssidHex)
            if queued { control.onChange(call.method, call.peer, true) } else { control.noteRefusal(of: call) }
            call.reply(QueuedReply(queued: queued))
        },
        "Answer": change { (_, backend, parameters: AnswerParameters) throws(ControlError) in try backend.answer(parameters) },
        "Dismiss": change { (_, backend, parameters: PromptParameter) throws(ControlError) in
            try backend.dismiss(prompt: parameters.id)
        },
        "Login": permitted { (call, backend, parameters: LoginParameters) throws(ControlError) in
            call.reply(
                try backend.login(
                    interface: parameters.interface, helper: parameters.helper, fresh: parameters.fresh ?? false))
        },
        "Browse": permitted { (call, backend, parameters: BrowseParameters) throws(ControlError) in
            call.reply(try backend.browse(interface: parameters.interface, anyway: parameters.anyway ?? false))
        },
        "Logoff": permitted { (call, backend, parameters: OptionalInterface) throws(ControlError) in
            call.reply(InterfaceReply(interface: try backend.logoff(interface: parameters.interface)))
        },
        "Join": later { (backend, parameters: JoinParameters, done) in backend.join(parameters, done) },
        "Leave": later { (backend, parameters: OptionalInterface, done) in
            backend.leave(interface: parameters.interface, done)
        },
        "SetEnabled": permitted { (call, backend, parameters: SwitchParameters) throws(ControlError) in
            guard parameters.helper != nil || parameters.ssid != nil else { return call.failInvalidParameter("helper or ssid") }
            let isReleased = try backend.setEnabled(
                helper: parameters.helper, ssid: parameters.ssid, enabled: parameters.enabled)
            call.reply(SwitchReply(released: isReleased ? true : nil))
        },
        "Forget": change { (_, backend, parameters: NetworkParameter) throws(ControlError) in
            try backend.forget(ssid: parameters.ssid)
        },
        "ForgetEverything": change { (_, backend, _: NoParameters) throws(ControlError) in try backend.forgetEverything() },
        "Credentials": permitted(isChange: false) { (call, backend, parameters: OptionalNetwork) throws(ControlError) in
            let (credentials, pin) = try backend.credentials(ssid: parameters.ssid)
            call.reply(
                encoded: ReplyBudget.reply("credentials", credentials) {
                    ReplyBudget.omitted($0).merging(["pin": .string(pin)]) { $1 }
                })
        },
        "AddCredential": permitted { (call, backend, parameters: AddParameters) throws(ControlError) in
            let credential = try backend.addCredential(
                ssid: parameters.ssid, helper: parameters.helper, answers: parameters.answers)
            call.reply(AddedReply(credential: credential))
        },
        "RemoveCredentials": permitted { (call, backend, parameters: RemoveParameters) throws(ControlError) in
            let removed = try backend.removeCredentials(
                ssid: parameters.ssid, helper: parameters.helper, portal: parameters.portal)
            call.reply(RemovedReply(removed: removed))
        },
        "SharedAnswers": permitted { (call, backend, parameters: RemoveParameters) throws(ControlError) in
            call.reply(
                try backend.sharedAnswers(ssid: parameters.ssid, helper: parameters.helper, portal: parameters.portal))
        },
        "AddOffered": permitted { (call, backend, parameters: OfferedParameters) throws(ControlError) in
            call.reply(try backend.addOffered(parameters))
        },
        "Unlock": change { (_, backend, parameters: PINParameter) throws(ControlError) in
            try backend.unlock(pin: parameters.pin, resumes: parameters.resume != false)
        },
        "SetPIN": change { (_, backend, parameters: PINParameters) throws(ControlError) in
            try backend.setPIN(parameters.pin, old: parameters.old)
        },
    ]

    private static func read<Parameters: Decodable>(
        _ body: @escaping @LoopActor (ControlInterface, ServerCall, any ControlBackend, Parameters) throws(ControlError) -> Void
    ) -> Method {
        { control, call, backend throws(ControlError) in
            guard let parameters = call.decode(Parameters.self) else { return }
            try body(control, call, backend, parameters)
        }
    }

    private static func change<Parameters: Decodable>(
        _ body: @escaping @LoopActor (ServerCall, any ControlBackend, Parameters) throws(ControlError) -> Void
    ) -> Method {
        permitted { (call, backend, parameters: Parameters) throws(ControlError) in
            try body(call, backend, parameters)
            call.reply()
        }
    }

    private static func later<Parameters: Decodable>(
        _ body:
            @escaping @LoopActor (
                any ControlBackend, Parameters, @escaping (Result<AssociationReply, ControlError>) -> Void
            ) -> Void
    ) -> Method {
        { control, call, backend throws(ControlError) in
            let method = permitted { (call, backend, parameters: Parameters) in
                body(backend, parameters) { [weak control] result in
                    switch result {
                    case .success(let reply): call.reply(reply)
                    case .failure(let error): control?.fail(call, error)
                    }
                }
            }
            try method(control, call, backend)
        }
    }

    private static func permitted<Parameters: Decodable>(
        isChange: Bool = true,
        _ body: @escaping @LoopActor (ServerCall, any ControlBackend, Parameters) throws(ControlError) -> Void
    ) -> Method {
        read { (control, call, backend, parameters: Parameters) throws(ControlError) in
            guard control.permission.allows(call) else {
                control.noteRefusal(of: call)
                throw needsPermission
            }
            if isChange { control.onChange(call.method, call.peer, true) }
            try body(call, backend, parameters)
        }
    }

    private static let needsPermission = ControlError.notPermitted(
        "This needs root, the group hotspotd, or the user in front of the machine.")

    private func mayReadNames(_ call: ServerCall, _ backend: any ControlBackend) -> Bool {
        backend.showsNamesToAll || permission.allows(call)
    }

    private func requireNames(_ call: ServerCall, _ backend: any ControlBackend) throws(ControlError) {
        if !mayReadNames(call, backend) { throw Self.needsPermission }
    }

    private func list(
        _ call: ServerCall, _ backend: any ControlBackend, _ parameters: ListParameters
    ) throws(ControlError) {
        let known = try ListReplies.networks(backend, parameters)
        guard call.wantsMore else {
            backend.refreshClaims(askingAccessPoints: asks(call, parameters)) { [weak self, weak backend] in
                guard let backend else { return }
                do throws(ControlError) {
                    call.reply(encoded: try ListReplies.networks(backend, parameters))
                } catch {
                    self?.fail(call, error)
                }
            }
            return
        }
        let id = ObjectIdentifier(call)
        listWatchers[id] = (call, parameters)
        call.onCancel = { [weak self] in
            guard let self else { return }
            listWatchers[id] = nil
            if let backend = self.backend { reportListWatchers(to: backend) }
        }
        call.replyMore(encoded: known)
        reportListWatchers(to: backend)
    }

    /// Returns whether the daemon may query access points on behalf of this caller. Queries are sent by radio, so they need
    /// permission; without it, a caller sees only the answers that the daemon already has.
    private func asks(_ call: ServerCall, _ parameters: ListParameters) -> Bool {
        parameters.verbose == true && permission.allows(call)
    }

    private func reportListWatchers(to backend: any ControlBackend) {
        backend.listWatchers(
            listWatchers.count, askingAccessPoints: listWatchers.values.contains { asks($0.call, $0.parameters) })
    }

    private func watch<Watcher>(
        _ call: ServerCall, in watchers: ReferenceWritableKeyPath<ControlInterface, [ObjectIdentifier: Watcher]>,
        _ watcher: Watcher
    ) {
        let id = ObjectIdentifier(call)
        self[keyPath: watchers][id] = watcher
        call.onCancel = { [weak self] in self?[keyPath: watchers][id] = nil }
    }
}
