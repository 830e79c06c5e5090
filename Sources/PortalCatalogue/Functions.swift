import CCrypto
import ForeignText
import HelperKit
import HotspotCore

/// A function of a template, with its arguments.
enum Function: Hashable, Sendable {
    case digest(Digest)
    case hmac(Digest, key: String)
    case xor(key: String)
    case xencode(key: String)
    case hex, unhex
    case base64(alphabet: String?)
    case unbase64, url, unurl, json, unescape, html
    case between(String, String)
    case replace(String, String)
    case literal(String)
    case query(String)
    case path(JSONPath)
    case lower, upper, trim, seconds
    case first(Int)
    case standard(String)

    enum Digest: String, CaseIterable {
        case md5, sha1, sha256
    }

    /// Reads a function; `nil` if there is none with this name and these arguments.
    init?(_ name: String, _ arguments: [String]) {
        func one(_ make: (String) -> Function?) -> Function? {
            arguments.count == 1 && !arguments[0].isEmpty ? make(arguments[0]) : nil
        }
        let made: Function?
        switch name {
        case "xor": made = one { .xor(key: $0) }
        case "xencode": made = one { .xencode(key: $0) }
        case "base64" where !arguments.isEmpty:
            made = one { Set($0.utf8).count == 64 && $0.utf8.count == 64 ? .base64(alphabet: $0) : nil }
        case "between": made = arguments.count == 2 ? .between(arguments[0], arguments[1]) : nil
        case "replace":
            // The replacement must be short, because it may replace every octet of a page.
            let isShort = arguments.count == 2 && !arguments[0].isEmpty && arguments[1].utf8.count <= 32
            made = isShort ? .replace(arguments[0], arguments[1]) : nil
        case "literal": made = arguments.count == 1 ? .literal(arguments[0]) : nil
        case "query": made = one { .query($0) }
        case "json" where !arguments.isEmpty: made = one { JSONPath($0).map { .path($0) } }
        case "first": made = one { Int($0).flatMap { $0 >= 0 ? .first($0) : nil } }
        case "default": made = one { .standard($0) }
        default:
            if name.hasPrefix("hmac-"), let digest = Digest(rawValue: String(name.dropFirst(5))) {
                made = one { .hmac(digest, key: $0) }
            } else {
                made = arguments.isEmpty ? Digest(rawValue: name).map { .digest($0) } ?? Self.plain[name] : nil
            }
        }
        guard let made else { return nil }
        self = made
    }

    private static let plain: [String: Function] = [
        "hex": .hex, "unhex": .unhex, "base64": .base64(alphabet: nil), "unbase64": .unbase64, "url": .url, "unurl": .unurl,
        "json": .json, "unescape": .unescape, "html": .html, "lower": .lower, "upper": .upper, "trim": .trim, "seconds": .seconds,
    ]

    static let names = Set(plain.keys).union(Digest.allCases.flatMap { [$0.rawValue, "hmac-\($0.rawValue)"] }).union([
        "xor", "xencode", "between", "replace", "literal", "query", "first", "default",
    ])

    /// The names of the kept values that the function uses.
    var names: [String] {
        switch self {
        case .hmac(_, let key), .xor(let key), .xencode(let key): [key]
        case .path(let path): path.names
        case .digest, .hex, .unhex, .base64, .unbase64, .url, .unurl, .json, .unescape, .html, .between, .replace, .literal,
            .query,
            .lower, .upper, .trim, .seconds, .first, .standard:
            []
        }
    }

    /// Whether the value cannot be computed from the result; a short value can still be guessed.
    var isDigest: Bool {
        switch self {
        case .digest, .hmac: true
        case .xor, .xencode, .hex, .unhex, .base64, .unbase64, .url, .unurl, .json, .unescape, .html, .between, .replace,
            .literal,
            .query, .path, .lower, .upper, .trim, .seconds, .first, .standard:
            false
        }
    }

