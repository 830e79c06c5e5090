import HotspotCore
import Varlink

/// The answer of a captive portal API (RFC 8908, section 5). An invalid answer is treated as if there were no API.
public struct PortalAPIDocument: Hashable, Sendable {
    /// The only media type in the `Accept` header; some servers compare the whole header with it.
    public static let mediaType = "application/captive+json"
    /// The longest document, in octets.
    public static let limit = 4096

    /// Whether the network is captive.
    public var captive: Bool
    /// The page for the login; not `nil` if captive.
    public var portalURL: WebURL?
    /// A page about the venue.
    public var venueURL: WebURL?
    /// Whether the session can be extended at the portal's page.
    public var canExtend: Bool?
    /// The remaining time of a session with a time limit, in seconds.
    public var secondsRemaining: Int?
    /// The remaining volume of a session with a volume limit, in octets.
    public var bytesRemaining: Int?

    /// Returns the API's address as RFC 8910 announces it, if it may be used: https, no user information, ASCII without blanks.
    public static func address(_ text: String?, policy: RedirectPolicy = RedirectPolicy()) -> WebURL? {
        guard let text, text.utf8.count <= 2000, text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }), let url = WebURL(text),
            url.isSecure, (try? policy.check(url)) != nil
        else { return nil }
        return url
    }

    /// Reads an answer; `nil` unless its status, media type and content are valid.
    public init?(_ response: HTTPResponse, policy: RedirectPolicy = RedirectPolicy()) {
        let type = response["content-type"]?.split(separator: ";").first.map { PageText.squeezed($0).lowercased() }
        guard response.status == 200, type == Self.mediaType, !response.isTruncated, response.body.count <= Self.limit
        else { return nil }
        self.init(response.body, policy: policy)
    }

    init?(_ body: [UInt8], policy: RedirectPolicy = RedirectPolicy()) {
        guard body.count <= Self.limit, let value = try? Coding.decode(JSONValue.self, from: body),
            let captive = value["captive"]?.bool
        else { return nil }
        self.captive = captive
        func url(_ key: String) -> WebURL? {
            guard let url = value[key]?.string.flatMap(WebURL.init), (try? policy.check(url)) != nil else { return nil }
            return url
        }
        portalURL = url("user-portal-url")
        venueURL = url("venue-info-url")
        canExtend = value["can-extend-session"]?.bool
        func amount(_ key: String) -> Int? {
            switch value[key] {
            case .integer(let number) where number >= 0: number
            case .number(let number) where number >= 0 && number < 9e15: Int(number)
            default: nil
            }
        }
        secondsRemaining = captive ? nil : amount("seconds-remaining")
        bytesRemaining = captive ? nil : amount("bytes-remaining")
        if captive, portalURL == nil { return nil }
    }
}
