/// Reads the tables in `/proc/self/net` (proc(5)).
enum NetworkTable {
    /// Returns the words of each line. Works on octets, because splitting the text by characters took most of the time.
    static func lines(of text: String, limit: Int) -> some Sequence<[Substring]> {
        text.utf8.split(separator: UInt8(ascii: "\n")).prefix(limit).lazy.map { line in
            line.split { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }.map { Substring($0) }
        }
    }

    /// Returns the IPv6 address of 32 hexadecimal digits; `nil` for anything else.
    static func address(_ digits: Substring) -> InternetAddress? {
        guard digits.utf8.count == 32 else { return nil }
        return InternetAddress(stride(from: 0, to: 32, by: 4).map { digits.dropFirst($0).prefix(4) }.joined(separator: ":"))
    }
}
