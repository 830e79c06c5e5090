import ForeignText
import HotspotCore
import Varlink

/// The answer of a captive portal API (RFC 8908, 5). What is wrong in any way is as if there were no API.
public struct PortalAPIDocument: Hashable, Sendable {
    /// The only media type that is asked for; some servers compare it as text.
    public static let mediaType = "application/captive+json"
    /// Octets of a document at most.
    public static let limit = 4096

    /// A portal stands between us and the Internet.
    public var captive: Bool
    /// The page to log in with; present if captive.
    public var portalURL: WebURL?
    /// A page about the place.
    public var venueURL: WebURL?
    /// The page may be opened again before the session ends.
    public var canExtend: Bool?
    /// Of a session limited in time.
    public var secondsRemaining: Int?
    /// Of a session limited in volume.
    public var bytesRemaining: Int?

    /// The API's address, if RFC 8910 gave one that may be asked: https, no user information, ASCII without blanks.
    public static func address(_ text: String?, policy: RedirectPolicy = RedirectPolicy()) -> WebURL? {
        guard let text, text.utf8.count <= 2000, text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }), let url = WebURL(text),
            url.isSecure, (try? policy.check(url)) != nil
        else { return nil }
        return url
    }

    /// Reads an answer; `nil` if it is not exactly what it should be.
    public init?(_ response: HTTPResponse, policy: RedirectPolicy = RedirectPolicy()) {
        let type = response["content-type"]?.split(separator: ";").first.map { PageText.squeezed($0).lowercased() }
        guard response.status == 200, type == Self.mediaType, !response.isTruncated, response.body.count <= Self.limit,
            !response.isEncoded
        else { return nil }
        self.init(response.body, policy: policy)
    }

    init?(_ body: [UInt8], policy: RedirectPolicy = RedirectPolicy()) {
        guard body.count <= Self.limit, StreamSafe.isSafe(json: body), let value = try? Coding.decode(JSONValue.self, from: body),
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
