import HotspotCore

/// Reads any decodable value out of a JSON value.
struct JSONDecoding: Decoder, SingleValueDecodingContainer {
    let value: JSONValue
    let codingPath: [any CodingKey]
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    /// Reads a value. Throws `DecodingError`, or the error of the type's own `init(from:)`.
    static func read<T: Decodable>(_ type: T.Type, from value: JSONValue, at path: [any CodingKey] = []) throws -> T {
        if type == JSONValue.self { return value as! T }
        let place = JSONDecoding(value: value, codingPath: path)
        let found: Any? =
            if type == String.self {
                value.string
            } else if type == Bool.self {
                value.bool
            } else if let whole = type as? any FixedWidthInteger.Type {
                try place.integer(whole)
            } else if type == Double.self {
                value.number
            } else if type == Float.self {
                value.number.map { Float($0) }
            } else {
                try T(from: place)
            }
        guard let found else { throw place.mismatch(type) }
        return found as! T
    }

    private func integer<T: FixedWidthInteger>(_ type: T.Type) throws -> T? {
        guard let number = value.number else { return nil }
        let whole = if case .integer(let integer) = value { T(exactly: integer) } else { T(exactly: number) }
        guard let whole else {
            throw DecodingError.dataCorrupted(.init(codingPath: codingPath, debugDescription: "\(number) is not \(type)"))
        }
        return whole
    }

    fileprivate func mismatch(_ type: any Any.Type) -> DecodingError {
        let context = DecodingError.Context(codingPath: codingPath, debugDescription: "\(type) expected")
        return value == .null ? .valueNotFound(type, context) : .typeMismatch(type, context)
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        guard let members = value.object else { throw mismatch([String: Any].self) }
        return KeyedDecodingContainer(Members(members: members, codingPath: codingPath))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        guard let elements = value.array else { throw mismatch([Any].self) }
        return Elements(elements: elements, codingPath: codingPath)
    }

    func singleValueContainer() -> any SingleValueDecodingContainer { self }
    func decodeNil() -> Bool { value == .null }
    func decode<T: Decodable>(_ type: T.Type) throws -> T { try Self.read(type, from: value, at: codingPath) }

    private struct Members<Key: CodingKey>: KeyedDecodingContainerProtocol {
        let members: [String: JSONValue]
        let codingPath: [any CodingKey]
        var allKeys: [Key] { members.keys.compactMap { Key(stringValue: $0) } }

        private func member(_ key: any CodingKey) throws -> JSONDecoding {
            guard let value = members[key.stringValue] else {
                throw DecodingError.keyNotFound(key, .init(codingPath: codingPath, debugDescription: "missing"))
            }
            return JSONDecoding(value: value, codingPath: codingPath + [key])
        }

        func contains(_ key: Key) -> Bool { members[key.stringValue] != nil }
        func decodeNil(forKey key: Key) throws -> Bool { try member(key).decodeNil() }
        func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T { try member(key).decode(type) }
        func nestedContainer<Inner: CodingKey>(keyedBy type: Inner.Type, forKey key: Key) throws -> KeyedDecodingContainer<Inner>
        {
            try member(key).container(keyedBy: type)
        }
        func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer { try member(key).unkeyedContainer() }
        func superDecoder() throws -> any Decoder { try member(JSONPlace("super")) }
        func superDecoder(forKey key: Key) throws -> any Decoder { try member(key) }
    }

    private struct Elements: UnkeyedDecodingContainer {
        let elements: [JSONValue]
        let codingPath: [any CodingKey]
        var currentIndex = 0
        var count: Int? { elements.count }
        var isAtEnd: Bool { currentIndex >= elements.count }

        /// Returns the next element, and moves to the one after it if the closure does not throw.
        private mutating func next<T>(_ read: (JSONDecoding) throws -> T) throws -> T {
            let path = codingPath + [JSONPlace(index: currentIndex)]
            guard !isAtEnd else {
                throw DecodingError.valueNotFound(T.self, .init(codingPath: path, debugDescription: "at the end"))
            }
            let result = try read(JSONDecoding(value: elements[currentIndex], codingPath: path))
            currentIndex += 1
            return result
        }

        mutating func decodeNil() -> Bool {
            guard !isAtEnd, elements[currentIndex] == .null else { return false }
            currentIndex += 1
            return true
        }
        mutating func decode<T: Decodable>(_ type: T.Type) throws -> T { try next { try $0.decode(type) } }
        mutating func nestedContainer<Inner: CodingKey>(keyedBy type: Inner.Type) throws -> KeyedDecodingContainer<Inner> {
            try next { try $0.container(keyedBy: type) }
        }
        mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer { try next { try $0.unkeyedContainer() } }
        mutating func superDecoder() throws -> any Decoder { try next { $0 } }
    }
}

extension JSONValue {
    /// The number; `nil` for other values.
    fileprivate var number: Double? {
        switch self {
        case .integer(let value): Double(value)
        case .number(let value): value
        default: nil
        }
    }
}
