/// Texts that must not appear where people, logs or journals can read them. Threat R3: a helper is careless and repeats them. This is hygiene
/// and no boundary: a helper that wants to leak a secret encodes it in a way that is not searched for. Case does not matter: portals print a
/// surname in capitals.
public struct Secrets: Sendable {
    /// Octets. Masking anything shorter would hide half of any sentence.
    private static let shortest = 3
    private static let mark = Array("•••".utf8)
    private static let ellipsis = Array("…".utf8)

    /// Folded, by the first octet; the longest first, so that nothing is left of a secret that contains another.
    private var forms: [UInt8: [[UInt8]]]
    /// Folded texts in which nothing is masked.
    private var spared: [[UInt8]] = []

    public init(_ texts: some Sequence<String>) {
        // Folding is for ASCII; letters beyond it are searched for in both cases.
        let all = Set(
            texts.filter { $0.utf8.count >= Self.shortest }.flatMap { [$0, $0.lowercased(), $0.uppercased()] }.flatMap(Self.forms)
        )
        forms = Dictionary(grouping: all) { $0[0] }.mapValues { $0.sorted { $0.count > $1.count } }
    }

    public var isEmpty: Bool { forms.isEmpty }

    /// The length of the longest form, in octets.
    public var longest: Int { forms.values.joined().map(\.count).max() ?? 0 }

    /// Without these texts, which are no secrets.
    public func without(_ texts: some Sequence<String>) -> Secrets {
        let open = Set(Secrets(texts).forms.values.joined())
        var rest = self
        rest.forms = forms.mapValues { $0.filter { !open.contains($0) } }
        return rest
    }

    /// The same, which leaves these texts as they are wherever they stand: "http://10.214.0.1" tells nothing of a room 214.
    public func sparing(_ texts: some Sequence<String>) -> Secrets {
        var sparing = self
        sparing.spared += texts.filter { !$0.isEmpty }.map { $0.utf8.map(Self.folded) }
        return sparing
    }

    /// Those forms alone that have so many octets.
    public func withForms(from length: Int) -> Secrets {
        var long = self
        long.forms = forms.mapValues { $0.filter { $0.count >= length } }
        return long
    }

    /// The text with each secret masked, and the beginning of one that an ellipsis has cut off.
    public func mask(_ text: String) -> String { String(decoding: mask(Array(text.utf8)), as: UTF8.self) }

    public func mask(_ octets: [UInt8]) -> [UInt8] {
        var masked: [UInt8] = []
        var rest = octets.map(Self.folded)[...]
        while let first = rest.first {
            if let open = spared.first(where: { rest.starts(with: $0) }) {
                masked += octets[rest.startIndex...].prefix(open.count)
                rest = rest.dropFirst(open.count)
            } else if let length = forms[first]?.lazy.compactMap({ Self.length(of: $0, in: rest) }).first {
                masked += Self.mark
                rest = rest.dropFirst(length)
            } else {
                masked.append(octets[rest.startIndex])
                rest = rest.dropFirst()
            }
        }
        return masked
    }

    private static func folded(_ octet: UInt8) -> UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(octet) ? octet | 0x20 : octet
    }

    /// How much of the text is the form that it begins with, whole or cut off.
    private static func length(of form: [UInt8], in text: ArraySlice<UInt8>) -> Int? {
        let common = zip(form, text).prefix { $0 == $1 }.count
        let isCut = common >= shortest && text.dropFirst(common).starts(with: ellipsis)
        return common == form.count || isCut ? common : nil
    }

    public func mask(_ text: String?) -> String? { text.map { mask($0) } }

    public func appear(in text: String) -> Bool { mask(text) != text }

    /// The text as it is, as the daemon prints it, as it stands in JSON, and as it stands in a URL or a form.
    private static func forms(of text: String) -> [[UInt8]] {
        let percentEncoded = text.utf8.map { octet in
            unreserved.contains(octet) ? String(Unicode.Scalar(octet)) : "%" + Hex.encode([octet])
        }
        let escaped = jsonEscaped(text) { scalar in
            UTF16.encode(scalar)!.map { "\\u" + Hex.encode([UInt8($0 >> 8), UInt8($0 & 0xFF)]) }.joined()
        }
        return [
            text, Printable.text(of: text.utf8), jsonEscaped(text) { String($0) }, percentEncoded.joined(),
            percentEncoded.map { $0 == "%20" ? "+" : $0 }.joined(), escaped,
        ].map { $0.utf8.map(folded) }
    }

    /// RFC 3986, 2.3.
    private static let unreserved = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~".utf8)

    /// The two escapes that JSON always needs, and `other` for what is not printable ASCII.
    private static func jsonEscaped(_ text: String, other: (Unicode.Scalar) -> String) -> String {
        text.unicodeScalars.map { scalar in
            switch scalar {
            case "\"", "\\": "\\" + String(scalar)
            case " "..."~": String(scalar)
            default: other(scalar)
            }
        }.joined()
    }
}
