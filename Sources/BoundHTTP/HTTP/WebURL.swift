import CCurl
import ForeignText
import Glibc
import HotspotCore

/// A URL as libcurl reads it, so that the check of a URL and the connection to it use the same reading.
public struct WebURL: Hashable, Sendable, CustomStringConvertible {
    /// The longest URL that is accepted, in octets.
    public static let limit = 8192

    /// The whole URL as it is requested; its host in ASCII, without a fragment.
    public let text: String
    /// The scheme in lower case.
    public let scheme: String
    /// The host in lower case and ASCII; IPv6 addresses in brackets.
    public let host: String
    /// The port; the scheme's default port if the URL has none.
    public let port: Int
    /// The path, which begins with `/`.
    public let path: String
    /// The query without the `?`.
    public let query: String?
    /// The fragment without the `#`, which only a browser gets; URLs that differ only in it are equal.
    public private(set) var fragment: String?
    /// Whether the URL contains a user name or a password; neither is ever sent.
    public let hasUserInformation: Bool

    /// Reads an absolute URL of any scheme; `nil` if the text is not a URL, is too long, or has control characters.
    public init?(_ text: String) { self.init(text, base: nil) }

    /// Reads a reference as a browser would on the page `base`; `nil` for the same reasons as ``init(_:)``.
    public init?(_ reference: String, relativeTo base: WebURL) { self.init(reference, base: base.text) }

