import ForeignText
import HotspotCore
import Varlink

/// The exit status: the words of the command's documentation.
enum ExitStatus: Int32 {
    case done = 0
    case failed = 1
    case usage = 2
    case timeout = 3
    case answerNeeded = 4
    case notRunning = 8
    case notFound = 10
}

/// Why the command ends without its result, for people, and with which status.
struct Failure: Error, Equatable {
    var status: ExitStatus
    /// One sentence; empty if everything is said already.
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
    /// What an error of the connection or of the interface means here.
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
                .notRunning, "hotspotd is not running: nobody listens at \(shown).",
                hint: path == CommonOptions.defaultSocket
                    ? "sudo systemctl start hotspotd; for an instance of your own: --socket PATH, or HOTSPOTD_SOCKET=PATH"
                    : "is --socket or HOTSPOTD_SOCKET right? Without them the system's own is asked: sudo systemctl start hotspotd"
            )
        case 13:  // EACCES
            return Failure(.failed, "you may not talk to \(shown).", hint: ShellWord.quoted(path).map { "ls -l \($0)" })
        default: return Failure(.failed, "\(VarlinkError.unreachable(path: shown, code: code)).")
        }
    }

    private static func reply(_ name: String, _ parameters: JSONValue) -> Failure {
        func text(_ key: String) -> String { Renderer.safe(parameters[key]?.string ?? "", limit: 1024) }
        switch name {
        case "org.hotspotd.Control.NoSuchInterface":
            return Failure(
                .notFound, "there is no interface «\(text("interface"))» that hotspotd watches.", hint: "hotspotctl status")
        case "org.hotspotd.Control.NoSuchHelper":
            return Failure(.notFound, "there is no helper «\(text("helper"))».", hint: "hotspotctl helpers")
        case "org.hotspotd.Control.NoSuchNetwork":
            return Failure(.notFound, "nothing is known of a network «\(text("ssid"))».", hint: "hotspotctl list")
        case "org.hotspotd.Control.NoSuchPrompt":
            return Failure(
                .notFound, "there is no prompt «\(text("id"))»; it may have been answered.", hint: "hotspotctl prompts")
        case "org.hotspotd.Control.WrongState":
            let interface = text("interface")
            return Failure(
                .failed, "\(interface.isEmpty ? "the interface" : interface) is \(text("state")), which does not go with this.",
                hint: "hotspotctl status")
        case "org.hotspotd.Control.InvalidAnswer":
            return Failure(
                .failed, "the answer to «\(text("field"))» is not accepted: \(text("message"))", hint: "hotspotctl answer")
        case "org.hotspotd.Control.NotPermitted":
            let message = text("message")
            return Failure(
                .failed, "you may not do this\(message.isEmpty ? "." : ": \(message)")",
                hint: "sudo hotspotctl …, or join the group hotspotd")
        case "org.hotspotd.Control.Failed":
            let message = text("message")
            // Without any interface there is none to name either.
            if text("code") == "noInterface" { return Failure(.notFound, message, hint: "hotspotctl status") }
            return Failure(.failed, message.isEmpty ? "it failed (\(text("code")))." : "\(message) (\(text("code")))")
        case "org.varlink.service.MethodNotFound", "org.varlink.service.MethodNotImplemented",
            "org.varlink.service.InterfaceNotFound":
            return Failure(
                .failed, "this daemon cannot do that: it is of another version.", hint: "hotspotctl status --json=pretty")
        case "org.varlink.service.InvalidParameter":
            return Failure(.failed, "the daemon does not accept «\(text("parameter"))».")
        default: return Failure(.failed, "the daemon answers with an unknown error: \(Printable.text(name, limit: 128)).")
        }
    }
}
