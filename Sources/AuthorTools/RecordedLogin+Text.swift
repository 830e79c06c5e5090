import ForeignText
import HelperKit
import HotspotCore

extension RecordedLogin.Turn {
    /// Headers to leave out: they do not describe the portal, and change at each visit.
    private static let left: Set<String> = [
        "age", "connection", "content-length", "date", "etag", "expires", "keep-alive", "last-modified", "transfer-encoding",
    ]

    init(_ request: HTTPRequest, _ outcome: Result<HTTPResponse, TransferError>) {
        self.init(line: 0, method: request.method.rawValue, url: request.url.text)
        describe(request)
        switch outcome {
        case .failure: isLost = true
        case .success(let response):
            (status, phrase) = (response.status, response.phrase)
            answerHeaders = response.headers.filter { !Self.left.contains($0.name) }
            answer = Self.lines(String(decoding: response.body, as: UTF8.self))
        }
    }

    /// Copies the address, body and headers of a request.
    mutating func describe(_ request: HTTPRequest) {
        (url, body) = (request.url.text, request.body ?? "")
        headers = request.headers.map { HTTPResponse.Header(name: $0.name.lowercased(), value: $0.value) }
        if request.body != nil, request.contentType != "application/x-www-form-urlencoded" {
            headers.append(HTTPResponse.Header(name: "content-type", value: request.contentType))
        }
    }

    /// Returns a text with the line ends of a fixture. Replaces all other control characters except tabs, because a terminal may obey them.
    private static func lines(_ text: String) -> String {
        let scalars = text.replacing("\r\n", with: "\n").replacing("\r", with: "\n").unicodeScalars
        return String(String.UnicodeScalarView(scalars.map { $0.value < 32 && $0 != "\n" && $0 != "\t" ? "\u{FFFD}" : $0 }))
    }

    /// Returns the turn with all its texts changed.
    func mapped(_ change: (String) -> String) -> RecordedLogin.Turn {
        func mapped(_ header: HTTPResponse.Header) -> HTTPResponse.Header {
            HTTPResponse.Header(name: header.name, value: change(header.value))
        }
        var turn = self
        (turn.url, turn.body, turn.phrase, turn.answer) = (change(url), change(body), change(phrase), change(answer))
        (turn.headers, turn.answerHeaders) = (headers.map(mapped), answerHeaders.map(mapped))
        return turn
    }

    fileprivate var lines: [String] {
        var lines = ["> \(method) \(url)"] + headers.map { "> \($0.name): \($0.value)" }
        lines += body.isEmpty ? [] : Self.split(body).map { ">| \($0)" }
        guard !isLost else { return lines + ["< lost"] }
        lines += ["< \(status) \(phrase)"] + answerHeaders.map { "< \($0.name): \($0.value)" }
        return lines + Self.split(answer).map { "<| \($0)" }
    }

    private static func split(_ text: String) -> [Substring] {
        var lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        if lines.last == "" { lines.removeLast() }
        return lines
    }
}

extension RecordedLogin {
    /// The portal's last answer as a sentence.
    var lastWords: String {
        guard let last = turns.last, !last.isLost, let url = WebURL(last.url) else { return "the portal did not answer" }
        let text = HTMLPage.read(Array(last.answer.utf8), at: url).text
        return Printable.text("the portal answered: \(last.status) \(last.phrase) \(text)", limit: 300)
    }

    /// The number of requests.
    package var count: Int { turns.count }

    /// The fixture as the text of its file.
    package var text: String {
        var lines = typed.sorted { $0.key < $1.key }.map { "answer \($0.key)=\($0.value)" } + ["link \(address)"]
        lines += turns.flatMap(\.lines) + ["= \(result.rawValue)"]
        if let reason { lines.append("= reason \(reason)") }
        if let asks { lines.append("= asks \(asks.joined(separator: " "))") }
        if let claims { lines.append("= claims \(claims.rawValue)") }
        return lines.joined(separator: "\n") + "\n"
    }

    /// Replaces private data: the user's answers, this machine's addresses and name, and tokens. Words that belong to the portal's own names are
    /// kept.
    func anonymous(
        typed secrets: [String], addresses: [String], name: String, own: [String] = [], recordedAt time: Int
    ) -> RecordedLogin {
        let texts = turns.flatMap { [$0.url, $0.body, $0.answer] + ($0.headers + $0.answerHeaders).map(\.value) }
        var replacements = Replacements(recordedAt: time, fixed: self.time, own: own)
        // The longest answers come first, so that a part of an answer becomes a part of its made-up value.
        for secret in secrets.sorted(by: { $0.utf8.count > $1.utf8.count }) { replacements.addAnswer(secret) }
        for address in addresses { replacements.addAddress(address, in: texts) }
        replacements.addName(name)
        for header in turns.flatMap(\.answerHeaders) where header.name == "set-cookie" { replacements.addCookie(header.value) }
        for turn in turns {
            guard let url = WebURL(turn.url) else { continue }
            let controls = HTMLPage.read(Array(turn.answer.utf8), at: url).forms.flatMap(\.controls)
            for control in controls where control.kind == .hidden { replacements.addHidden(control.value, of: control.name) }
        }
        for text in texts { replacements.learn(text) }
        var exchange = self
        exchange.turns = turns.map { $0.mapped(replacements.apply) }
        exchange.typed = Dictionary(
            typed.map { (replacements.apply($0), replacements.apply($1)) }, uniquingKeysWith: { first, _ in first })
        exchange.address = replacements.apply(address)
        exchange.reason = reason.map(replacements.apply)
        return exchange
    }
}