    private init?(_ reference: String, base: String?) {
        let trimmed = Self.trimmed(reference)
        guard trimmed.utf8.count <= Self.limit, !trimmed.isEmpty || base != nil else { return nil }
        // Control characters would end up in requests: such a reference is refused rather than repaired.
        guard !trimmed.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F }) else { return nil }
        guard let handle = curl_url() else { return nil }
        defer { curl_url_cleanup(handle) }
        // libcurl converts host names in other scripts with the locale's character set, so this thread uses UTF-8 until the
        // initialiser returns.
        let previous = trimmed.utf8.allSatisfy { $0 < 0x80 } ? nil : Self.locale.map { uselocale(locale_t(bitPattern: $0)) }
        defer { if let previous { uselocale(previous) } }
        // Encodes a space, as browsers do: libcurl 7.88 does so by itself, 8.14 only if it is asked to.
        let flags = UInt32(CURLU_NON_SUPPORT_SCHEME | CURLU_URLENCODE | CURLU_ALLOW_SPACE)
        if let base { guard curl_url_set(handle, CURLUPART_URL, base, flags) == CURLUE_OK else { return nil } }
        // For a reference to a place on the same page, libcurl 7.88 would drop the last part of the path, so the base is used
        // as it is.
        if base == nil || !trimmed.hasPrefix("#") {
            guard curl_url_set(handle, CURLUPART_URL, trimmed, flags) == CURLUE_OK else { return nil }
        }
        func part(_ which: CURLUPart, _ flags: Int32 = 0) -> String? {
            var value: UnsafeMutablePointer<CChar>?
            guard curl_url_get(handle, which, &value, UInt32(flags)) == CURLUE_OK, let value else { return nil }
            defer { curl_free(value) }
            return String(cString: value)
        }
        guard let scheme = part(CURLUPART_SCHEME)?.lowercased(), var host = part(CURLUPART_HOST, CURLU_PUNYCODE)?.lowercased()
        else {
            return nil
        }
        hasUserInformation = part(CURLUPART_USER) != nil || part(CURLUPART_PASSWORD) != nil
        // Removes trailing dots: with or without them, the host is the same, but the text would not match the pinned answer.
        while host.hasSuffix("."), host.count > 1 { host.removeLast() }
        guard !host.isEmpty, host.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }),
            curl_url_set(handle, CURLUPART_HOST, host, 0) == CURLUE_OK
        else { return nil }
        fragment = part(CURLUPART_FRAGMENT) ?? (trimmed.hasPrefix("#") ? String(trimmed.dropFirst()) : nil)
        _ = curl_url_set(handle, CURLUPART_FRAGMENT, nil, 0)
        guard let text = part(CURLUPART_URL, CURLU_PUNYCODE), text.utf8.count <= Self.limit else { return nil }
        self.text = text
        self.scheme = scheme
        self.host = host
        port = part(CURLUPART_PORT, CURLU_DEFAULT_PORT).flatMap(Int.init) ?? 0
        path = part(CURLUPART_PATH) ?? "/"
        query = part(CURLUPART_QUERY)
    }

    public static func == (one: WebURL, other: WebURL) -> Bool { one.text == other.text }
    public func hash(into hasher: inout Hasher) { hasher.combine(text) }

    /// The whole URL with its fragment, for a browser; without the fragment if it would be too long.
    package var href: String {
        let whole = text + (fragment.map { "#" + $0 } ?? "")
        return whole.utf8.count <= Self.limit ? whole : text
    }

    /// Returns this target of a redirect; without a fragment, it has the fragment of the redirected URL (RFC 9110, 10.2.2).
    package func redirected(from url: WebURL) -> WebURL {
        var target = self
        target.fragment = fragment ?? url.fragment
        return target
    }

    /// `scheme://host[:port]`, the port only if it is not the scheme's default port.
    public var origin: String {
        let usual = scheme == "https" ? 443 : 80
        return "\(scheme)://\(host)" + (port == usual ? "" : ":\(port)")
    }

    /// Whether the scheme is https.
    public var isSecure: Bool { scheme == "https" }

    /// The same as ``text``.
    public var description: String { text }

    /// The URL for the trace: without the query, which often has tokens and names.
    public var masked: String { origin + path + (query == nil ? "" : "?…") }

    /// The URL for the user: without parts that look like a name, a session or a token.
    package var shown: String {
        var path = ""
        for segment in self.path.split(separator: "/", omittingEmptySubsequences: true) {
            let previous = path.split(separator: "/").last.map { $0.lowercased() } ?? ""
            guard Self.isPlain(segment), !Self.personal.contains(previous) else { return origin + path + "/" }
            path += "/" + segment
        }
        if self.path.hasSuffix("/") || path.isEmpty { path += "/" }
        guard let query, !query.isEmpty else { return origin + path }
        let isPlain = query.split(separator: "&").allSatisfy { pair in
            let sides = pair.split(separator: "=", maxSplits: 1)
            return sides.allSatisfy(Self.isPlain) && !Self.personal.contains(sides[0].lowercased())
        }
        return origin + path + (isPlain ? "?" + query : "")
    }

    /// Path segments and parameters before private data: the next segment, or the parameter's value, names a person, a device or
    /// a session.
    private static let personal: Set<String> = [
        "guest", "guests", "user", "users", "username", "name", "surname", "member", "account", "room", "email", "mail", "phone",
        "mobile",
        "client", "clientmac", "client_mac", "mac", "id", "sid", "session", "sessionid", "token", "tok", "key", "auth", "code",
        "voucher",
        "challenge", "magic", "hid", "fas", "ip", "password", "pass", "pwd", "hash", "uid", "visit",
    ]

    /// Returns whether a part of an address consists of words and small numbers.
    private static func isPlain(_ part: Substring) -> Bool {
        part.utf8.count <= 24 && part.utf8.count { (0x30...0x39).contains($0) } <= 3
            && part.utf8.allSatisfy { $0 != 0x25 && $0 != 0x3A && $0 != 0x40 && $0 != 0x3B }
    }

    /// Returns the URL with another query.
    package func replacingQuery(_ query: String) -> WebURL? {
        WebURL(origin + path + (query.isEmpty ? "" : "?" + query))
    }

    /// Encodes pairs as `application/x-www-form-urlencoded`, in their order; all characters except unreserved ones (RFC 3986,
    /// section 2.3) are escaped.
    public static func encode(_ pairs: [(name: String, value: String)]) -> String {
        encode(pairs) { Array($0.utf8) }
    }

    /// Encodes pairs as form data; `octets` returns a text's octets in the page's character set.
    package static func encode(_ pairs: [(name: String, value: String)], _ octets: (String) -> [UInt8]) -> String {
        pairs.map { escape(octets($0.name)) + "=" + escape(octets($0.value)) }.joined(separator: "&")
    }

    private static func escape(_ octets: [UInt8]) -> String {
        let octets = octets.map { CChar(bitPattern: $0) }
        // Handles an empty text here: for a length of 0, curl would search for a NUL that ends the text.
        guard !octets.isEmpty, let escaped = curl_easy_escape(nil, octets, Int32(octets.count)) else { return "" }
        defer { curl_free(escaped) }
        return String(cString: escaped)
    }

    /// The UTF-8 locale, as a number because a pointer is not sendable; made once and never freed.
    private static let locale: UInt? = newlocale(LC_CTYPE_MASK, "C.UTF-8", nil).map { UInt(bitPattern: $0) }

    private static func trimmed(_ text: String) -> String {
        let space: (UInt8) -> Bool = { $0 == 0x20 || $0 == 0x09 || $0 == 0x0A || $0 == 0x0D }
        var octets = Array(text.utf8)[...]
        while let first = octets.first, space(first) { octets = octets.dropFirst() }
        while let last = octets.last, space(last) { octets = octets.dropLast() }
        return String(decoding: octets, as: UTF8.self)
    }
}
