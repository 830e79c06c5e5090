/// Texts that must not appear in logs, in journals, or where people can read them. Threat R3: a careless helper repeats them.
/// Masking is only a precaution: a helper that wants to leak a secret can encode it differently. Case does not matter: portals
/// print a surname in capitals.
public struct Secrets: Sendable {
    /// The shortest text that is masked, in octets. Masking shorter texts would hide half of any sentence.
    private static let shortest = 3
    private static let mark = Array("•••".utf8)
    private static let ellipsis = Array("…".utf8)

    /// The folded secrets in all their forms.
    private var forms: Set<[UInt8]>
    /// Folded texts in which no secret is masked.
    private var spared: [[UInt8]] = []

    public init(_ texts: some Sequence<String>) {
        // Folding works only for ASCII, so other letters are searched for in both cases.
        let all = texts.filter { $0.utf8.count >= Self.shortest }.flatMap { [$0, $0.lowercased(), $0.uppercased()] }
        forms = Set(all.flatMap(Self.forms))
    }

    public var isEmpty: Bool { forms.isEmpty }

    /// The length of the longest form, in octets.
    public var longest: Int { forms.map(\.count).max() ?? 0 }

    /// Returns these secrets without some texts, which are not secret.
    public func without(_ texts: some Sequence<String>) -> Secrets {
        var rest = self
        rest.forms.subtract(Secrets(texts).forms)
        return rest
    }

    /// Returns these secrets, but leaves some texts unmasked wherever they occur: "http://10.214.0.1" reveals nothing about a
    /// room 214.
    public func sparing(_ texts: some Sequence<String>) -> Secrets {
        var sparing = self
        sparing.spared += texts.filter { !$0.isEmpty }.map { $0.utf8.map(Self.folded) }
        return sparing
    }

    /// Returns only the forms with at least this many octets.
    public func withForms(from length: Int) -> Secrets {
        var long = self
        long.forms = forms.filter { $0.count >= length }
        return long
    }

    /// Returns the text with each secret masked, including the beginning of a secret that an ellipsis has cut off.
    public func mask(_ text: String) -> String { String(decoding: mask(Array(text.utf8)), as: UTF8.self) }

    public func mask(_ octets: [UInt8]) -> [UInt8] {
        let text = octets.map(Self.folded)
        let cuts = text.indices.filter { text[$0...].starts(with: Self.ellipsis) }
        // The longest secret at each place counts, so that a secret that contains another secret is masked as a whole.
        return SoughtText.replaced(
            octets, SoughtText.longest(of: forms, in: text, cuts: cuts, from: Self.shortest),
            sparing: SoughtText.longest(of: spared, in: text), with: Self.mark)
    }

    private static func folded(_ octet: UInt8) -> UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(octet) ? octet | 0x20 : octet
    }

    public func mask(_ text: String?) -> String? { text.map { mask($0) } }

    public func appear(in text: String) -> Bool { mask(text) != text }

    /// Returns the forms of a text: as it is, as the daemon prints it, in JSON, and in a URL or a form.
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

    /// Escapes the two characters that JSON always escapes, and applies `other` to all that are not printable ASCII.
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
