import CCrypto
import HotspotCore

/// The terms of use of a portal: where they are, and what they said, as far as that must be recognised later.
enum Terms: Hashable, Sendable {
    /// On a page of their own.
    case address(WebURL)
    /// On the page that asks.
    case text(String)

    /// Octets of a terms page that are read for comparison.
    private static let textLimit = 64 * 1024
    /// How long fetching them may take, in milliseconds.
    private static let patience = 5_000
    /// Fingerprints that are kept for one network: pages with several consents are rare.
    static let keptLimit = 8

    /// What tells these terms from others: SHA-256 in base64. Terms on another host count by their address, since a portal has no
    /// business to send us there before the login. `nil` if they cannot be read at present.
    func fingerprint(asking client: HTTPClient, of page: WebURL, in scope: Scope) -> String? {
        switch self {
        case .text(let text): return Self.fingerprint(of: text)
        case .address(let url):
            let byAddress = Self.digest(Array((url.origin + url.path).utf8))
            guard url.host == page.host else { return byAddress }
            guard let response = try? client.send(HTTPRequest(url), in: scope.limited(milliseconds: Self.patience)) else {
                return nil
            }
            if response.status >= 500 { return nil }
            guard response.status == 200 else { return byAddress }
            let type = response["content-type"]?.lowercased() ?? "text/html"
            guard type.hasPrefix("text/") || type.contains("html"), !response.isEncoded else { return Self.digest(response.body) }
            return Self.fingerprint(of: HTMLReader.read(response, textLimit: Self.textLimit).text)
        }
    }

    /// Of the words alone, without those that differ from visit to visit: times, dates, addresses and tokens. A sum, a number of days
    /// or a paragraph counts.
    static func fingerprint(of text: String) -> String {
        let words = text.lowercased().split { $0.isWhitespace }.filter { !isFleeting($0) }
        return digest(Array(words.joined(separator: " ").utf8))
    }

    private static func isFleeting(_ word: Substring) -> Bool {
        let digits = word.utf8.count { $0 >= 0x30 && $0 <= 0x39 }
        guard digits > 0 else { return false }
        // 12:05:33, 02:00:00:aa:bb:cc, 2026-07-01, 1.7.2026, 192.0.2.7
        let separators = word.utf8.count {
            [UInt8(ascii: ":"), UInt8(ascii: "-"), UInt8(ascii: "/"), UInt8(ascii: ".")].contains($0)
        }
        return separators >= 2 || word.contains(":") || (word.utf8.count >= 12 && digits >= 3)
    }

    private static func digest(_ octets: [UInt8]) -> String {
        var hash = [UInt8](repeating: 0, count: 32)
        SHA256(octets, octets.count, &hash)
        return Base64.encode(hash)
    }
}
