import HotspotCore

/// Writes values as JSON: keys in the order of their octets, slashes without an escape, whole numbers without a fraction.
package struct JSONWriter {
    private(set) var octets: [UInt8] = []
    /// Whether each member and element is on a line of its own.
    private let isIndented: Bool
    private var depth = 0

    init(isIndented: Bool = false) { self.isIndented = isIndented }

    mutating func write(_ value: JSONValue) {
        switch value {
        case .null: octets += "null".utf8
        case .bool(let truth): octets += (truth ? "true" : "false").utf8
        case .integer(let value): octets += String(value).utf8
        case .number(let value): write(value)
        case .string(let text): write(text)
        case .array(let elements): list("[", elements, "]") { $0.write($1) }
        case .object(let members):
            list("{", members.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }, "}") {
                $0.write($1.key)
                $0.octets += ($0.isIndented ? " : " : ":").utf8
                $0.write($1.value)
            }
        }
    }

    /// Writes the shortest digits that represent this number. Infinity has no digits, and does not occur here.
    private mutating func write(_ number: Double) {
        let text = number.isFinite ? number.description.utf8[...] : "null".utf8[...]
        octets += text.suffix(2).elementsEqual(".0".utf8) ? text.dropLast(2) : text
    }

    private mutating func write(_ text: String) {
        octets.append(UInt8(ascii: "\""))
        // Most texts are contiguous in memory and need no escape.
        let isWritten = text.utf8.withContiguousStorageIfAvailable { buffer in
            guard buffer.allSatisfy({ $0 >= 0x20 && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\") }) else { return false }
            octets.append(contentsOf: buffer)
            return true
        }
        if isWritten != true { escape(text) }
        octets.append(UInt8(ascii: "\""))
    }

    private mutating func escape(_ text: String) {
        for octet in text.utf8 {
            switch octet {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"): octets += [UInt8(ascii: "\\"), octet]
            case 0x08: octets += "\\b".utf8
            case 0x09: octets += "\\t".utf8
            case 0x0A: octets += "\\n".utf8
            case 0x0C: octets += "\\f".utf8
            case 0x0D: octets += "\\r".utf8
            case 0..<0x20: octets += "\\u00\(octet < 0x10 ? "0" : "")\(String(octet, radix: 16))".utf8
            default: octets.append(octet)
            }
        }
    }

    private mutating func list<Item>(_ open: String, _ items: [Item], _ close: String, _ write: (inout JSONWriter, Item) -> Void)
    {
        octets += open.utf8
        depth += 1
        for (index, item) in items.enumerated() {
            if index > 0 { octets.append(UInt8(ascii: ",")) }
            breakLine()
            write(&self, item)
        }
        depth -= 1
        if !items.isEmpty { breakLine() }
        octets += close.utf8
    }

    private mutating func breakLine() {
        guard isIndented else { return }
        octets.append(UInt8(ascii: "\n"))
        octets += repeatElement(UInt8(ascii: " "), count: 2 * depth)
    }
}

/// A type of values in long lists. It writes itself with the same result as ``Coding/encode(_:isIndented:)``, but without an intermediate value for
/// each member.
package protocol JSONWritable {
    /// Writes one object by ``JSONWriter/object(_:)``.
    func write(to writer: inout JSONWriter)
}

extension JSONWritable {
    /// The octets of the value as JSON.
    package var json: [UInt8] {
        var writer = JSONWriter()
        write(to: &writer)
        return writer.octets
    }
}

extension JSONWriter {
    /// Writes an object; the closure writes its members in the order of their names.
    package mutating func object(_ members: (inout JSONWriter) -> Void) {
        octets.append(UInt8(ascii: "{"))
        members(&self)
        octets.append(UInt8(ascii: "}"))
    }

    package mutating func member(_ name: StaticString, _ text: String?) {
        guard let text else { return }
        begin(name)
        write(text)
    }

    package mutating func member(_ name: StaticString, _ value: Bool?) {
        guard let value else { return }
        begin(name)
        write(.bool(value))
    }

    package mutating func member(_ name: StaticString, _ value: Int?) {
        guard let value else { return }
        begin(name)
        write(.integer(value))
    }

    package mutating func member(_ name: StaticString, _ value: Double) {
        begin(name)
        write(value)
    }

    package mutating func member(_ name: StaticString, _ elements: [some JSONWritable]) {
        begin(name)
        list("[", elements, "]") { $1.write(to: &$0) }
    }

    package mutating func member(_ name: StaticString, _ texts: [String]?) {
        guard let texts else { return }
        begin(name)
        list("[", texts, "]") { $0.write($1) }
    }

    package mutating func member(_ name: StaticString, _ value: (some JSONWritable)?) {
        guard let value else { return }
        begin(name)
        value.write(to: &self)
    }

    /// Writes the name of a member; the name must need no escape.
    private mutating func begin(_ name: StaticString) {
        if octets.last != UInt8(ascii: "{") { octets.append(UInt8(ascii: ",")) }
        octets.append(UInt8(ascii: "\""))
        name.withUTF8Buffer { octets.append(contentsOf: $0) }
        octets.append(UInt8(ascii: "\""))
        octets.append(UInt8(ascii: ":"))
    }
}
