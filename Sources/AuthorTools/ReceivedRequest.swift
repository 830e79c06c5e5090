import ForeignText
import HotspotCore
import Varlink

/// One request to the made-up portal, read from its octets.
struct ReceivedRequest {
    let method: String
    /// The path without the query.
    let path: String
    /// The names and values in the request: decoded form pairs, or the members of a JSON object. They come from the body of a
    /// POST, or from the query of any other request.
    let pairs: [(name: String, value: String)]
    /// Whether the body is JSON, which scripts of portals send.
    let isJSON: Bool
    /// The content type of a POST that is neither a form nor JSON.
    let otherKind: String?

    /// The longest request, in octets.
    static let limit = 64 * 1024

    /// Reads a request; `nil` while it is incomplete.
    init?(_ octets: [UInt8]) {
        guard let end = octets.indices.dropLast(3).first(where: { octets[$0...].starts(with: [13, 10, 13, 10]) }) else {
            return nil
        }
        let lines = String(decoding: octets[..<end], as: UTF8.self).split(separator: "\r\n")
        func header(_ name: String) -> String? {
            let headers = lines.dropFirst().map { $0.split(separator: ":", maxSplits: 1) }
            let value = headers.first { $0.count == 2 && $0[0].lowercased() == name }?[1]
            return value?.drop { $0 == " " }.lowercased()
        }
        let body = octets[(end + 4)...]
        let length = header("content-length").flatMap { Int($0.filter { !$0.isWhitespace }) } ?? 0
        guard length <= Self.limit, body.count >= length else { return nil }
        let words = (lines.first ?? "").split(separator: " ")
        guard words.count >= 2 else { return nil }
        method = String(words[0])
        // Removes scheme and host, which the target of a request to a proxy has.
        var target = words[1][...]
        if target.hasPrefix("http://") {
            let rest = target.dropFirst(7)
            target = rest.firstIndex(of: "/").map { rest[$0...] } ?? "/"
        }
        let parts = target.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        path = parts.first.map(String.init) ?? "/"
        let kind = header("content-type") ?? ""
        let isForm = kind.isEmpty || kind.hasPrefix("application/x-www-form-urlencoded")
        isJSON = method == "POST" && kind.hasPrefix("application/json")
        otherKind = method == "POST" && !isForm && !isJSON ? kind : nil
        if isJSON {
            pairs = Self.members(Array(body.prefix(length)))
            return
        }
        let form =
            method == "POST"
            ? (isForm ? String(decoding: body.prefix(length), as: UTF8.self) : "") : parts.count > 1 ? String(parts[1]) : ""
        pairs = form.split(separator: "&").prefix(200).map { pair in
            let halves = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            return (Self.decoded(halves[0]), halves.count > 1 ? Self.decoded(halves[1]) : "")
        }
    }

    /// The method, the path, and the names of the fields without their values.
    var masked: String {
        let fields = pairs.prefix(12).map { Printable.text($0.name, limit: 40) + "=…" }.joined(separator: ", ")
        return "\(Printable.text(method, limit: 16)) \(Printable.text(path, limit: 120))\(fields.isEmpty ? "" : " (\(fields))")"
    }

    /// Returns the members of a JSON object that are texts, numbers or `true`.
    private static func members(_ body: [UInt8]) -> [(name: String, value: String)] {
        guard case .object(let members)? = try? Coding.decode(JSONValue.self, from: body) else { return [] }
        return members.sorted { $0.key < $1.key }.prefix(200).compactMap { name, value in
            switch value {
            case .string(let text): (name, text)
            case .bool(let isTrue): isTrue ? (name, "true") : nil
            case .number, .integer: (name, String(decoding: Coding.encode(value), as: UTF8.self))
            case .null, .array, .object: nil
            }
        }
    }

    private static func decoded(_ text: Substring) -> String {
        var octets: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let octet = rest.popFirst() {
            if octet == UInt8(ascii: "+") {
                octets.append(0x20)
            } else if octet == UInt8(ascii: "%"), rest.count >= 2,
                let value = Hex.decode(String(decoding: rest.prefix(2), as: UTF8.self))?.first
            {
                octets.append(value)
                rest = rest.dropFirst(2)
            } else {
                octets.append(octet)
            }
        }
        return String(decoding: octets, as: UTF8.self)
    }
}