    /// Returns the result; empty if the function cannot read the value.
    func apply(_ octets: [UInt8], kept: (String) -> [UInt8]) -> [UInt8] {
        switch self {
        case .digest(let digest): return digest.hash(octets)
        case .hmac(let digest, let key): return digest.hmac(octets, key: kept(key))
        case .xor(let key):
            let key = kept(key)
            return key.isEmpty ? [] : octets.enumerated().map { $1 ^ key[$0 % key.count] }
        case .xencode(let key): return XEncode.encode(octets, key: kept(key))
        case .hex: return Array(Hex.encode(octets).utf8)
        case .unhex: return Hex.decode(octets) ?? []
        case .base64(let alphabet):
            let text = Array(Base64.encode(octets).utf8)
            guard let alphabet = alphabet.map({ Array($0.utf8) }) else { return text }
            return text.map { letter in Base64.letters.firstIndex(of: letter).map { alphabet[$0] } ?? letter }
        case .unbase64:
            var text = octets.map {
                $0 == UInt8(ascii: "-") ? UInt8(ascii: "+") : $0 == UInt8(ascii: "_") ? UInt8(ascii: "/") : $0
            }
            text.removeAll { !Base64.letters.contains($0) }
            text += [UInt8](repeating: UInt8(ascii: "="), count: (4 - text.count % 4) % 4)
            return Base64.decode(String(decoding: text, as: UTF8.self)) ?? []
        case .url: return Array(PercentEncoding.encode(octets).utf8)
        case .unurl: return PercentEncoding.decode(octets)
        case .json: return JSONText.escape(octets)
        case .unescape: return ScriptText.unescape(octets)
        case .html: return Entities.decode(octets)
        case .between(let before, let after): return Self.between(octets, before, after)
        case .replace(let old, let new):
            var (result, rest) = ([UInt8](), octets[...])
            while let start = rest.firstIndex(of: old) {
                result += rest[..<start] + Array(new.utf8)
                rest = rest[(start + old.utf8.count)...]
            }
            return result + rest
        case .literal(let before): return ScriptText.literal(in: Self.between(octets, before, ""))
        case .query(let name): return PercentEncoding.pair(name, of: Self.between(octets, "?", "").prefix { $0 != 35 }) ?? []
        case .path(let path):
            let text = path.text(in: octets) { String(decoding: kept($0), as: UTF8.self) }
            return text.map { Array($0.utf8) } ?? []
        case .lower: return Array(String(decoding: octets, as: UTF8.self).lowercased().utf8)
        case .upper: return Array(String(decoding: octets, as: UTF8.self).uppercased().utf8)
        case .trim:
            let isBlank: (UInt8) -> Bool = { $0 <= 0x20 }
            guard let start = octets.firstIndex(where: { !isBlank($0) }), let end = octets.lastIndex(where: { !isBlank($0) })
            else { return [] }
            return Array(octets[start...end])
        case .seconds: return SpokenDuration.read(octets).map { Array(String($0).utf8) } ?? []
        case .first(let count): return Array(octets.prefix(count))
        case .standard(let text): return octets.isEmpty ? Array(text.utf8) : octets
        }
    }

    private static func between(_ octets: [UInt8], _ before: String, _ after: String) -> [UInt8] {
        var rest = octets[...]
        if !before.isEmpty {
            guard let start = rest.firstIndex(of: before) else { return [] }
            rest = rest[(start + before.utf8.count)...]
        }
        guard !after.isEmpty else { return Array(rest) }
        return rest.firstIndex(of: after).map { Array(rest[..<$0]) } ?? []
    }
}

extension Function.Digest {
    private var method: OpaquePointer? {
        switch self {
        case .md5: EVP_md5()
        case .sha1: EVP_sha1()
        case .sha256: EVP_sha256()
        }
    }

    func hash(_ octets: [UInt8]) -> [UInt8] {
        var (result, count) = ([UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE)), UInt32(0))
        guard EVP_Digest(octets, octets.count, &result, &count, method, nil) == 1 else { return [] }
        return Array(result.prefix(Int(count)))
    }

    func hmac(_ octets: [UInt8], key: [UInt8]) -> [UInt8] {
        var (result, count) = ([UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE)), UInt32(0))
        guard HMAC(method, key, Int32(key.count), octets, octets.count, &result, &count) != nil else { return [] }
        return Array(result.prefix(Int(count)))
    }
}

/// The cipher that srun portals call XEncode: XXTEA over little-endian words of the text and a word with its length. The key is the challenge's first
/// four words.
enum XEncode {
    static func encode(_ text: [UInt8], key: [UInt8]) -> [UInt8] {
        guard !text.isEmpty else { return [] }
        var words = words(of: text) + [UInt32(text.count)]
        let key = Array((self.words(of: key) + [0, 0, 0, 0]).prefix(4))
        let last = words.count - 1
        var sum: UInt32 = 0
        for _ in 0..<(6 + 52 / words.count) {
            sum &+= 0x9E37_79B9
            let e = Int(sum >> 2 & 3)
            for position in 0...last {
                let y = words[position == last ? 0 : position + 1]
                let z = words[position == 0 ? last : position - 1]
                let mixed =
                    ((z >> 5 ^ y << 2) &+ ((y >> 3 ^ z << 4) ^ (sum ^ y))) &+ (key[(position & 3) ^ e] ^ z)
                words[position] &+= mixed
            }
        }
        return words.flatMap { word in (0..<4).map { UInt8(truncatingIfNeeded: word >> (8 * UInt32($0))) } }
    }

    private static func words(of octets: [UInt8]) -> [UInt32] {
        stride(from: 0, to: octets.count, by: 4).map { start in
            octets[start...].prefix(4).enumerated().reduce(0) { $0 | UInt32($1.element) << (8 * UInt32($1.offset)) }
        }
    }
}
