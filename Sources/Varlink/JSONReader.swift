import CJansson
import ForeignText
import HotspotCore

/// Reads the octets of a JSON text with libjansson.
enum JSONReader {
    private static let mark: [UInt8] = [0xEF, 0xBB, 0xBF]

    /// Reads one value of any kind, within ``Coding/maximumDepth``. If two keys are equal, the last one counts. Ignores the byte order mark of UTF-8,
    /// which portals send. Throws ``VarlinkError/malformed(_:)``, also for text that is not ``StreamSafe``.
    static func value(of octets: [UInt8]) throws(VarlinkError) -> JSONValue {
        let text = octets.starts(with: mark) ? octets.dropFirst(mark.count) : octets[...]
        // libjansson 2.14 ignores a NUL after a number, so NULs are refused first.
        guard !text.contains(0) else { throw .malformed("no JSON") }
        guard StreamSafe.isSafe(json: octets) else { throw .unsafe }
        var error = json_error_t()
        var root = load(text, &error)
        // If a number is too large for an integer, all numbers are read as floating-point ones; `value(of:depth:)` makes whole numbers integers
        // again, rounded above 2^53.
        if root == nil, json_error_code(&error) == json_error_numeric_overflow {
            root = load(text, &error, JSON_DECODE_INT_AS_REAL)
        }
        guard let root else {
            throw json_error_code(&error) == json_error_stack_overflow ? tooDeep : .malformed("no JSON")
        }
        defer { json_decref(root) }
        return try value(of: root, depth: 0)
    }

    private static func load(_ text: ArraySlice<UInt8>, _ error: inout json_error_t, _ flags: Int32 = 0) -> UnsafeMutablePointer<
        json_t
    >? {
        text.withUnsafeBytes {
            json_loadb($0.baseAddress, $0.count, Int(flags | JSON_DECODE_ANY | JSON_ALLOW_NUL), &error)
        }
    }

    private static var tooDeep: VarlinkError { .malformed("nested deeper than \(Coding.maximumDepth)") }

    private static func value(of json: UnsafeMutablePointer<json_t>, depth: Int) throws(VarlinkError) -> JSONValue {
        switch json.pointee.type {
        case JSON_OBJECT:
            guard depth < Coding.maximumDepth else { throw tooDeep }
            var members = [String: JSONValue](minimumCapacity: json_object_size(json))
            var next = json_object_iter(json)
            while let member = next {
                members[String(cString: json_object_iter_key(member))] = try value(
                    of: json_object_iter_value(member), depth: depth + 1)
                next = json_object_iter_next(json, member)
            }
            return .object(members)
        case JSON_ARRAY:
            guard depth < Coding.maximumDepth else { throw tooDeep }
            var elements: [JSONValue] = []
            for index in 0..<json_array_size(json) {
                elements.append(try value(of: json_array_get(json, index), depth: depth + 1))
            }
            return .array(elements)
        case JSON_STRING:
            let octets = UnsafeRawBufferPointer(start: json_string_value(json), count: json_string_length(json))
            return .string(String(decoding: octets, as: UTF8.self))
        case JSON_INTEGER: return .integer(Int(json_integer_value(json)))
        case JSON_REAL:
            let number = json_real_value(json)
            return Int(exactly: number).map { .integer($0) } ?? .number(number)
        case JSON_TRUE: return true
        case JSON_FALSE: return false
        default: return nil
        }
    }
}
