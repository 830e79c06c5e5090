import ForeignText
import HelperHost
import HotspotCore
import Varlink

/// Describes outcomes in a few words.
enum OutcomeText {
    /// Returns the outcome of a command in words; `nil` means no answer.
    static func words(_ outcome: HelperOutcome?) -> String {
        switch outcome {
        case nil: return "no answer"
        case .failed?: return "no usable answer"
        case .notRecognized?: return "unknown command"
        case .annotations(let annotations)?:
            let claims = annotations.prefix(8).map {
                "\($0.confidence.rawValue) for \(SSID(hex: $0.ssidHex)?.description ?? "?")"
            }
            return claims.isEmpty ? "no claims" : claims.joined(separator: ", ")
        case .evaluation(let evaluation)?:
            return evaluation.confidence.rawValue + (evaluation.reason.map { ": " + safe($0) } ?? "")
        case .reply(let reply)?:
            let asks =
                reply.prompt.map { prompt in
                    let fields = prompt.fields.prefix(8).map { safe($0.name, limit: 40) }.joined(separator: ", ")
                    return " \"\(safe(prompt.title, limit: 60))\" (\(fields.isEmpty ? "no fields" : fields))"
                } ?? ""
            return reply.result.rawValue + asks + (reply.reason.map { ": " + safe($0) } ?? "")
        case .value(let value)?: return Printable.text(String(decoding: Coding.encode(value), as: UTF8.self), limit: 200)
        }
    }

    /// The format of an answer to Describe.
    static let description = #"{"parameters":{"name":"…","displayName":"…","version":"…"}}␀"#

    /// Returns the format of an answer to a command.
    static func shape(_ command: Command) -> String {
        switch command {
        case .filterScanList: #"{"parameters":{"annotations":[{"ssidHex":"…","confidence":"high"}]}}␀"#
        case .evaluate: #"{"parameters":{"confidence":"none"}}␀"#
        case .authenticate, .presentUI, .maintain, .logoff: #"{"parameters":{"reply":{"result":"success"}}}␀"#
        }
    }

    /// Makes a text printable, and masks the made-up user's answers.
    private static func safe(_ text: String, limit: Int = 200) -> String {
        Printable.text(RehearsalUser.hidden.mask(text), limit: limit)
    }
}
