/// The cookies of one login, in memory only. libcurl decides which server gets a cookie (with the public suffix list); this
/// type limits the number and length of cookies.
public struct CookieJar: Sendable, Hashable {
    /// The largest number of cookies.
    public static let limit = 50
    /// The longest line of one cookie, in octets.
    static let lineLimit = 4096
    /// The cookies in the Netscape format of libcurl.
    public private(set) var lines: [String]

    /// Makes a jar from the lines of an earlier jar; leaves out malformed and overlong lines.
    public init(lines: [String] = []) {
        self.lines = Array(
            lines.filter { $0.utf8.count <= Self.lineLimit && $0.split(separator: "\t").count >= 6 }.suffix(Self.limit))
    }

    /// Returns the lines that fit into `octets`, to store in a session's memory.
    public func lines(within octets: Int) -> [String] {
        var left = octets
        return lines.filter { line in
            left -= line.utf8.count + 4
            return left >= 0
        }
    }
}
