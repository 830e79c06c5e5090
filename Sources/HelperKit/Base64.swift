/// The text form of pins (RFC 4648, 4).
enum Base64 {
    private static let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

    static func encode(_ octets: [UInt8]) -> String {
        var text: [UInt8] = []
        for start in stride(from: 0, to: octets.count, by: 3) {
            let chunk = octets[start..<min(start + 3, octets.count)]
            var group = chunk.reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
            group <<= UInt32(8 * (3 - chunk.count))
            for index in 0..<4 {
                text.append(index <= chunk.count ? digits[Int(group >> UInt32(18 - 6 * index)) & 63] : UInt8(ascii: "="))
            }
        }
        return String(decoding: text, as: UTF8.self)
    }
}
