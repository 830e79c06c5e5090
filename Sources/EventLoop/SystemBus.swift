import CSystemd
import Glibc

/// A connection to the system's message bus. Every user may send signals, so the bus checks their sender.
@LoopActor public final class SystemBus {
    /// A signal with a Boolean.
    public struct BusSignal: Hashable, Sendable {
        /// The object that sent the signal, or the object that the signal names.
        public let path: String
        /// The signal's Boolean argument under the signal's name (true if the argument names an object), or the changed Boolean properties.
        public let flags: [String: Bool]
    }

    /// An object of a service, and one of its interfaces.
    public struct Object: Hashable, Sendable {
        let service: String
        let path: String
        let interface: String

        public init(_ service: String, _ path: String, _ interface: String) {
            self.service = service
            self.path = path
            self.interface = interface
        }
    }

    /// An argument of a call.
    public indirect enum Argument: Hashable, Sendable {
        case text(String)
        case number(Int32)
        case truth(Bool)
        /// The path of an object.
        case path(String)
        case texts([String])
        case octets([UInt8])
        /// A dictionary from texts to variants.
        case table([String: Argument])
        /// A dictionary from texts to dictionaries of this kind.
        case tables([String: [String: Argument]])
        /// The paths of objects, with the properties of their interfaces.
        case objects([String: [String: [String: Argument]]])
        case short(UInt16)
        case descriptor(Descriptor)
        case variant(Argument)
    }

    /// A descriptor to pass in a message. The message copies it, and this object closes the original.
    public final class Descriptor: Hashable, Sendable {
        public let number: Int32
        public init(_ number: Int32) { self.number = number }
        deinit { close(number) }

        public static func == (a: Descriptor, b: Descriptor) -> Bool { a === b }
        public func hash(into hasher: inout Hasher) { hasher.combine(number) }
    }

    /// The reason why a call has no answer.
    public struct CallFailure: Error, Hashable, Sendable {
        /// The error's name; empty if the call could not be sent, or its answer cannot be read.
        public let name: String
        /// The words of the service.
        public let words: String

        /// Whether the caller lacks the permission.
        public var isRefusal: Bool { name.hasSuffix("PermissionDenied") || name.hasSuffix("AccessDenied") }
        /// Whether the service is missing or does not answer.
        public var isAbsence: Bool {
            let absent = ["ServiceUnknown", "NameHasNoOwner", "NoReply", "Timeout", "Disconnected"]
            return name.isEmpty || absent.contains { name == "org.freedesktop.DBus.Error.\($0)" }
        }
    }

    /// The time within which a service must answer.
    public static let patience = Duration.seconds(3)

    /// The largest number of values that are read from a message, including nested ones.
    public nonisolated static let valueLimit = 8192

    private(set) var bus: OpaquePointer?
    private let handler: (BusSignal) -> Void
    /// The watchers, which must live as long as the bus holds their addresses.
    var watchers: [AnyObject] = []

    /// - Parameter address: the address of a bus other than the system's.
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

    /// Whether the connection is open; it ends with the bus.
    public var isOpen: Bool { sd_bus_is_open(bus) > 0 }

    // MARK: Signals

    /// Listens to a signal of a service.
    public func listen(to member: String, of interface: String, from sender: String) throws(LoopError) {
        try listen("interface='\(interface)',member='\(member)'", sender)
    }

    /// Listens to changes of an interface's properties.
    public func listenToProperties(of interface: String, from sender: String) throws(LoopError) {
        try listen("interface='org.freedesktop.DBus.Properties',member='PropertiesChanged',arg0='\(interface)'", sender)
    }

    private func listen(_ rule: String, _ sender: String) throws(LoopError) {
        let userdata = Unmanaged.passUnretained(self).toOpaque()
        let result = sd_bus_add_match_async(
            bus, nil, "type='signal',sender='\(sender)',\(rule)",
            { message, userdata, _ in
                // sd-bus calls back only on the loop's thread, and only until the owner closes the bus.
                nonisolated(unsafe) let (message, userdata) = (message, userdata!)
                LoopActor.assumeIsolated {
                    let owner = Unmanaged<SystemBus>.fromOpaque(userdata).takeUnretainedValue()
                    if SystemBus.isBroadcast(message), let signal = SystemBus.signal(message) { owner.handler(signal) }
                }
                return 0
            }, { _, _, _ in 0 }, userdata)
        try check("sd_bus_add_match_async", result)
    }

