import BoundHTTP
import ForeignText
import HotspotCore

/// One XML document of a WISPr gateway (Wi-Fi Alliance, WISPr 1.0, appendix D). Reading is lenient: real gateways write the document in HTML
/// comments, with stray blanks, unescaped ampersands and broken CDATA.
public struct WISPrDocument: Hashable, Sendable {
    /// The kind of the message: Redirect 100, Proxy 110, AuthenticationReply 120, LogoffReply 130, AuthenticationPollReply 140,
    /// AbortLoginReply 150.
    public var messageType: Int?
    /// The result: 0 none, 50 logged in, 100 refused, 102 authentication server failed, 105 not possible here, 150 logged off, 200 continue, 201
    /// pending, 255 gateway failed.
    public var responseCode: Int?
    /// The address to which the credential is sent.
    public var loginURL: String?
    /// The address that ends the session.
    public var logoffURL: String?
    /// The address that returns a pending result.
    public var resultsURL: String?
    /// The address to which a proxy sends the client.
    public var nextURL: String?
    /// The wait before the next request, in seconds.
    public var delay: Int?
    /// The gateway's message to the user, at most 200 characters.
    public var message: String?
    /// The name of the place, at most 100 characters.
    public var locationName: String?
    /// The length of the session, in seconds.
    public var sessionSeconds: Int?

    /// Returns the last document in a body, anywhere in its text; `nil` if there is none.
    public static func find(in body: [UInt8]) -> WISPrDocument? {
        let octets = body.prefix(HTTPRequest.pageLimit)
        // Searches from the end, so that many unclosed opening tags cost no time.
        guard let start = octets.lastIndex(of: "<WISPAccessGatewayParam") else { return nil }
        let inner = octets[start...].prefix(Self.limit)
        guard let end = inner.firstIndex(of: "</WISPAccessGatewayParam") else { return nil }
        let text = StreamSafe.text(String(decoding: inner[..<end].map { $0 == 0 ? 0x20 : $0 }, as: UTF8.self))
        return WISPrDocument(element: text[...])
    }

    /// The longest document, in octets.
    private static let limit = 16 * 1024

    private init?(element: Substring) {
        func value(_ name: String) -> String? {
            guard let open = element.firstRange(of: "<" + name) else { return nil }
            let after = element[open.upperBound...]
            guard let next = after.first, next == ">" || next.isWhitespace, let close = after.firstIndex(of: ">") else {
                return nil
            }
            let content = after[after.index(after: close)...]
            guard let end = content.firstRange(of: "</" + name) else { return nil }
            let text = PageText.squeezed(Self.unwrapped(content[..<end.lowerBound]), limit: WebURL.limit)
            return text.isEmpty ? nil : text
        }
        func number(_ name: String) -> Int? {
            value(name).flatMap { Int($0.filter { !$0.isWhitespace }) }.flatMap { (0...10_000_000).contains($0) ? $0 : nil }
        }
        messageType = number("MessageType")
        responseCode = number("ResponseCode")
        loginURL = value("LoginURL")
        logoffURL = value("LogoffURL")
        resultsURL = value("LoginResultsURL")
        nextURL = value("NextURL")
        delay = number("Delay")
        message = value("ReplyMessage").map { Printable.text($0, limit: 200) }
        locationName = value("LocationName").map { Printable.text($0, limit: 100) }
        sessionSeconds = number("MaxSessionTime") ?? number("SessionTimeout")
        if messageType == nil, responseCode == nil, loginURL == nil, nextURL == nil { return nil }
    }

    /// Whether the document asks for a login.
    public var isRedirect: Bool { loginURL != nil && (messageType == nil || messageType == 100) }

    /// Whether the document sends the client to another address first.
    public var isProxy: Bool { nextURL != nil && (messageType == 110 || responseCode == 200) }

    private static func unwrapped(_ text: Substring) -> String {
        var text = String(text)
        // CoovaChilli writes CDATA without the opening `<![`.
        for (open, close) in [("<![CDATA[", "]]>"), ("CDATA[[", "]]"), ("![CDATA[", "]]")] {
            if let start = text.firstRange(of: open), let end = text.firstRange(of: close), start.upperBound <= end.lowerBound {
                text = String(text[start.upperBound..<end.lowerBound])
                break
            }
        }
        for (entity, character) in [
            ("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&apos;", "'"), ("&#38;", "&"), ("&amp;", "&"),
        ] {
            text = text.replacing(entity, with: character)
        }
        return text
    }
}
