/// A record of `KEY=value` lines, as networkd, resolved and NetworkManager's own DHCP client keep them.
struct AssignmentRecord {
    private var values: [String: String] = [:]

    /// Lines that are no assignment, or no UTF-8, are skipped; of two for one key the last counts.
    init(_ octets: [UInt8]) {
        for line in octets.split(separator: UInt8(ascii: "\n")) {
            guard line.first != UInt8(ascii: "#"), let text = String(validating: line, as: UTF8.self),
                let equals = text.firstIndex(of: "=")
            else { continue }
            var value = text[text.index(after: equals)...]
            if value.count >= 2, value.hasPrefix("\""), value.hasSuffix("\"") { value = value.dropFirst().dropLast() }
            values[String(text[..<equals])] = String(value)
        }
    }

    /// The value of a key.
    subscript(_ key: String) -> String? { values[key] }

    /// The words of a value.
    func words(_ key: String) -> [Substring] { values[key]?.split(separator: " ") ?? [] }
}
