/// Authors import HelperKit alone: what they use of the client and of its scope comes along.
@_exported import BoundHTTP

extension WebURL {
    /// Encodes pairs in a character set of ``PageText``.
    static func encode(_ pairs: [(name: String, value: String)], in charset: String) -> String {
        encode(pairs) { PageText.octets(of: $0, in: charset) }
    }
}
