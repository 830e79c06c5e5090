import BoundHTTP
import HotspotCore

/// Looks at the requests of a page while answers are typed and sent: one that would carry an answer to another origin, to which the user has
/// not agreed, is held back.
struct AnswerGuard: Sendable {
    /// The origin of the page that the answers are for.
    let origin: String
    /// The answers, as they are typed.
    let answers: [String]
    /// Whether the user has agreed that the answers go to an address.
    let mayLead: @Sendable (WebURL) -> Bool

    /// Answers of fewer characters may stand in any request by chance: there all of them count together.
    private static let telling = 4

    /// Returns the address that a request would carry an answer to, if it is held back.
    ///
    /// - Parameter request: DevTools' `Network.Request`.
    func refused(_ request: JSONValue?) -> WebURL? {
        guard let request, let url = request["url"]?.string.flatMap(WebURL.init), url.origin != origin,
            ["http", "https"].contains(url.scheme), carriesAnswers(request, url), !mayLead(url)
        else { return nil }
        return url
    }

    private func carriesAnswers(_ request: JSONValue, _ url: WebURL) -> Bool {
        let body = request["postData"]?.string
        // What cannot be read may be anything.
        if body == nil, request["hasPostData"]?.bool == true { return true }
        let sent = Self.plain((url.query ?? "") + "\n" + url.path + "\n" + (body ?? ""))
        let typed = answers.map(Self.plain).filter { !$0.isEmpty }
        let long = typed.filter { $0.count >= Self.telling }
        if long.contains(where: sent.contains) { return true }
        return long.isEmpty && !typed.isEmpty && typed.allSatisfy(sent.contains)
    }

    /// Letters and digits alone, however they are written for an address, a form or JSON.
    private static func plain(_ text: String) -> String {
        let decoded = text.replacing("+", with: " ").removingPercentEscapes
        return String(decoded.lowercased().filter { $0.isLetter || $0.isNumber })
    }
}

extension String {
    /// The text with its percent escapes read as UTF-8 (RFC 3986, section 2.1); what is none stays.
    fileprivate var removingPercentEscapes: String {
        var octets: [UInt8] = []
        var rest = Array(utf8)[...]
        while let octet = rest.popFirst() {
            let digits = rest.prefix(2)
            if octet == UInt8(ascii: "%"), digits.count == 2,
                let value = UInt8(String(decoding: digits, as: UTF8.self), radix: 16)
            {
                octets.append(value)
                rest = rest.dropFirst(2)
            } else {
                octets.append(octet)
            }
        }
        return String(decoding: octets, as: UTF8.self)
    }
}
