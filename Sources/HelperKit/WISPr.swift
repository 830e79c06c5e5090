import ForeignText
import HotspotCore

/// One document of a WISPr gateway (Wi-Fi Alliance, WISPr 1.0), as `portals.md`, 1.5 says that real gateways write it.
public struct WISPrDocument: Hashable, Sendable {
    /// Redirect 100, Proxy 110, AuthenticationReply 120, LogoffReply 130, AuthenticationPollReply 140, AbortLoginReply 150.
    public var messageType: Int?
    /// 0 none, 50 logged in, 100 refused, 102 server trouble, 105 not possible here, 150 logged off, 200 go on, 201 pending, 255 gateway's fault.
    public var responseCode: Int?
    /// Where to post the credentials.
    public var loginURL: String?
    /// Where to end the session.
    public var logoffURL: String?
    /// Where to ask for a pending result.
    public var resultsURL: String?
    /// Where a proxy sends us.
    public var nextURL: String?
    /// Seconds to wait before asking.
    public var delay: Int?
    /// What the gateway says to the user.
    public var message: String?
    /// The place.
    public var locationName: String?
    /// Seconds that the session lasts.
    public var sessionSeconds: Int?

    /// The last document in a body, wherever it stands: in a comment, between tags, with blanks and a broken CDATA.
    public static func find(in body: [UInt8]) -> WISPrDocument? {
        let octets = body.prefix(HTTPRequest.pageLimit)
        // Only the last document counts: a search from the end cannot be led astray by beginnings that never end.
        guard let start = Search.last("<WISPAccessGatewayParam", in: octets) else { return nil }
        let inner = octets[start...].prefix(Self.limit)
        guard let end = Search.first("</WISPAccessGatewayParam", in: inner) else { return nil }
        let text = StreamSafe.text(String(decoding: inner[..<end].map { $0 == 0 ? 0x20 : $0 }, as: UTF8.self))
        return WISPrDocument(element: text[...])
    }

    /// Octets of one document at most.
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

    /// Asks for a login.
    public var isRedirect: Bool { loginURL != nil && (messageType == nil || messageType == 100) }

    /// Sends us elsewhere first.
    public var isProxy: Bool { nextURL != nil && (messageType == 110 || responseCode == 200) }

    private static func unwrapped(_ text: Substring) -> String {
        var text = String(text)
        // CoovaChilli writes the literal without its beginning.
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
