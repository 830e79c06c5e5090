import ControlAPI
import ForeignText
import HotspotCore
import Varlink

/// The exit statuses that the help lists.
enum ExitStatus: Int32 {
    case done = 0
    case failed = 1
    case usage = 2
    case timeout = 3
    case answerNeeded = 4
    case notRunning = 8
    case notFound = 10
}

/// The reason why the command fails, for people, and its exit status.
struct Failure: Error, Equatable {
    var status: ExitStatus
    /// One sentence, empty if the output already explains the failure; after a line feed, the words of a helper or portal.
    var message: String
    /// The command that helps.
    var hint: String?

    init(_ status: ExitStatus, _ message: String, hint: String? = nil) {
        self.status = status
        self.message = message
        self.hint = hint
    }

    /// The error of org.hotspotd.Control, if the daemon replied with one.
    var refusal: ControlError?

    /// Returns this failure with one more sentence, which comes before the words of helpers and portals.
    func adding(_ sentence: String) -> Failure {
        var failure = self
        failure.message.insert(contentsOf: " " + sentence, at: message.firstIndex(of: "\n") ?? message.endIndex)
        return failure
    }

    func report() {
        let (own, others) = Renderer(style: .ofThisTerminal, now: 0).sentence(message, limit: 2048)
        if !own.isEmpty { Output.error(["hotspotctl: \(own)"] + others) }
        if let hint { Output.error(["  try: \(hint)"]) }
    }
}

extension Failure {
    /// - Parameter method: the method that was called, without its interface.
    init(_ error: VarlinkError, path: String, method: String = "") {
        switch error {
        case .unreachable(let path, let code): self = Self.unreachable(path, code)
        case .closed: self.init(.notRunning, "The daemon ended the connection.", hint: Self.log(of: path))
        case .system(_, let code) where code == Self.wouldBlock:
            self.init(.timeout, "The daemon does not answer at \(Printable.text(path)).", hint: Self.log(of: path))
        case .reply(let name, let parameters):
            self = Self.reply(name, parameters, method)
            refusal = ControlError(name: name, parameters: parameters)
        case .tooLong, .malformed, .system: self.init(.failed, "\(error).")
        }
    }

    /// Returns the command that shows the daemon's log: only the system's daemon writes to the journal.
    static func log(of path: String) -> String {
        switch path {
        case CommonOptions.defaultSocket: "journalctl -u hotspotd"
        case CompanionContract.socket: "journalctl -u hotspot-companion"
        default: "read the output of that hotspotd"
        }
    }

    /// Returns the failure for a prompt that does not exist, or has ended.
    ///
    /// - Parameter reason: why the prompt ended, if it was waiting a moment ago.
    static func noSuchPrompt(_ id: String, _ reason: String?) -> Failure {
        let name = "'\(Renderer.safe(id, limit: 64))'"
        let sentence = reason.map { "The prompt \(name) has ended. \(Renderer.safe($0))" } ?? "There is no prompt \(name)."
        return Failure(.notFound, sentence, hint: "hotspotctl prompts")
    }

    /// Returns the failure for an unknown network.
    ///
    /// - Parameters: - what: where else this name occurs. - nearest: the most similar known name.
    static func noSuchNetwork(_ ssid: String, _ what: String = "", nearest: String?) -> Failure {
        let renderer = Renderer(style: .plain, now: 0)
        let meant = nearest.map { "; did you mean \(renderer.quoted($0))" } ?? ""
        return Failure(
            .notFound, "No network \(renderer.quoted(ssid)) is in sight or remembered\(what)\(meant).",
            hint: "hotspotctl list --all")
    }

    static let joinGroup = "sudo usermod -aG hotspotd $USER, then log in again"

    /// This command line with sudo, for an administrator. None of its arguments is secret.
    private static var asRoot: String {
        let words = CommandLine.arguments.dropFirst().map(ShellWord.quoted)
        // If one argument cannot be copied safely, all are left out, and the user must add them.
        return "sudo " + (["hotspotctl"] + (words.contains(nil) ? [] : words.compactMap(\.self))).joined(separator: " ")
    }

    static let wouldBlock: Int32 = 11

    private static func unreachable(_ path: String, _ code: Int32) -> Failure {
        let shown = Printable.text(path)
        switch code {
        case 2, 111:  // ENOENT, ECONNREFUSED
            return Failure(
                .notRunning, "The daemon hotspotd is not running: no program listens at \(shown).",
                hint: path == CommonOptions.defaultSocket
                    ? "sudo systemctl start hotspotd; for your own instance: --socket PATH, or HOTSPOTD_SOCKET=PATH"
                    : "check --socket and HOTSPOTD_SOCKET, or unset both and start the system's daemon: sudo systemctl start hotspotd"
            )
        case 13:  // EACCES
            return Failure(
                .failed, "You have no permission to connect to \(shown).", hint: ShellWord.quoted(path).map { "ls -l \($0)" })
        default: return Failure(.failed, "\(VarlinkError.unreachable(path: shown, code: code)).")
        }
    }

