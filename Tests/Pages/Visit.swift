import Foundation
import HelperKit
import HotspotCore
import PageLogin

/// A portal that answers from a case's files.
final class PlayedPortal: Sendable {
    /// One answer of the portal.
    struct Answer: Decodable {
        /// The file with the body.
        let page: String?
        let status: Int?
        let headers: [String: String]?
        /// Whether the network is open from this answer on.
        let opens: Bool?
    }

    private let visit: PageCase
    private let probe: String
    private let state = Locked((isOpen: false, requests: [String]()))

    init(_ visit: PageCase, probe: String) { (self.visit, self.probe) = (visit, probe) }

    /// Returns the requests since the last call, without those of the probe.
    func takeRequests() -> [String] {
        state.with { state in
            defer { state.requests = [] }
            return state.requests
        }
    }

    @Sendable func answer(_ request: HTTPRequest) -> Result<HTTPResponse, TransferError> {
        guard request.url.host != probe else {
            let isOpen = state.with(\.isOpen)
            let location = HTTPResponse.Header(name: "location", value: visit.url)
            return .success(HTTPResponse(url: request.url, status: isOpen ? 204 : 302, headers: isOpen ? [] : [location]))
        }
        let key = "\(request.method.rawValue) \(request.url.text)"
        state.with { $0.requests.append(key + (request.body.map { " \($0)" } ?? "")) }
        // A case need not repeat its first page, nor the query of a form that sends one.
        let known = visit.portal?[key] ?? visit.portal?[String(key.prefix { $0 != "?" })]
        guard known != nil || key == "GET \(WebURL(visit.url)?.text ?? "")" else {
            return .failure(TransferError(.connectFailed))
        }
        let body = known?.page.map { FileManager.default.contents(atPath: "\(visit.folder)/\($0)").map(Array.init) ?? [] }
        if known?.opens == true { state.with { $0.isOpen = true } }
        let headers = (known?.headers ?? [:]).map { HTTPResponse.Header(name: $0.key.lowercased(), value: $0.value) }
        return .success(
            HTTPResponse(
                url: request.url, status: known?.status ?? 200, headers: headers, body: body ?? (known == nil ? visit.page : []),
                pin: request.url.isSecure ? "key" : nil))
    }
}

/// A login that is played by the form helper, command by command.
struct Visit {
    /// One command, and its outcome.
    struct Command: Decodable {
        /// The user's answers, by the name of the field. The first command has none.
        let types: [String: String]?
        let result: HelperResult
        /// Words of the text that the user reads.
        let says: String?
        /// The fields of the question, in their order.
        let fields: [ExpectedField]?
        /// The number of the page rule that ruled last.
        let rule: String?
        /// The requests, each with its method, address and body.
        let requests: [String]?
    }

    private let portal: PlayedPortal
    private var command: HelperCommand

    init(_ page: PageCase, _ saved: SavedPage) {
        let probe = "probe.test"
        portal = PlayedPortal(page, probe: probe)
        var saved = saved
        saved.policy = .played(by: portal.answer)
        command = saved.command(kind: "form")
        command.link.probeURL = "http://\(probe)/"
    }

    /// The end of a command.
    struct End: Encodable {
        let result: HelperResult
        let rule: String?
        let says: String
        let requests: [String]
        /// How it differs from the expected end.
        let difference: [String]
    }

    /// Plays the commands, and returns their ends.
    func play(_ commands: [Command]) -> [End] {
        var (command, result) = (command, [End]())
        for (number, expected) in commands.enumerated() {
            command.answers = expected.types ?? [:]
            let reply = FormLogin(kind: "form", command: command).run(from: nil, isTypedNow: expected.types != nil)
            var differences = expected.result == reply.result ? [] : ["result: \(reply.result.rawValue)"]
            let text = [reply.reason, reply.prompt?.message].compactMap(\.self).joined(separator: " ")
            differences += Ruling.difference(words: expected.says, in: text)
            if let wanted = expected.fields { differences += Ruling.difference(wanted, reply.prompt?.fields ?? []) }
            let rule = reply.trace?.last { $0.hasPrefix("page rule ") }?.dropFirst(10).prefix { $0 != ":" }
            if let wanted = expected.rule, rule != wanted[...] { differences.append("rule: \(rule ?? "none")") }
            let requests = portal.takeRequests()
            if let wanted = expected.requests, wanted != requests { differences.append("requests: \(requests)") }
            result.append(
                End(
                    result: reply.result, rule: rule.map(String.init), says: text, requests: requests,
                    difference: differences.map { "visit \(number + 1): \($0)" }))
            if let known = reply.portal { command.portal = known }
            command.session = reply.session
        }
        return result
    }
}
