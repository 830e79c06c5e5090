import CSystemd

extension SystemBus.Argument {
    /// The type of the value in a message.
    private var signature: String {
        switch self {
        case .text: "s"
        case .number: "i"
        case .truth: "b"
        case .path: "o"
        case .texts: "as"
        case .octets: "ay"
        case .table: "a{sv}"
        case .tables: "a{sa{sv}}"
        case .objects: "a{oa{sa{sv}}}"
        case .short: "q"
        case .descriptor: "h"
        case .variant: "v"
        }
    }

    func append(to message: OpaquePointer?) throws(LoopError) {
        switch self {
        case .text(let text), .path(let text):
            try Self.check(sd_bus_message_append_basic(message, CChar(signature.utf8.first!), text))
        case .number(var number): try Self.check(sd_bus_message_append_basic(message, CChar(UInt8(ascii: "i")), &number))
        case .truth(let truth):
            var number: Int32 = truth ? 1 : 0
            try Self.check(sd_bus_message_append_basic(message, CChar(UInt8(ascii: "b")), &number))
        case .octets(let octets):
            try Self.check(sd_bus_message_append_array(message, CChar(UInt8(ascii: "y")), octets, octets.count))
        case .texts(let texts):
            try Self.contain("a", "s", in: message) { () throws(LoopError) in
                for text in texts { try Self.text(text).append(to: message) }
            }
        case .table(let table): try Self.append(table.mapValues { .variant($0) }, "sv", to: message)
        case .tables(let tables): try Self.append(tables.mapValues { .table($0) }, "sa{sv}", to: message)
        case .objects(let objects): try Self.append(objects.mapValues { .tables($0) }, "oa{sa{sv}}", to: message)
        case .short(var number): try Self.check(sd_bus_message_append_basic(message, CChar(UInt8(ascii: "q")), &number))
        case .descriptor(let descriptor):
            var number = descriptor.number
            try Self.check(sd_bus_message_append_basic(message, CChar(UInt8(ascii: "h")), &number))
        case .variant(let value):
            try Self.contain("v", value.signature, in: message) { () throws(LoopError) in try value.append(to: message) }
        }
    }

    /// Appends a dictionary in the order of its keys, so that equal values give equal messages. BlueZ numbers a service's attributes in the order of
    /// its objects, and a laptop that has used the service remembers those numbers.
    private static func append(_ entries: [String: Self], _ type: String, to message: OpaquePointer?) throws(LoopError) {
        try contain("a", "{\(type)}", in: message) { () throws(LoopError) in
            for (key, value) in entries.sorted(by: { $0.key < $1.key }) {
                try contain("e", type, in: message) { () throws(LoopError) in
                    try (type.hasPrefix("o") ? Self.path(key) : .text(key)).append(to: message)
                    try value.append(to: message)
                }
            }
        }
    }

    private static func contain(
        _ type: Unicode.Scalar, _ contents: String, in message: OpaquePointer?, _ body: () throws(LoopError) -> Void
    ) throws(LoopError) {
        try check(sd_bus_message_open_container(message, CChar(UInt8(ascii: type)), contents))
        try body()
        try check(sd_bus_message_close_container(message))
    }

    private static func check(_ result: Int32) throws(LoopError) {
        guard result >= 0 else { throw LoopError(operation: "sd_bus_message_append", code: -result) }
    }
}
