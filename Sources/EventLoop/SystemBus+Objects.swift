import CSystemd

extension SystemBus {
    /// A call to an object that this program offers.
    public struct Call: Hashable, Sendable {
        /// The caller's unique name.
        public let sender: String
        public let path: String
        public let interface: String
        public let method: String
        public let arguments: [BusValue]

        public init(sender: String, path: String, interface: String, method: String, arguments: [BusValue]) {
            (self.sender, self.path, self.interface, self.method) = (sender, path, interface, method)
            self.arguments = arguments
        }
    }

    public enum Reply: Hashable, Sendable {
        case values([Argument])
        /// An error's name and its words.
        case error(String, String)
        /// There is no such object or method.
        case unknown
    }

    /// Offers an object and all objects below its path, as long as the bus exists.
    public func serve(below path: String, _ handler: @escaping (Call) -> Reply) throws(LoopError) {
        try offer(path, isTree: true, handler)
    }

    /// - Parameter isTree: whether to offer the objects below the path as well.
    func offer(_ path: String, isTree: Bool, _ handler: @escaping (Call) -> Reply) throws(LoopError) {
        let box = ObjectBox(handler)
        let add = isTree ? sd_bus_add_fallback : sd_bus_add_object
        let result = add(
            bus, nil, path,
            { message, userdata, _ in
                nonisolated(unsafe) let (message, userdata) = (message, userdata!)
                return LoopActor.assumeIsolated {
                    Unmanaged<ObjectBox>.fromOpaque(userdata).takeUnretainedValue().answer(message)
                }
            }, Unmanaged.passUnretained(box).toOpaque())
        try check(isTree ? "sd_bus_add_fallback" : "sd_bus_add_object", result)
        watchers.append(box)
    }

    private final class ObjectBox {
        let handler: (Call) -> Reply
        init(_ handler: @escaping (Call) -> Reply) { self.handler = handler }

        /// Returns 1 for a call that was answered, and 0 for a call that sd-bus then refuses.
        @LoopActor func answer(_ message: OpaquePointer?) -> Int32 {
            func text(_ octets: UnsafePointer<CChar>?) -> String { octets.map { String(cString: $0) } ?? "" }
            guard let arguments = BusMessageReader.values(of: message) else { return 0 }
            let call = Call(
                sender: text(sd_bus_message_get_sender(message)), path: text(sd_bus_message_get_path(message)),
                interface: text(sd_bus_message_get_interface(message)), method: text(sd_bus_message_get_member(message)),
                arguments: arguments)
            var reply: OpaquePointer?
            defer { sd_bus_message_unref(reply) }
            switch handler(call) {
            case .unknown:
                // Rewind the message: sd-bus may answer the call itself, and then reads the message from its beginning.
                sd_bus_message_rewind(message, 1)
                return 0
            case .error(let name, let words):
                let made = name.withCString { name in
                    words.withCString { words in
                        var error = sd_bus_error(name: name, message: words, _need_free: 0)
                        return sd_bus_message_new_method_error(message, &reply, &error)
                    }
                }
                guard made >= 0 else { return 0 }
            case .values(let values):
                guard sd_bus_message_new_method_return(message, &reply) >= 0 else { return 0 }
                for value in values where (try? value.append(to: reply)) == nil { return 0 }
            }
            return sd_bus_send(nil, reply, nil) >= 0 ? 1 : 0
        }
    }
}
