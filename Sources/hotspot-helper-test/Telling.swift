import ForeignText
import HelperHost
import HotspotCore
import Varlink

/// Outcomes in a few words.
enum Telling {
    /// What came of a command; `nil`: nothing came.
    static func words(_ outcome: HelperOutcome?) -> String {
        switch outcome {
        case nil: return "nothing"
        case .failed?: return "no usable answer"
        case .notRecognized?: return "not known to it"
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
                    return " «\(safe(prompt.title, limit: 60))» (\(fields.isEmpty ? "no fields" : fields))"
                } ?? ""
            return reply.result.rawValue + asks + (reply.reason.map { ": " + safe($0) } ?? "")
        case .value(let value)?: return Printable.text(String(decoding: Coding.encode(value), as: UTF8.self), limit: 200)
        }
    }

    /// What an answer to Describe looks like.
    static let description = #"{"parameters":{"name":"…","displayName":"…","version":"…"}}␀"#

    /// What an answer to a command looks like.
    static func shape(_ command: Command) -> String {
        switch command {
        case .filterScanList: #"{"parameters":{"annotations":[{"ssidHex":"…","confidence":"high"}]}}␀"#
        case .evaluate: #"{"parameters":{"confidence":"none"}}␀"#
        case .authenticate, .presentUI, .maintain, .logoff: #"{"parameters":{"reply":{"result":"success"}}}␀"#
        }
    }

    /// What somebody typed is not shown here either.
    private static func safe(_ text: String, limit: Int = 200) -> String {
        Printable.text(RehearsalUser.hidden.mask(text), limit: limit)
    }
}