    /// Calls the handler for each signal of a service, with the object that sent it and the signal's values, as long as the bus
    /// exists.
    ///
    /// - Parameter argument: limits the signals to those whose first argument is this text.
    public func watch(
        _ member: String, of interface: String, from sender: String, about argument: String? = nil,
        _ handler: @escaping (_ path: String, _ values: [BusValue]) -> Void
    ) throws(LoopError) {
        let box = SignalBox(handler)
        let rule = "type='signal',sender='\(sender)',interface='\(interface)',member='\(member)'"
        let result = sd_bus_add_match_async(
            bus, nil, rule + (argument.map { ",arg0='\($0)'" } ?? ""),
            { message, userdata, _ in
                nonisolated(unsafe) let (message, userdata) = (message, userdata!)
                LoopActor.assumeIsolated {
                    guard SystemBus.isBroadcast(message), let path = sd_bus_message_get_path(message),
                        let values = BusMessageReader.values(of: message)
                    else { return }
                    Unmanaged<SignalBox>.fromOpaque(userdata).takeUnretainedValue().handler(String(cString: path), values)
                }
                return 0
            }, { _, _, _ in 0 }, Unmanaged.passUnretained(box).toOpaque())
        try check("sd_bus_add_match_async", result)
        watchers.append(box)
    }

    /// Calls the handler when the bus has ended and the connection is lost. sd-bus makes this signal itself, and does not reconnect.
    public func onLoss(_ handler: @escaping () -> Void) throws(LoopError) {
        let local = "org.freedesktop.DBus.Local"
        try watch("Disconnected", of: local, from: local) { _, _ in handler() }
    }

    /// Returns whether a signal is a broadcast: the bus checks the sender of a broadcast against the match. Ignore all other signals, because anyone
    /// can address a signal to this connection, and sd-bus would take the sender for the service with the well-known name.
    private static func isBroadcast(_ message: OpaquePointer?) -> Bool { sd_bus_message_get_destination(message) == nil }

    private final class SignalBox {
        let handler: (String, [BusValue]) -> Void
        init(_ handler: @escaping (String, [BusValue]) -> Void) { self.handler = handler }
    }

    /// Offers an object, whose calls the handler answers; the handler returns `nil` to refuse a call. The handler gets the caller's unique name.
    public func serve(_ path: String, _ handler: @escaping (_ caller: String, _ method: String) -> [Argument]?) throws(LoopError)
    {
        try offer(path, isTree: false) { call in handler(call.sender, call.method).map { .values($0) } ?? .unknown }
    }

    private static func signal(_ message: OpaquePointer?) -> BusSignal? {
        guard let path = sd_bus_message_get_path(message).map({ String(cString: $0) }),
            let member = sd_bus_message_get_member(message).map({ String(cString: $0) })
        else { return nil }
        let names = sd_bus_message_has_signature(message, "so") > 0
        guard let values = BusMessageReader.values(of: message) else { return nil }
        if names { return values[1].text.map { BusSignal(path: $0, flags: [member: true]) } }
        let flags =
            values.first?.boolean.map { [member: $0] } ?? (values.count > 1 ? values[1].table.compactMapValues(\.boolean) : [:])
        return BusSignal(path: path, flags: flags)
    }

    // MARK: Calls

    /// Calls a method without starting the service. The handler gets the values of the answer; `nil` if the service is missing, refuses, or does not
    /// answer.
    public func call(
        _ method: String, of object: Object, _ arguments: [Argument] = [], _ handler: @escaping ([BusValue]?) -> Void
    ) {
        ask(method, of: object, arguments) { handler(try? $0.get()) }
    }

    /// Calls a method like `call`. The handler gets the values of the answer, or the reason why there is none.
    ///
    /// - Parameters:
    ///   - patience: the time within which the service must answer.
    ///   - limit: the largest number of values in an answer.
    public func ask(
        _ method: String, of object: Object, _ arguments: [Argument] = [], within patience: Duration = SystemBus.patience,
        limit: Int = SystemBus.valueLimit,
        _ handler: @escaping (Result<[BusValue], CallFailure>) -> Void
    ) {
        let unsent = CallFailure(name: "", words: "")
        do throws(LoopError) {
            try send(method, to: object, arguments, patience) { message in
                guard let message else { return handler(.failure(unsent)) }
                guard let error = sd_bus_message_get_error(message) else {
                    return handler(BusMessageReader.values(of: message, limit: limit).map { .success($0) } ?? .failure(unsent))
                }
                func text(_ octets: UnsafePointer<CChar>?) -> String { octets.map { String(cString: $0) } ?? "" }
                handler(.failure(CallFailure(name: text(error.pointee.name), words: text(error.pointee.message))))
            }
        } catch {
            handler(.failure(unsent))
        }
    }

