import HotspotCore

/// What is asked of a server.
public struct HTTPRequest: Sendable {
    /// The two methods that portals need.
    public enum Method: String, Sendable, Codable {
        case get = "GET"
        case post = "POST"
    }

    /// Where.
    public var url: WebURL
    /// How.
    public var method: Method
    /// A form's pairs, already encoded; only with POST.
    public var body: String?
    /// The only `Accept` header.
    public var accept = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
    /// Ask caches to stay out of it.
    public var noCache = false
    /// The page that led here.
    public var referer: WebURL?
    /// SHA-256 of the only public key that may receive this request, base64; checked before the first octet of it is sent.
    public var requiredPin: String?
    /// Octets of the answer's body that are kept.
    public var bodyLimit = HTTPRequest.pageLimit
    /// A longer body is an error rather than cut.
    public var refusesLongBody = false
    /// Neither an old connection nor one for later.
    public var needsFreshConnection = false

    /// Octets of a page that are read: 256 KiB, counted as delivered.
    public static let pageLimit = 256 * 1024

    /// A GET.
    public init(_ url: WebURL) {
        self.url = url
        method = .get
    }

    /// A POST of a form.
    public init(posting pairs: [(name: String, value: String)], to url: WebURL) {
        self.url = url
        method = .post
        body = WebURL.encode(pairs)
    }
}

/// What a server answered.
public struct HTTPResponse: Sendable {
    /// One line of the head.
    public struct Header: Sendable, Hashable {
        /// Lower case.
        public let name: String
        /// Trimmed.
        public let value: String
    }

    /// What was asked.
    public let url: WebURL
    /// 100 to 599.
    public let status: Int
    /// The text after the status, which gives some gateways away.
    public let phrase: String
    /// All lines, in their order.
    public let headers: [Header]
    /// What was delivered, at most the request's limit.
    public let body: [UInt8]
    /// More would have come.
    public let isTruncated: Bool
    /// SHA-256 of the server's public key, base64; `nil` over plain HTTP.
    public let pin: String?
    /// Who answered.
    public let address: String
    /// From the first question to the end.
    public let milliseconds: Int

    /// The first header of this name.
    public subscript(_ name: String) -> String? { headers.first { $0.name == name }?.value }

    /// The server compressed the body though nobody asked it to; nobody unpacks it either.
    public var isEncoded: Bool {
        guard let encoding = self["content-encoding"]?.lowercased() else { return false }
        return !encoding.isEmpty && encoding != "identity"
    }

    /// The header's target of a redirect.
    public var location: String? {
        switch status {
        case 301, 302, 303, 307, 308: self["location"].flatMap { $0.isEmpty ? nil : $0 }
        default: nil
        }
    }

    init(
        url: WebURL, status: Int, phrase: String = "", headers: [Header] = [], body: [UInt8] = [], isTruncated: Bool = false,
        pin: String? = nil, address: String = "", milliseconds: Int = 0
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
    }
}
