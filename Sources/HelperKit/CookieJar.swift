/// The cookies of one login, in memory only. libcurl decides which cookie goes where (with the public suffix list); the caps are ours.
public struct CookieJar: Sendable, Hashable {
    /// Cookies at most.
    public static let limit = 50
    /// Octets of one cookie's line at most.
    static let lineLimit = 4096
    /// In the Netscape format of libcurl's engine.
    public private(set) var lines: [String]

    /// A jar with lines that came from a jar.
    public init(lines: [String] = []) {
        self.lines = Array(
            lines.filter { $0.utf8.count <= Self.lineLimit && $0.split(separator: "\t").count >= 6 }.suffix(Self.limit))
    }

    /// The lines that fit into so many octets, for a session's memory.
    public func lines(within octets: Int) -> [String] {
        var left = octets
        return lines.filter { line in
            left -= line.utf8.count + 4
            return left >= 0
        }
    }
}
