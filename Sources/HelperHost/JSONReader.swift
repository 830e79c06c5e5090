import ForeignText
import HotspotCore

/// Reads one JSON text (RFC 8259) from a stranger: strict, in linear time, with a limit on depth and on the number of values, so
/// that no helper can keep the loop busy with what it sends. The text is ``StreamSafe``, as all messages are that came through Varlink.
struct JSONReader {
    /// What is wrong with the text.
    enum ReadError: Error, Hashable, CustomStringConvertible {
        case notJSON(offset: Int)
        case notUTF8
        case tooDeep
        case tooMany
        case tooMuchToCompare

        var description: String {
            switch self {
            case .notJSON(let offset): "is no JSON at octet \(offset)"
            case .notUTF8: "is not UTF-8"
            case .tooDeep: "is nested deeper than \(JSONReader.depthLimit)"
            case .tooMany: "has more than \(JSONReader.valueLimit) values"
            case .tooMuchToCompare:
                "has more than \(JSONReader.namesLimit >> 10) KiB of members' names with letters beyond ASCII"
            }
        }
    }

    static let depthLimit = 32
    /// A list of a thousand networks with all that can be said of each has half as many.
    static let valueLimit = 10_000
    /// Octets of names that are compared by their normal form: a mebibyte of them takes 60 ms. No name of the contract is among them,
    /// and a session's memory is smaller.
    static let namesLimit = 32 << 10

    private let octets: [UInt8]
    private var position = 0
    private var values = 0
    private var names = 0

    /// The whole text as one value.
    static func read(_ octets: [UInt8]) throws(ReadError) -> JSONValue {
        var reader = JSONReader(octets: octets)
        let value = try reader.value(depth: 0)
        reader.skipBlanks()
        guard reader.position == octets.count else { throw reader.fail() }
        return value
    }

    private init(octets: [UInt8]) { self.octets = octets }

    private func fail() -> ReadError { .notJSON(offset: position) }

    private var next: UInt8? { position < octets.count ? octets[position] : nil }

    private mutating func skipBlanks() {
        while let octet = next, octet == 0x20 || octet == 0x0A || octet == 0x0D || octet == 0x09 { position += 1 }
    }

    private mutating func take(_ octet: UInt8) -> Bool {
        guard next == octet else { return false }
        position += 1
        return true
    }

    private mutating func value(depth: Int) throws(ReadError) -> JSONValue {
        guard depth <= Self.depthLimit else { throw .tooDeep }
        values += 1
        guard values <= Self.valueLimit else { throw .tooMany }
        skipBlanks()
        switch next {
        case UInt8(ascii: "{"): return try object(depth: depth)
        case UInt8(ascii: "["): return try array(depth: depth)
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "t"): return try word("true", .bool(true))
        case UInt8(ascii: "f"): return try word("false", .bool(false))
        case UInt8(ascii: "n"): return try word("null", .null)
        default: return try number()
        }
    }

    private mutating func word(_ text: StaticString, _ value: JSONValue) throws(ReadError) -> JSONValue {
        let count = text.utf8CodeUnitCount
        guard position + count <= octets.count else { throw fail() }
        for index in 0..<count where octets[position + index] != text.utf8Start[index] { throw fail() }
        position += count
        return value
    }

    private mutating func object(depth: Int) throws(ReadError) -> JSONValue {
        position += 1
        var members: [String: JSONValue] = [:]
        skipBlanks()
        if take(UInt8(ascii: "}")) { return .object(members) }
        while true {
            skipBlanks()
            guard next == UInt8(ascii: "\"") else { throw fail() }
            let key = try string()
            if key.utf8.contains(where: { $0 >= 0x80 }) { names += key.utf8.count }
            guard names <= Self.namesLimit else { throw .tooMuchToCompare }
            skipBlanks()
            guard take(UInt8(ascii: ":")) else { throw fail() }
            members[key] = try value(depth: depth + 1)
            skipBlanks()
            if take(UInt8(ascii: "}")) { return .object(members) }
            guard take(UInt8(ascii: ",")) else { throw fail() }
        }
    }

    private mutating func array(depth: Int) throws(ReadError) -> JSONValue {
        position += 1
        var elements: [JSONValue] = []
        skipBlanks()
        if take(UInt8(ascii: "]")) { return .array(elements) }
        while true {
            elements.append(try value(depth: depth + 1))
            skipBlanks()
            if take(UInt8(ascii: "]")) { return .array(elements) }
            guard take(UInt8(ascii: ",")) else { throw fail() }
        }
    }

    private mutating func string() throws(ReadError) -> String {
        position += 1
        var text: [UInt8] = []
        while let octet = next {
            position += 1
            switch octet {
            case UInt8(ascii: "\""):
                guard let string = String(validating: text, as: UTF8.self) else { throw .notUTF8 }
                return string
            case UInt8(ascii: "\\"): text += Array(String(Character(try escape())).utf8)
            case 0..<0x20: throw fail()
            default: text.append(octet)
            }
        }
        throw fail()
    }

    private mutating func escape() throws(ReadError) -> Unicode.Scalar {
        guard let letter = next else { throw fail() }
        position += 1
        switch letter {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return Unicode.Scalar(letter)
        case UInt8(ascii: "b"): return "\u{8}"
        case UInt8(ascii: "f"): return "\u{C}"
        case UInt8(ascii: "n"): return "\n"
        case UInt8(ascii: "r"): return "\r"
        case UInt8(ascii: "t"): return "\t"
        case UInt8(ascii: "u"):
            let first = try codeUnit()
            if let scalar = Unicode.Scalar(first) { return scalar }
            // Half of a pair: its other half must follow.
            guard UTF16.isLeadSurrogate(UInt16(first)), take(UInt8(ascii: "\\")), take(UInt8(ascii: "u")) else { throw fail() }
            let second = try codeUnit()
            guard (0xDC00...0xDFFF).contains(second),
                let scalar = Unicode.Scalar(0x10000 + (first - 0xD800) << 10 + (second - 0xDC00))
            else { throw fail() }
            return scalar
        default: throw fail()
        }
    }

    private mutating func codeUnit() throws(ReadError) -> UInt32 {
        guard position + 4 <= octets.count,
            let pair = Hex.decode(String(decoding: octets[position..<position + 4], as: UTF8.self)),
            pair.count == 2
        else { throw fail() }
        position += 4
        return UInt32(pair[0]) << 8 | UInt32(pair[1])
    }

    private mutating func digits() throws(ReadError) {
        guard let octet = next, (0x30...0x39).contains(octet) else { throw fail() }
        while let octet = next, (0x30...0x39).contains(octet) { position += 1 }
    }

    private mutating func number() throws(ReadError) -> JSONValue {
        let start = position
        _ = take(UInt8(ascii: "-"))
        if !take(UInt8(ascii: "0")) { try digits() }
        var isWhole = true
        if take(UInt8(ascii: ".")) {
            isWhole = false
            try digits()
        }
        if take(UInt8(ascii: "e")) || take(UInt8(ascii: "E")) {
            isWhole = false
            if !take(UInt8(ascii: "+")) { _ = take(UInt8(ascii: "-")) }
            try digits()
        }
        guard position - start <= 400 else { throw fail() }
        let text = String(decoding: octets[start..<position], as: UTF8.self)
        if isWhole, let whole = Int(text) { return .integer(whole) }
        guard let number = Double(text), number.isFinite else { throw fail() }
        return .number(number)
    }
}
