import CSystemd
import TestSupport
import Testing

@testable import EventLoop

/// A bus of the test's own, and a program on it whose answers the test gives.
@LoopActor final class FakePeer {
    enum Reply {
        case values([SystemBus.Argument])
        case error(String)
        /// The answer waits for ``answerHeld()``.
        case held([SystemBus.Argument])
        /// The program leaves the bus.
        case ends
    }

    var address: String { own.address }
    /// `Method` or `Method path`, to the answer; `GetAll` has the interface in place of the path's end.
    var replies: [String: Reply] = [:]
    var calls: [String] = []
    /// The program's further actions after its answer to a call.
    var onCall: (String) -> Void = { _ in }
    private let own: PrivateBus
    private var bus: OpaquePointer?
    private var held: [OpaquePointer] = []

    init(_ name: String) throws {
        own = try PrivateBus()
        #expect(sd_bus_new(&bus) >= 0 && sd_bus_set_address(bus, own.address) >= 0 && sd_bus_set_bus_client(bus, 1) >= 0)
        #expect(sd_bus_start(bus) >= 0 && sd_bus_request_name(bus, name, 0) >= 0)
        sd_bus_add_filter(
            bus, nil,
            { message, userdata, _ in
                nonisolated(unsafe) let (message, userdata) = (message, userdata!)
                return LoopActor.assumeIsolated {
                    Unmanaged<FakePeer>.fromOpaque(userdata).takeUnretainedValue().handle(message)
                }
            }, Unmanaged.passUnretained(self).toOpaque())
        #expect(sd_bus_attach_event(bus, EventLoop.shared.event, 0) >= 0)
    }

    func stop() {
        sd_bus_close_unref(bus)
        bus = nil
        own.stop()
    }

    /// The program ends.
    func leave() {
        sd_bus_flush(bus)
        sd_bus_close(bus)
    }

    private func handle(_ message: OpaquePointer?) -> Int32 {
        guard sd_bus_message_is_method_call(message, nil, nil) > 0, let member = sd_bus_message_get_member(message),
            let path = sd_bus_message_get_path(message)
        else { return 0 }
        let method = String(cString: member)
        let values = BusMessageReader.values(of: message) ?? []
        let isProperty = method == "GetAll" || method == "Set"
        let place = isProperty ? String(values[0].text!.split(separator: ".").last!) : String(cString: path)
        calls.append(method == "Set" ? "Set \(values[1].text!) \(values[2])" : "\(method) \(place)")
        var reply: OpaquePointer?
        switch replies["\(method) \(place)"] ?? replies[method] ?? .error("org.freedesktop.DBus.Error.UnknownMethod") {
        case .values(let arguments):
            sd_bus_message_new_method_return(message, &reply)
            for argument in arguments { try! argument.append(to: reply) }
        case .held(let arguments):
            sd_bus_message_new_method_return(message, &reply)
            for argument in arguments { try! argument.append(to: reply) }
            if let reply { held.append(reply) }
            return 1
        case .error(let name):
            var error = sd_bus_error()
            sd_bus_error_set(&error, name, "no")
            sd_bus_message_new_method_error(message, &reply, &error)
            sd_bus_error_free(&error)
        case .ends:
            sd_bus_close(bus)
            return 1
        }
        sd_bus_send(bus, reply, nil)
        sd_bus_message_unref(reply)
        onCall(method)
        return 1
    }

    func answerHeld() {
        for reply in held {
            sd_bus_send(bus, reply, nil)
            sd_bus_message_unref(reply)
        }
        held = []
    }

    func say(_ member: String, _ interface: String, at path: String, _ numbers: [UInt32]) {
        var signal: OpaquePointer?
        sd_bus_message_new_signal(bus, &signal, path, interface, member)
        for var number in numbers { sd_bus_message_append_basic(signal, CChar(UInt8(ascii: "u")), &number) }
        sd_bus_send(bus, signal, nil)
        sd_bus_message_unref(signal)
    }
}
