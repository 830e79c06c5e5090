import Glibc
import HotspotCore
import Varlink

/// How a command to a helper ended.
public enum HelperOutcome: Hashable, Sendable {
    /// The answer to Evaluate.
    case evaluation(Evaluation)
    /// The answer to Authenticate, PresentUI, Maintain and Logoff.
    case reply(Reply)
    /// The answer to FilterScanList.
    case annotations([Annotation])
    /// The answer to Probe and Describe, unchanged.
    case value(JSONValue)
    /// The helper does not know the command.
    case notRecognized
    /// There is no answer, or no usable one.
    case failed(HelperFault)

    /// Whether no further command is expected: no race waits for this answer, and the user was not asked.
    var isLastWord: Bool {
        switch self {
        case .reply(let reply): reply.result != .uiRequired
        case .evaluation, .value: false
        case .annotations, .notRecognized, .failed: true
        }
    }
}

/// The reason why a helper has no usable answer.
public struct HelperFault: Error, Hashable, Sendable, CustomStringConvertible {
    public let code: ProblemCode
    /// One sentence for people.
    public let sentence: String
    /// The end of the helper's standard error, printable. All secrets that the helper's process received are masked.
    public let standardError: String?
    /// A problem that kept the program from being started; it has its own code and hint.
    public let cause: Problem?

    public init(_ code: ProblemCode, _ sentence: String, standardError: String? = nil, cause: Problem? = nil) {
        self.code = code
        self.sentence = sentence
        self.cause = cause
        self.standardError = standardError?.isEmpty == true ? nil : standardError
    }

    /// Whether the helper did not answer at all: it exited, was killed, closed the connection, or never started. Otherwise it
    /// answered wrongly.
    public var isCrash: Bool { code == .helperCrashed || code == .helperNotStarted || code == .helperNotTrusted }

    /// Whether the octets that came could not be read as an answer, or did not end.
    public var isGarbage: Bool { code == .helperMalformed || code == .helperTooLong }

    public var problem: Problem { cause ?? Problem(code, sentence, hint: hint) }

    private var hint: String? {
        switch code {
        case .helperNotStarted: "hotspotctl helpers --verbose"
        // The command shows how many tasks there are, and how many are allowed.
        case .helperNoRoom: "systemctl status hotspotd"
        // Without stored answers, the helper has no secret to repeat.
        case .helperRepeatsSecret: "hotspotctl forget SSID"
        default: nil
        }
    }

    /// Whether the machine cannot start another process at this moment.
    public var isLackOfRoom: Bool { code == .helperNoRoom }

    static let lackCodes = [EAGAIN, ENOMEM, EMFILE, ENFILE, ENOBUFS]

    /// Returns the fault for a start that the system refused, either for lack of resources or for a lasting reason.
    static func refused(_ code: Int32) -> HelperFault {
        let reason = String(cString: strerror(code))
        return lackCodes.contains(code)
            ? HelperFault(.helperNoRoom, "it was not started, because the machine is out of memory or processes: \(reason)")
            : HelperFault(.helperNotStarted, "it could not be started: \(reason)")
    }

    /// Returns the fault for a connection or socket that failed. A lack of descriptors or memory is the daemon's fault; everything else, including a
    /// full queue (EAGAIN), is the helper's.
    ///
    /// - Parameter code: the code of the helper's fault.
    static func failed(_ error: VarlinkError, _ code: ProblemCode = .helperNotStarted) -> HelperFault {
        switch error {
        case .system(_, let errno), .unreachable(_, let errno):
            if errno != EAGAIN, lackCodes.contains(errno) { return refused(errno) }
        default: break
        }
        return HelperFault(code, error.description)
    }

    public var description: String { sentence }
}
