import ForeignText
import HotspotCore
import Varlink

/// A place in a JSON document: `a.b[0].c`, `list[key=text].d`; a `$name` stands for a kept value.
struct JSONPath: Hashable, Sendable {
    private enum Step: Hashable, Sendable {
        case member(String)
        case index(Int)
        case element(key: String, value: String)
    }

    private let steps: [Step]

    /// Reads a path; `nil` if the text is not a path.
    init?(_ text: String) {
        var steps: [Step] = []
        for part in text.split(separator: ".", omittingEmptySubsequences: false) {
            var rest = part
            let name = rest.prefix { $0 != "[" }
            rest = rest.dropFirst(name.count)
            if !name.isEmpty { steps.append(.member(String(name))) } else if rest.isEmpty { return nil }
            while let end = rest.firstIndex(of: "]"), rest.first == "[" {
                let inner = rest[..<end].dropFirst()
                rest = rest[rest.index(after: end)...]
                if let index = Int(inner), index >= 0 {
                    steps.append(.index(index))
                } else if let equals = inner.firstIndex(of: "="), equals != inner.startIndex {
                    steps.append(.element(key: String(inner[..<equals]), value: String(inner[inner.index(after: equals)...])))
                } else {
                    return nil
                }
            }
            guard rest.isEmpty else { return nil }
        }
        guard steps.count <= 16 else { return nil }
        self.steps = steps
    }

    /// The names of the kept values that the path uses.
    var names: [String] {
        steps.compactMap { step in
            let text: String
            switch step {
            case .member(let name): text = name
            case .element(_, let value): text = value
            case .index: return nil
            }
            return text.hasPrefix("$") ? String(text.dropFirst()) : nil
        }
    }

    /// Returns the text at this place in the JSON of `octets`; `nil` if there is none. Objects and lists have no text.
    func text(in octets: [UInt8], kept: (String) -> String) -> String? {
        guard var value = Self.document(in: octets) else { return nil }
        func resolved(_ text: String) -> String {
            text.hasPrefix("$") ? StreamSafe.text(kept(String(text.dropFirst()))) : text
        }
        for step in steps {
            let next: JSONValue?
            switch step {
            case .member(let name): next = value[resolved(name)]
            case .index(let index): next = value.array.flatMap { index < $0.count ? $0[index] : nil }
            case .element(let key, let wanted):
                let wanted = resolved(wanted)
                next = value.elements.first { $0[key].flatMap(Self.text) == wanted }
            }
            guard let next else { return nil }
            value = next
        }
        return Self.text(value)
    }

    private static func text(_ value: JSONValue) -> String? {
        switch value {
        case .null, .array, .object: nil
        case .bool(let truth): truth ? "true" : "false"
        case .integer(let number): String(number)
        case .number(let number): Int(exactly: number).map(String.init) ?? String(number)
        case .string(let text): text
        }
    }

    /// Reads the JSON in a body. Some portals wrap it in a callback or put garbage before it.
    private static func document(in octets: [UInt8]) -> JSONValue? {
        let (open, close) = (Array("{[".utf8), Array("}]".utf8))
        guard let start = octets.firstIndex(where: open.contains), let end = octets.lastIndex(where: close.contains), start < end
        else { return nil }
        return try? Coding.decode(JSONValue.self, from: Array(octets[start...end]))
    }
}

extension JSONValue {
    /// The elements of a list, or the members of an object in the order of their names.
    fileprivate var elements: [JSONValue] { array ?? object?.sorted { $0.key < $1.key }.map(\.value) ?? [] }
}

enum PortalJSON {
    /// Throws if the octets are not one JSON value.
    static func check(_ octets: [UInt8]) throws(VarlinkError) { _ = try Coding.decode(JSONValue.self, from: octets) }
}