    /// Changes a property of an object's interface. The handler gets `nil` after success.
    public func setProperty(
        _ name: String, of object: Object, to value: Argument, _ handler: @escaping (CallFailure?) -> Void
    ) {
        let properties = Object(object.service, object.path, "org.freedesktop.DBus.Properties")
        ask("Set", of: properties, [.text(object.interface), .text(name), .variant(value)]) { result in
            if case .failure(let failure) = result { handler(failure) } else { handler(nil) }
        }
    }

    /// Reads the properties of an object's interface; `nil` as in `call`.
    public func properties(of object: Object, _ handler: @escaping ([String: BusValue]?) -> Void) {
        let properties = Object(object.service, object.path, "org.freedesktop.DBus.Properties")
        call("GetAll", of: properties, [.text(object.interface)]) { handler($0?.first?.table) }
    }

    /// Calls a method that takes texts and returns a descriptor, which the handler owns; `nil` if the call was refused.
    public func askForDescriptor(
        _ method: String, of interface: String, at path: String, from service: String, _ words: [String],
        _ handler: @escaping (Int32?) -> Void
    ) throws(LoopError) {
        try send(method, to: Object(service, path, interface), words.map { .text($0) }) { message in
            handler(Self.descriptor(in: message))
        }
    }

    /// Calls a method that returns a descriptor, which the handler owns, and more values; `nil` if the call was refused.
    public func askForDescriptor(
        _ method: String, of object: Object, _ arguments: [Argument], within patience: Duration = SystemBus.patience,
        _ handler: @escaping (_ descriptor: Int32?, _ more: [BusValue]) -> Void
    ) {
        do throws(LoopError) {
            try send(method, to: object, arguments, patience) { message in
                guard let descriptor = Self.descriptor(in: message) else { return handler(nil, []) }
                handler(descriptor, BusMessageReader.values(of: message) ?? [])
            }
        } catch {
            handler(nil, [])
        }
    }

    /// Returns a copy of the message's first value if that is a descriptor; the message closes the original.
    private static func descriptor(in message: OpaquePointer?) -> Int32? {
        var descriptor: Int32 = -1
        guard sd_bus_message_read_basic(message, CChar(UInt8(ascii: "h")), &descriptor) > 0 else { return nil }
        let copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 3)
        return copy >= 0 ? copy : nil
    }

    /// Calls a method. The handler gets the answer or the error.
    private func send(
        _ method: String, to object: Object, _ arguments: [Argument], _ patience: Duration = SystemBus.patience,
        _ handler: @escaping (OpaquePointer?) -> Void
    ) throws(LoopError) {
        var call: OpaquePointer?
        try check(
            "sd_bus_message_new_method_call",
            sd_bus_message_new_method_call(bus, &call, object.service, object.path, object.interface, method))
        defer { sd_bus_message_unref(call) }
        sd_bus_message_set_auto_start(call, 0)
        for argument in arguments { try argument.append(to: call) }
        let box = Unmanaged.passRetained(AnswerBox(handler))
        let result = sd_bus_call_async(
            bus, nil, call,
            { message, userdata, _ in
                nonisolated(unsafe) let (message, userdata) = (message, userdata!)
                LoopActor.assumeIsolated {
                    Unmanaged<AnswerBox>.fromOpaque(userdata).takeRetainedValue().handler(message)
                }
                return 0
            }, box.toOpaque(), UInt64(patience.nanoseconds / 1000))
        if result < 0 { box.release() }
        try check("sd_bus_call_async", result)
    }

    private final class AnswerBox {
        let handler: (OpaquePointer?) -> Void
        init(_ handler: @escaping (OpaquePointer?) -> Void) { self.handler = handler }
    }

    func check(_ operation: String, _ result: Int32) throws(LoopError) {
        guard result >= 0 else { throw LoopError(operation: operation, code: -result) }
    }
}
