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

/// Why the command fails, for people, and its exit status.
struct Failure: Error, Equatable {
    var status: ExitStatus
    /// One sentence; empty if the output says it already.
    var message: String
    /// The command that helps.
    var hint: String?

    init(_ status: ExitStatus, _ message: String, hint: String? = nil) {
        self.status = status
        self.message = message
        self.hint = hint
    }

    func report() {
        if !message.isEmpty { Output.error(["hotspotctl: \(message)"]) }
        if let hint { Output.error(["  try: \(hint)"]) }
    }
}

extension Failure {
    init(_ error: VarlinkError, path: String) {
        switch error {
        case .unreachable(let path, let code): self = Self.unreachable(path, code)
        case .closed: self.init(.notRunning, "the daemon ended the connection.", hint: "journalctl -u hotspotd")
        case .system(_, let code) where code == Self.wouldBlock:
            self.init(.timeout, "the daemon does not answer at \(Printable.text(path)).", hint: "journalctl -u hotspotd")
        case .reply(let name, let parameters): self = Self.reply(name, parameters)
        case .tooLong, .malformed, .system: self.init(.failed, "\(error).")
        }
    }

    static let wouldBlock: Int32 = 11

    private static func unreachable(_ path: String, _ code: Int32) -> Failure {
        let shown = Printable.text(path)
        switch code {
        case 2, 111:  // ENOENT, ECONNREFUSED
            return Failure(
                .notRunning, "hotspotd is not running: no program listens at \(shown).",
                hint: path == CommonOptions.defaultSocket
                    ? "sudo systemctl start hotspotd; for your own instance: --socket PATH, or HOTSPOTD_SOCKET=PATH"
                    : "check --socket and HOTSPOTD_SOCKET; without them the system's daemon is used: sudo systemctl start hotspotd"
            )
        case 13:  // EACCES
            return Failure(.failed, "you may not talk to \(shown).", hint: ShellWord.quoted(path).map { "ls -l \($0)" })
        default: return Failure(.failed, "\(VarlinkError.unreachable(path: shown, code: code)).")
        }
    }

    private static func reply(_ name: String, _ parameters: JSONValue) -> Failure {
        func safe(_ text: String) -> String { Renderer.safe(text, limit: 1024) }
        switch ControlError(name: name, parameters: parameters) {
        case .noSuchInterface(let interface):
            return Failure(.notFound, "hotspotd watches no interface '\(safe(interface))'.", hint: "hotspotctl status")
        case .noSuchHelper(let helper):
            return Failure(.notFound, "there is no helper '\(safe(helper))'.", hint: "hotspotctl helpers")
        case .noSuchNetwork(let ssid):
            return Failure(.notFound, "the network '\(safe(ssid))' is unknown.", hint: "hotspotctl list")
        case .noSuchPrompt(let id):
            return Failure(
                .notFound, "there is no prompt '\(safe(id))'; it may have been answered.", hint: "hotspotctl prompts")
        case .wrongState(let interface, let state):
            return Failure(
                .failed, "this is not possible while \(interface.isEmpty ? "the interface" : safe(interface)) is \(safe(state)).",
                hint: "hotspotctl status")
        case .invalidAnswer(let field, let message):
            return Failure(
                .failed, "the answer to '\(safe(field))' is not accepted: \(safe(message))", hint: "hotspotctl answer")
        case .notPermitted(let message):
            return Failure(
                .failed, "you may not do this\(message.isEmpty ? "." : ": \(safe(message))")",
                hint: "sudo hotspotctl …, or join the group hotspotd")
        // Without any interface there is none to name either.
        case .failed(.noInterface, let message): return Failure(.notFound, safe(message), hint: "hotspotctl status")
        case .failed(_, let message):
            // As it came, because a newer daemon may have more words.
            let code = parameters["code"]?.string ?? ""
            return Failure(.failed, message.isEmpty ? "it failed (\(safe(code)))." : "\(safe(message)) (\(safe(code)))")
        case nil: break
        }
        switch name {
        case "org.varlink.service.MethodNotFound", "org.varlink.service.MethodNotImplemented",
            "org.varlink.service.InterfaceNotFound":
            return Failure(
                .failed, "this daemon cannot do that: it is of another version.", hint: "hotspotctl status --json=pretty")
        case "org.varlink.service.InvalidParameter":
            let parameter = parameters["parameter"]?.string ?? ""
            return Failure(.failed, "the daemon does not accept '\(safe(parameter))'.")
        default: return Failure(.failed, "the daemon answers with an unknown error: \(Printable.text(name, limit: 128)).")
        }
    }
}
