import CCurl
import HotspotCore

/// A request to a server.
public struct HTTPRequest: Sendable {
    /// The two methods that portals need.
    public enum Method: String, Sendable, Codable {
        case get = "GET"
        case post = "POST"
    }

    /// The address that is requested.
    public var url: WebURL
    /// The method.
    public var method: Method
    /// The encoded pairs of a form; only for POST.
    public var body: String?
    /// The type of the body.
    public var contentType = "application/x-www-form-urlencoded"
    /// The value of the `Accept` header.
    public var accept = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
    /// Asks caches not to answer (`Cache-Control: no-cache`).
    public var noCache = false
    /// The page that led to this request.
    public var referer: WebURL?
    /// SHA-256 in base64 of the only public key that may receive this request; checked before the first octet of the request is
    /// sent.
    public var requiredPin: String?
    /// Whether the request may carry the user's answers, which no redirect may take to another origin.
    package var carriesAnswers = true
    /// Called when the connection is open and, for https, the server's certificate is checked, but before any part of the
    /// request is sent. Its argument is the round trip to the server in milliseconds, if the kernel knows it.
    package var onConnected: (@Sendable (Int?) -> Void)?
    /// The largest part of the answer's body that is kept, in octets.
    public var bodyLimit = HTTPRequest.pageLimit
    /// Whether a longer body is an error (`tooLarge`) instead of being cut.
    public var refusesLongBody = false
    /// Additional headers, beside those that are always sent.
    package var headers: [HTTPResponse.Header] = []
    /// Whether the request needs a new connection, which is then closed and not used for another request.
    public var needsFreshConnection = false
    /// The server's address, if it is known without a nameserver.
    package var address: InternetAddress?
    /// Called with the target of a redirect as soon as the answer's head is read.
    package var onRedirect: (@Sendable (String) -> Void)?

    /// The largest part of a page that is read, as delivered, in octets: 256 KiB.
    public static let pageLimit = 256 * 1024

    /// Makes a GET.
    public init(_ url: WebURL) {
        self.url = url
        method = .get
    }

    /// The `Referer` header by the default policy of pages, `strict-origin-when-cross-origin` (Referrer Policy, 3.7): the page's
    /// address if the target has the same origin, otherwise only the origin; no header from https to http.
    package var referrer: String? {
        guard let referer, !referer.isSecure || url.isSecure else { return nil }
        return referer.origin == url.origin ? referer.text : referer.origin + "/"
    }

    /// The `Origin` header of a POST (Fetch, 3.2): the page's origin, or `null` from https to http. If no page led to the
    /// request, the target's own origin.
    package var originHeader: String {
        guard let referer else { return url.origin }
        return referer.isSecure && !url.isSecure ? "null" : referer.origin
    }

    /// Makes a POST of a form.
    public init(posting pairs: [(name: String, value: String)], to url: WebURL) {
        self.url = url
        method = .post
        body = WebURL.encode(pairs)
    }
}

/// A server's answer.
public struct HTTPResponse: Sendable {
    /// One line of the head.
    public struct Header: Sendable, Hashable {
        /// The name in lower case.
        public let name: String
        /// The value without surrounding blanks.
        public let value: String

        package init(name: String, value: String) {
            self.name = name
            self.value = value
        }
    }

    /// The address that was requested.
    public let url: WebURL
    /// The status, 100 to 599.
    public let status: Int
    /// The text after the status, by which some gateways can be recognised.
    public let phrase: String
    /// All headers, in their order.
    public let headers: [Header]
    /// The body as delivered, at most the request's limit.
    public let body: [UInt8]
    /// Whether the body was longer than the request's limit and was cut.
    public let isTruncated: Bool
    /// SHA-256 of the server's public key, base64; `nil` over plain HTTP.
    public let pin: String?
    /// The server's address.
    public let address: String
    /// The time of the whole request, from resolving the name to the end of the answer, in milliseconds.
    public let milliseconds: Int
    /// The client's cookies after this answer.
    package let cookies: CookieJar

    /// Returns the first header of this name, given in lower case.
    public subscript(_ name: String) -> String? { headers.first { $0.name == name }?.value }

    /// The target of a redirect, from the `Location` header.
    public var location: String? {
        switch status {
        case 301, 302, 303, 307, 308: self["location"].flatMap { $0.isEmpty ? nil : $0 }
        default: nil
        }
    }

    package init(
        url: WebURL, status: Int, phrase: String = "", headers: [Header] = [], body: [UInt8] = [], isTruncated: Bool = false,
        pin: String? = nil, address: String = "", milliseconds: Int = 0, cookies: CookieJar = CookieJar()
    ) {
        self.url = url
        self.status = status
        self.phrase = phrase
        self.headers = headers
        self.body = body
        self.isTruncated = isTruncated
        self.pin = pin
        self.address = address
        self.milliseconds = milliseconds
        self.cookies = cookies
    }
}

extension HTTPResponse {
    /// Reads a date of a header (RFC 9110, section 5.6.7) as Unix time.
    package static func time(_ text: String) -> Int? {
        let time = curl_getdate(text, nil)
        return time > 0 ? time : nil
    }
}
