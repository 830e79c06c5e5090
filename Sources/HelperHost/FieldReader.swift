import ForeignText
import HotspotCore

/// The fields of one object in a helper's answer. Unknown fields are ignored; `null` counts as absent; what is wrong is named by its
/// path.
struct FieldReader {
    let path: String
    let members: [String: JSONValue]

    init(_ value: JSONValue, path: String) throws(HelperFault) {
        guard let members = value.object else { throw Self.malformed(path.isEmpty ? "the answer" : "«\(path)»", "is no object") }
        self.path = path
        self.members = members
    }

    static func malformed(_ what: String, _ wrong: String) -> HelperFault { HelperFault(.helperMalformed, "\(what) \(wrong)") }

    private func name(_ key: String) -> String { path.isEmpty ? key : "\(path).\(key)" }

    private func member(_ key: String) -> JSONValue? {
        guard let value = members[key], value != .null else { return nil }
        return value
    }

    private func required<T>(_ key: String, _ value: T?) throws(HelperFault) -> T {
        guard let value else { throw Self.malformed("«\(name(key))»", "is missing") }
        return value
    }

    func string(_ key: String) throws(HelperFault) -> String? {
        guard let value = member(key) else { return nil }
        guard let text = value.string else { throw Self.malformed("«\(name(key))»", "is no text") }
        return text
    }

    func requiredString(_ key: String) throws(HelperFault) -> String { try required(key, try string(key)) }

    func bool(_ key: String) throws(HelperFault) -> Bool? {
        guard let value = member(key) else { return nil }
        guard let truth = value.bool else { throw Self.malformed("«\(name(key))»", "is neither true nor false") }
        return truth
    }

    func requiredBool(_ key: String) throws(HelperFault) -> Bool { try required(key, try bool(key)) }

    func integer(_ key: String) throws(HelperFault) -> Int? {
        guard let value = member(key) else { return nil }
        guard let number = value.integer else { throw Self.malformed("«\(name(key))»", "is no whole number") }
        return number
    }

    func word<Word: RawRepresentable & CaseIterable>(
        _ key: String, of known: [Word] = Array(Word.allCases)
    ) throws(HelperFault) -> Word? where Word.RawValue == String {
        guard let text = try string(key) else { return nil }
        guard let word = known.first(where: { $0.rawValue == text }) else {
            throw HelperFault(
                .helperUnknownValue,
                "«\(name(key))» has the unknown value «\(Printable.text(text, limit: 64))»; known are \(known.map(\.rawValue).joined(separator: ", "))"
            )
        }
        return word
    }

    func requiredWord<Word: RawRepresentable & CaseIterable>(
        _ key: String, of known: [Word] = Array(Word.allCases)
    ) throws(HelperFault) -> Word where Word.RawValue == String { try required(key, try word(key, of: known)) }

    func strings(_ key: String) throws(HelperFault) -> [String]? {
        guard let value = member(key) else { return nil }
        guard let elements = value.array else { throw Self.malformed("«\(name(key))»", "is no list") }
        var strings: [String] = []
        for (index, element) in elements.enumerated() {
            guard let text = element.string else { throw Self.malformed("«\(name(key)).\(index)»", "is no text") }
            strings.append(text)
        }
        return strings
    }

    func object(_ key: String) throws(HelperFault) -> FieldReader? {
        guard let value = member(key) else { return nil }
        return try FieldReader(value, path: name(key))
    }

    func requiredObject(_ key: String) throws(HelperFault) -> FieldReader { try required(key, try object(key)) }

    func objects(_ key: String) throws(HelperFault) -> [FieldReader] {
        guard let value = member(key) else { throw Self.malformed("«\(name(key))»", "is missing") }
        guard let elements = value.array else { throw Self.malformed("«\(name(key))»", "is no list") }
        var readers: [FieldReader] = []
        for (index, element) in elements.enumerated() {
            readers.append(try FieldReader(element, path: "\(name(key)).\(index)"))
        }
        return readers
    }
}
