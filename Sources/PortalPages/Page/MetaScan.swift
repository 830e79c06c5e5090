/// Finds the character set in the beginning of a page (HTML Standard, "prescan a byte stream to determine its encoding"): only a `meta` tag names it.
struct MetaScan {
    private let octets: [UInt8]
    private var index = 0

    static func charset(of octets: [UInt8]) -> String? {
        var scan = MetaScan(octets: Array(octets.prefix(1024)))
        return scan.find()
    }

    private init(octets: [UInt8]) { self.octets = octets }

    private var octet: UInt8? { index < octets.count ? octets[index] : nil }

    private mutating func find() -> String? {
        while let bracket = octets[min(index, octets.count)...].firstIndex(of: UInt8(ascii: "<")) {
            index = bracket + 1
            if octets[index...].starts(with: "!--".utf8) {
                index += 1
                while index < octets.count, !octets[index...].starts(with: "-->".utf8) { index += 1 }
                continue
            }
            if octet == UInt8(ascii: "/") { index += 1 }
            guard let first = octet, (0x61...0x7A).contains(first | 0x20) else { continue }
            let name = word { $0 > 0x20 && $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: ">") }
            let attributes = attributes()
            guard name == "meta", bracket + 1 < octets.count, octets[bracket + 1] != UInt8(ascii: "/") else { continue }
            if let label = attributes["charset"] {
                if let charset = CharacterSets.charset(named: label) { return charset }
            } else if attributes["http-equiv"] == "content-type",
                let charset = attributes["content"].flatMap(PageText.charset(in:))
            {
                return charset
            }
        }
        return nil
    }

    /// Reads the attributes up to the end of the tag; of equal names, the first counts.
    private mutating func attributes() -> [String: String] {
        var attributes: [String: String] = [:]
        while true {
            _ = word { $0 <= 0x20 || $0 == UInt8(ascii: "/") }
            guard let first = octet, first != UInt8(ascii: ">") else { return attributes }
            index += 1
            let name = String(UnicodeScalar(first)).lowercased() + word { $0 > 0x20 && !"/>=".utf8.contains($0) }
            _ = word { $0 <= 0x20 }
            var value = ""
            if octet == UInt8(ascii: "=") {
                index += 1
                _ = word { $0 <= 0x20 }
                if let quote = octet, quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") {
                    index += 1
                    value = word { $0 != quote }
                    index += 1
                } else {
                    value = word { $0 > 0x20 && $0 != UInt8(ascii: ">") }
                }
            }
            attributes[name] = attributes[name] ?? value
        }
    }

    /// Skips octets and returns them in lower case.
    private mutating func word(_ isPart: (UInt8) -> Bool) -> String {
        let rest = octets[min(index, octets.count)...].prefix(while: isPart)
        index = rest.endIndex
        return String(decoding: rest, as: UTF8.self).lowercased()
    }
}
