import HotspotCore

/// Makes a JSON value of any encodable value.
final class JSONEncoding: Encoder, SingleValueEncodingContainer {
    private var scalar: JSONValue?
    fileprivate var elements: [JSONValue]?
    fileprivate var members: [String: JSONValue] = [:]
    /// Containers within this one; they are filled after they are made.
    private var nested: [(key: any CodingKey, encoding: JSONEncoding)] = []

    // Only errors of a type's own `encode(to:)` would use the path, and hotspotd's types never throw there.
    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    /// Returns the value as JSON. Rethrows the error of the value's own `encode(to:)`.
    static func value<T: Encodable>(of value: T) throws -> JSONValue {
        if T.self == JSONValue.self { return value as! JSONValue }
        if T.self == String.self { return .string(value as! String) }
        if T.self == Bool.self { return .bool(value as! Bool) }
        if T.self == Int.self { return .integer(value as! Int) }
        if T.self == Double.self { return .number(value as! Double) }
        if T.self == Float.self { return .number(Double((value as! Float).description) ?? .nan) }
        if let whole = value as? any BinaryInteger { return Int(exactly: whole).map { .integer($0) } ?? .number(Double(whole)) }
        let encoding = JSONEncoding()
        try value.encode(to: encoding)
        return encoding.value
    }

    private var value: JSONValue {
        if let scalar { return scalar }
        for (key, encoding) in nested {
            if let index = key.intValue, elements != nil {
                elements?[index] = encoding.value
            } else {
                members[key.stringValue] = encoding.value
            }
        }
        return elements.map { .array($0) } ?? .object(members)
    }

    fileprivate func nest(_ key: any CodingKey) -> JSONEncoding {
        let encoding = JSONEncoding()
        nested.append((key, encoding))
        return encoding
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        KeyedEncodingContainer(Members(encoding: self))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        elements = elements ?? []
        return Elements(encoding: self)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer { self }
    func encodeNil() { scalar = .null }
    func encode<T: Encodable>(_ value: T) throws { scalar = try Self.value(of: value) }

    private struct Members<Key: CodingKey>: KeyedEncodingContainerProtocol {
        let encoding: JSONEncoding
        var codingPath: [any CodingKey] { [] }

        func encodeNil(forKey key: Key) { encoding.members[key.stringValue] = .null }
        func encode<T: Encodable>(_ value: T, forKey key: Key) throws {
            encoding.members[key.stringValue] = try JSONEncoding.value(of: value)
        }
        func nestedContainer<Inner: CodingKey>(keyedBy type: Inner.Type, forKey key: Key) -> KeyedEncodingContainer<Inner> {
            encoding.nest(key).container(keyedBy: type)
        }
        func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer { encoding.nest(key).unkeyedContainer() }
        func superEncoder() -> any Encoder { encoding.nest(JSONPlace("super")) }
        func superEncoder(forKey key: Key) -> any Encoder { encoding.nest(key) }
    }

    private struct Elements: UnkeyedEncodingContainer {
        let encoding: JSONEncoding
        var codingPath: [any CodingKey] { [] }
        var count: Int { encoding.elements?.count ?? 0 }

        func encodeNil() { encoding.elements?.append(.null) }
        func encode<T: Encodable>(_ value: T) throws { encoding.elements?.append(try JSONEncoding.value(of: value)) }
        func nestedContainer<Inner: CodingKey>(keyedBy type: Inner.Type) -> KeyedEncodingContainer<Inner> {
            superEncoder().container(keyedBy: type)
        }
        func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { superEncoder().unkeyedContainer() }
        func superEncoder() -> any Encoder {
            encodeNil()
            return encoding.nest(JSONPlace(index: count - 1))
        }
    }
}

/// A member or an element, in the path of an error.
struct JSONPlace: CodingKey {
    let stringValue: String
    let intValue: Int?

    init(_ name: String) { (stringValue, intValue) = (name, nil) }
    init(index: Int) { (stringValue, intValue) = ("Index \(index)", index) }
    init(stringValue name: String) { self.init(name) }
    init(intValue index: Int) { self.init(index: index) }
}
