import ForeignText
import HelperKit
import HotspotCore
import PortalCatalogue

/// A fixture: one recorded login, with the user's input and the outcome.
package struct RecordedLogin: Sendable {
    /// One request and its answer.
    struct Turn: Sendable {
        var line: Int
        var method: String
        var url: String
        var headers: [HTTPResponse.Header] = []
        var body = ""
        /// Whether the connection broke before an answer came.
        var isLost = false
        var status = 0
        var phrase = ""
        var answerHeaders: [HTTPResponse.Header] = []
        var answer = ""
    }

    let file: String
    var typed: [String: String] = [:]
    var stored: [String: String] = [:]
    var consents = false
    /// The consents that the user gave at an earlier visit (``SessionMemory/agreed``).
    var agreed: [String] = []
    var address = "192.0.2.7/24"
    var time = 1_700_000_000
    var turns: [Turn] = []
    package internal(set) var result = HelperResult.success
    var reason: String?
    var asks: [String]?
    var claims: Confidence?

    /// The longest file, in octets: some portals' pages are long.
    package static let limit = 1 << 20

    init(file: String) { self.file = file }

    /// Reads a fixture. Throws ``Keyfile/Error``.
    package init(_ octets: [UInt8], file: String) throws(Keyfile.Error) {
        self.file = file
        var number = 0
        var hasResult = false
        for line in String(decoding: octets, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false) {
            number += 1
            let isRead: Bool
            if line.isEmpty || line.hasPrefix("#") {
                isRead = true
            } else if line.hasPrefix("=") {
                hasResult = true
                isRead = readResult(Self.words(line.dropFirst()))
            } else if line.hasPrefix(">") || line.hasPrefix("<") {
                isRead = readTurn(line, number)
            } else {
                isRead = readSetting(Self.words(line))
            }
            guard isRead else {
                throw Keyfile.Error(
                    file: file, line: number, message: "is not a line of a fixture: \(Printable.text(String(line), limit: 80))")
            }
        }
        guard hasResult, !turns.isEmpty else {
            throw Keyfile.Error(file: file, line: number, message: "has no requests (>) or no result (=)")
        }
    }

    private static func words(_ line: Substring) -> (String, String) {
        let text = line.drop { $0 == " " }
        let first = text.prefix { $0 != " " }
        return (String(first), String(text.dropFirst(first.count).drop { $0 == " " }))
    }

    private mutating func readSetting(_ words: (key: String, value: String)) -> Bool {
        let pair = words.value.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        switch words.key {
        case "answer" where pair.count == 2: typed[pair[0]] = pair[1]
        case "remember" where pair.count == 2: stored[pair[0]] = pair[1]
        case "consent": consents = true
        case "agreed": agreed.append(words.value)
        case "link": address = words.value
        case "time":
            guard let value = Int(words.value) else { return false }
            time = value
        default: return false
        }
        return true
    }

    private mutating func readResult(_ words: (key: String, value: String)) -> Bool {
        switch words.key {
        case "reason": reason = words.value
        case "asks": asks = words.value.split(separator: " ").map(String.init)
        case "claims":
            guard let confidence = Confidence(rawValue: words.value) else { return false }
            claims = confidence
        default:
            guard let known = HelperResult(rawValue: words.key) else { return false }
            result = known
        }
        return true
    }

    private mutating func readTurn(_ line: Substring, _ number: Int) -> Bool {
        let isRequest = line.first == ">"
        let rest = line.dropFirst()
        if rest.first == "|" {
            let text = String(rest.dropFirst().drop { $0 == " " && rest.dropFirst().first == " " }.prefix(65536))
            guard !turns.isEmpty else { return false }
            let last = turns.count - 1
            if isRequest {
                turns[last].body += (turns[last].body.isEmpty ? "" : "\n") + text
            } else {
                turns[last].answer += text + "\n"
            }
            return true
        }
        let (first, value) = Self.words(rest)
        if isRequest, ["GET", "POST"].contains(first) {
            turns.append(Turn(line: number, method: first, url: value))
            return true
        }
        guard let last = turns.indices.last else { return false }
        if !isRequest, let status = Int(first) {
            (turns[last].status, turns[last].phrase) = (status, value)
        } else if !isRequest, first == "lost" {
            turns[last].isLost = true
        } else if first.hasSuffix(":") {
            let header = HTTPResponse.Header(name: String(first.dropLast()).lowercased(), value: value)
            if isRequest { turns[last].headers.append(header) } else { turns[last].answerHeaders.append(header) }
        } else {
            return false
        }
        return true
    }
}