    /// Returns why there is no session to end, and the command that helps.
    private static func noLogoff(_ subject: String, _ interface: String, _ state: String, asks: Bool) -> Failure {
        let place = ShellWord.argument(interface).map { " \($0)" } ?? ""
        let (reason, hint) =
            switch StateName(rawValue: state) {
            case .inactive:
                (
                    "the interface is not in a network, or hotspotd leaves its network alone; you may be able to log off on the portal's page",
                    "hotspotctl status"
                )
            case .presentingUI where asks: ("the login still waits for your answer", "hotspotctl answer --dismiss\(place)")
            case .evaluating, .authenticating, .presentingUI:
                ("the login is still running", "hotspotctl login --wait\(place), then hotspotctl logoff\(place)")
            case .authenticated:
                ("no helper keeps a session; you may be able to log off on the portal's page", "hotspotctl explain\(place)")
            case .maintaining: ("the session is being checked", "hotspotctl logoff\(place), in a moment")
            case .loggingOff: ("the logoff is under way", "hotspotctl status")
            case .failure: ("the login failed, or could not be verified", "hotspotctl explain\(place)")
            case nil: ("this is not possible now", "hotspotctl status")
            }
        return Failure(.failed, "There is no session to end on \(subject): \(reason).", hint: hint)
    }

    private static func companion(_ fault: CompanionFault) -> Failure {
        func safe(_ text: String, _ limit: Int = 600) -> String { Renderer.safe(text, limit: limit) }
        return switch fault {
        case .notPermitted(let message): Failure(.failed, safe(message), hint: "\(asRoot); or \(joinGroup)")
        case .noSuchPeer(let peer):
            Failure(.notFound, "No laptop \"\(safe(peer, 64))\" is paired.", hint: "hotspotctl companion list")
        case .severalPeers(let peer):
            Failure(
                .usage, "Several paired laptops are called \"\(safe(peer, 64))\": use the ID instead.",
                hint: "hotspotctl companion list")
        case .noSuchOffer, .noSuchQuestion:
            Failure(
                .notFound, "The offer or question has ended: it was withdrawn, was answered, or expired.",
                hint: "hotspotctl companion status")
        case .failed(let message): Failure(.failed, safe(message))
        }
    }

    private static func reply(_ name: String, _ parameters: JSONValue, _ method: String) -> Failure {
        func safe(_ text: String) -> String { Renderer.safe(text, limit: 1024) }
        switch ControlError(name: name, parameters: parameters) {
        case .noSuchInterface(let interface):
            return Failure(
                .notFound, "hotspotd does not watch an interface named \(safe(interface)).", hint: "hotspotctl status")
        case .noSuchHelper(let helper):
            return Failure(.notFound, "There is no helper '\(safe(helper))'.", hint: "hotspotctl helpers")
        case .noSuchNetwork(let ssid, let nearest): return .noSuchNetwork(ssid, nearest: nearest)
        case .noSuchPrompt(let id, let reason): return .noSuchPrompt(id, reason)
        case .wrongState(let interface, let state, let asks):
            let subject = interface.isEmpty ? "the interface" : safe(interface)
            if method == "Logoff" { return noLogoff(subject, interface, state, asks: asks) }
            let words = Renderer(style: .plain, now: 0).words(state)
            return Failure(.failed, "This is not possible while \(subject) is \(words).", hint: "hotspotctl status")
        case .invalidAnswer(let field, let message):
            // Without a field, the sentence is the daemon's own, so it is not shown as a quotation.
            if field.isEmpty { return Failure(.failed, safe(message)) }
            return Failure(.failed, QuotedProblem.join("This answer is not valid.", "\(safe(field)): \(safe(message))"))
        case .notPermitted(let message):
            // sudo would not help: as root, hotspotctl opens no browser.
            let hint =
                method == "Browse"
                ? Self.joinGroup : "\(Self.asRoot); or \(Self.joinGroup)"
            return Failure(.failed, message.isEmpty ? "You do not have permission for this." : safe(message), hint: hint)
        case .suspiciousPortal(let warning): return Failure(.answerNeeded, safe(warning), hint: "hotspotctl browse")
        case .wrongPIN(let left):
            guard left > 0 else {
                return Failure(.failed, "This was the tenth wrong PIN. The stored answers and the PIN have been erased.")
            }
            let warning = left > 2 ? "" : " After \(left) more wrong PIN\(left == 1 ? "" : "s"), the stored answers are erased."
            return Failure(.failed, "Wrong PIN.\(warning)")
        case .failed(.noAttempt, let message): return Failure(.notFound, message, hint: "hotspotctl history")
        // The hint contains no interface name, because there is no interface.
        case .failed(.noInterface, let message): return Failure(.notFound, message, hint: "hotspotctl status")
        case .failed(.severalInterfaces, let message): return Failure(.usage, message, hint: "hotspotctl status")
        case .failed(_, let message):
            // The code is kept as a string, because a newer daemon may have codes that this version does not know.
            let code = parameters["code"]?.string ?? ""
            return Failure(.failed, message.isEmpty ? "The command failed (\(safe(code)))." : message)
        case nil: break
        }
        if let fault = CompanionFault(name: name, parameters: parameters) { return companion(fault) }
        switch name {
        case "org.varlink.service.MethodNotFound", "org.varlink.service.MethodNotImplemented",
            "org.varlink.service.InterfaceNotFound":
            return Failure(
                .failed, "The daemon has another version and does not know this command.", hint: "hotspotctl status --json=pretty"
            )
        case "org.varlink.service.InvalidParameter":
            let parameter = parameters["parameter"]?.string ?? ""
            return Failure(.failed, "The daemon rejects the parameter '\(safe(parameter))'.")
        default: return Failure(.failed, "The daemon answers with an unknown error: \(Printable.text(name, limit: 128)).")
        }
    }
}
