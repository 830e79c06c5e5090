// This target makes sd-event the executor of the daemon's tasks: descriptors, timers, signals, children, folders, the bus.

import CSystemd
import ForeignText

/// A value in a message of the bus. A variant is read as the value in it, a structure as a list, and octets as numbers.
public indirect enum BusValue: Hashable, Sendable {
    case boolean(Bool)
    case number(Int64)
    /// A string, an object's path or a signature.
    case text(String)
    case list([BusValue])
    /// A dictionary whose keys are texts.
    case table([String: BusValue])
    /// A value of a type that is not read: a fraction, or a descriptor.
    case other

    public var boolean: Bool? { if case .boolean(let value) = self { value } else { nil } }
    public var number: Int64? { if case .number(let value) = self { value } else { nil } }
    public var text: String? { if case .text(let value) = self { value } else { nil } }
    public var list: [BusValue] { if case .list(let value) = self { value } else { [] } }
    public var table: [String: BusValue] { if case .table(let value) = self { value } else { [:] } }

    /// The octets, if the value is an array of octets.
    public var octets: [UInt8] { list.compactMap { $0.number.flatMap(UInt8.init(exactly:)) } }
}

/// Reads the values of a message. The bus has checked the message's form; this reader limits the number of values.
struct BusMessageReader {
    private let message: OpaquePointer?
    private let limit: Int
    private var count = 0

    private init(_ message: OpaquePointer?, _ limit: Int) { (self.message, self.limit) = (message, limit) }

    /// Returns the remaining arguments of a message; `nil` if there are too many values, or values of a kind that a message
    /// cannot have.
    static func values(of message: OpaquePointer?, limit: Int = SystemBus.valueLimit) -> [BusValue]? {
        var reader = BusMessageReader(message, limit)
        return reader.rest()
    }

    /// Reads up to the end of the message or of the entered container.
    private mutating func rest() -> [BusValue]? {
        var values: [BusValue] = []
        while true {
            var type: CChar = 0
            var contents: UnsafePointer<CChar>?
            let found = sd_bus_message_peek_type(message, &type, &contents)
            if found == 0 { return values }
            count += 1
            guard found > 0, count <= limit, let value = value(type, contents.map { String(cString: $0) } ?? "") else {
                return nil
            }
            values.append(value)
        }
    }

    private mutating func value(_ type: CChar, _ contents: String) -> BusValue? {
        switch UInt8(bitPattern: type) {
        case UInt8(ascii: "a") where contents.hasPrefix("{s") || contents.hasPrefix("{o"):
            guard let entries = contained(type, contents) else { return nil }
            let pairs = entries.compactMap { entry in entry.list.first?.text.map { ($0, entry.list[1]) } }
            return .table(Dictionary(pairs) { $1 })
        case UInt8(ascii: "a"), UInt8(ascii: "r"), UInt8(ascii: "e"): return contained(type, contents).map { .list($0) }
        case UInt8(ascii: "v"): return contained(type, contents)?.first
        case UInt8(ascii: "b"): return basic(type, Int32(0)).map { .boolean($0 != 0) }
        case UInt8(ascii: "y"): return basic(type, UInt8(0)).map { .number(Int64($0)) }
        case UInt8(ascii: "n"): return basic(type, Int16(0)).map { .number(Int64($0)) }
        case UInt8(ascii: "q"): return basic(type, UInt16(0)).map { .number(Int64($0)) }
        case UInt8(ascii: "i"): return basic(type, Int32(0)).map { .number(Int64($0)) }
        case UInt8(ascii: "u"): return basic(type, UInt32(0)).map { .number(Int64($0)) }
        case UInt8(ascii: "x"): return basic(type, Int64(0)).map { .number($0) }
        case UInt8(ascii: "t"): return basic(type, UInt64(0)).map { .number(Int64(clamping: $0)) }
        case UInt8(ascii: "s"), UInt8(ascii: "o"), UInt8(ascii: "g"):
            return basic(type, UnsafePointer<CChar>?.none).flatMap { $0 }.map { .text(StreamSafe.text(String(cString: $0))) }
        default: return sd_bus_message_skip(message, String(UnicodeScalar(UInt8(bitPattern: type)))) >= 0 ? .other : nil
        }
    }

    private mutating func contained(_ type: CChar, _ contents: String) -> [BusValue]? {
        guard sd_bus_message_enter_container(message, type, contents) > 0, let values = rest(),
            sd_bus_message_exit_container(message) >= 0
        else { return nil }
        return values
    }

    private func basic<Value: BitwiseCopyable>(_ type: CChar, _ start: Value) -> Value? {
        var value = start
        return withUnsafeMutableBytes(of: &value) { sd_bus_message_read_basic(message, type, $0.baseAddress) > 0 } ? value : nil
    }
}
