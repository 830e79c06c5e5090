import CSystemd
import Glibc

/// A connection to the system's message bus, for the signals of one service. The service's name is checked by the bus, because every user
/// may send signals.
@LoopActor public final class SystemBus {
    /// A signal that says yes or no.
    public struct BusSignal: Hashable, Sendable {
        /// The object that sent it, or that it names.
        public let path: String
        /// The signal's own truth under its name, which is yes if it names an object; or those properties that are truths and changed.
        public let flags: [String: Bool]
    }

    private var bus: OpaquePointer?
    private var handler: (BusSignal) -> Void

    /// - Parameter address: of another bus than the system's.
    public init(address: String? = nil, _ handler: @escaping (BusSignal) -> Void) throws(LoopError) {
        self.handler = handler
        if let address {
            try check("sd_bus_new", sd_bus_new(&bus))
            try check("sd_bus_set_address", sd_bus_set_address(bus, address))
            try check("sd_bus_set_bus_client", sd_bus_set_bus_client(bus, 1))
            try check("sd_bus_start", sd_bus_start(bus))
        } else {
            try check("sd_bus_open_system", sd_bus_open_system(&bus))
        }
        try check("sd_bus_attach_event", sd_bus_attach_event(bus, EventLoop.shared.event, 0))
    }

    isolated deinit { sd_bus_close_unref(bus) }

    /// Listens to a signal of a service; `properties`: to changes of the properties of an interface of it.
    public func listen(to member: String, of interface: String, from sender: String) throws(LoopError) {
        try listen("interface='\(interface)',member='\(member)'", sender)
    }

    public func listenToProperties(of interface: String, from sender: String) throws(LoopError) {
        try listen("interface='org.freedesktop.DBus.Properties',member='PropertiesChanged',arg0='\(interface)'", sender)
    }

    private func listen(_ rule: String, _ sender: String) throws(LoopError) {
        let userdata = Unmanaged.passUnretained(self).toOpaque()
        let result = sd_bus_add_match_async(
            bus, nil, "type='signal',sender='\(sender)',\(rule)",
            { message, userdata, _ in
                // sd-bus calls back on the loop's thread, and only while the bus is there, whose owner closes it.
                nonisolated(unsafe) let (message, userdata) = (message, userdata!)
                LoopActor.assumeIsolated {
                    let owner = Unmanaged<SystemBus>.fromOpaque(userdata).takeUnretainedValue()
                    if let signal = SystemBus.read(message) { owner.handler(signal) }
                }
                return 0
            }, { _, _, _ in 0 }, userdata)
        try check("sd_bus_add_match_async", result)
    }

    /// Calls a method that takes texts and returns a descriptor, which is the handler's; `nil` if it was refused.
    public func askForDescriptor(
        _ method: String, of interface: String, at path: String, from service: String, _ words: [String],
        _ handler: @escaping (Int32?) -> Void
    ) throws(LoopError) {
        var call: OpaquePointer?
        try check("sd_bus_message_new_method_call", sd_bus_message_new_method_call(bus, &call, service, path, interface, method))
        defer { sd_bus_message_unref(call) }
        for word in words { try check("sd_bus_message_append_basic", sd_bus_message_append_basic(call, Self.text, word)) }
        let box = Unmanaged.passRetained(AnswerBox(handler))
        let result = sd_bus_call_async(
            bus, nil, call,
            { message, userdata, _ in
                nonisolated(unsafe) let (message, userdata) = (message, userdata!)
                LoopActor.assumeIsolated {
                    var descriptor: Int32 = -1
                    let isThere =
                        sd_bus_message_is_method_error(message, nil) == 0
                        && sd_bus_message_read_basic(message, SystemBus.descriptor, &descriptor) > 0
                    // The message closes its own one.
                    let copy = isThere ? fcntl(descriptor, F_DUPFD_CLOEXEC, 3) : -1
                    Unmanaged<AnswerBox>.fromOpaque(userdata).takeRetainedValue().handler(copy >= 0 ? copy : nil)
                }
                return 0
            }, box.toOpaque(), 0)
        if result < 0 { box.release() }
        try check("sd_bus_call_async", result)
    }

    private final class AnswerBox {
        let handler: (Int32?) -> Void
        init(_ handler: @escaping (Int32?) -> Void) { self.handler = handler }
    }

    private func check(_ operation: String, _ result: Int32) throws(LoopError) {
        guard result >= 0 else { throw LoopError(operation: operation, code: -result) }
    }

    // MARK: Messages

    private static let text = CChar(UInt8(ascii: "s"))
    private static let object = CChar(UInt8(ascii: "o"))
    private static let truth = CChar(UInt8(ascii: "b"))
    private static let descriptor = CChar(UInt8(ascii: "h"))
    private static let array = CChar(UInt8(ascii: "a"))
    private static let entry = CChar(UInt8(ascii: "e"))
    private static let variant = CChar(UInt8(ascii: "v"))

    private static func read(_ message: OpaquePointer?) -> BusSignal? {
        guard let path = sd_bus_message_get_path(message), let member = sd_bus_message_get_member(message) else { return nil }
        var flags: [String: Bool] = [:]
        if sd_bus_message_has_signature(message, "b") > 0 {
            flags[String(cString: member)] = readTruth(message)
        } else if sd_bus_message_has_signature(message, "so") > 0 {
            guard readText(message) != nil, let named = readText(message, object) else { return nil }
            return BusSignal(path: named, flags: [String(cString: member): true])
        } else if sd_bus_message_has_signature(message, "sa{sv}as") > 0 {
            guard readText(message) != nil, sd_bus_message_enter_container(message, array, "{sv}") > 0 else { return nil }
            while sd_bus_message_enter_container(message, entry, "sv") > 0 {
                guard let name = readText(message) else { return nil }
                // Entering fails for a variant of another type.
                if sd_bus_message_enter_container(message, variant, "b") > 0 {
                    flags[name] = readTruth(message)
                    sd_bus_message_exit_container(message)
                } else {
                    sd_bus_message_skip(message, "v")
                }
                guard sd_bus_message_exit_container(message) >= 0 else { return nil }
            }
        }
        return BusSignal(path: String(cString: path), flags: flags)
    }

    private static func readTruth(_ message: OpaquePointer?) -> Bool? {
        var value: Int32 = 0
        return sd_bus_message_read_basic(message, truth, &value) > 0 ? value != 0 : nil
    }

    private static func readText(_ message: OpaquePointer?, _ type: CChar = text) -> String? {
        var value: UnsafePointer<CChar>?
        return sd_bus_message_read_basic(message, type, &value) > 0 ? value.map { String(cString: $0) } : nil
    }
}
