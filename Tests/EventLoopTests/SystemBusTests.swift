import CSystemd
import Foundation
import TestSupport
import Testing

@testable import EventLoop

private let isCI = ProcessInfo.processInfo.environment["CI"] == "true"

/// A bus of the test's own, with a service on it.
@Suite(.timeLimit(.minutes(10)), .enabled(if: isCI || PrivateBus.canRun, "needs dbus-daemon")) struct SystemBusTests {
    init() { EventLoop.startThread() }

    private final class Bus {
        private let own: PrivateBus
        var address: String { own.address }

        init() throws { own = try PrivateBus() }

        /// A connection of a program with this name, or without one.
        func connect(_ name: String?) -> OpaquePointer? {
            var bus: OpaquePointer?
            #expect(sd_bus_new(&bus) >= 0 && sd_bus_set_address(bus, address) >= 0 && sd_bus_set_bus_client(bus, 1) >= 0)
            #expect(sd_bus_start(bus) >= 0)
            if let name { #expect(sd_bus_request_name(bus, name, 0) >= 0) }
            return bus
        }
    }

    private func character(_ text: Unicode.Scalar) -> CChar { CChar(UInt8(ascii: text)) }

    private func send(_ value: Bool, as member: String, over bus: OpaquePointer?) {
        var message: OpaquePointer?
        var truth: Int32 = value ? 1 : 0
        #expect(sd_bus_message_new_signal(bus, &message, "/a", "org.example.Manager", member) >= 0)
        #expect(sd_bus_message_append_basic(message, character("b"), &truth) >= 0)
        #expect(sd_bus_send(bus, message, nil) >= 0 && sd_bus_flush(bus) >= 0)
        sd_bus_message_unref(message)
    }

    /// Signals that an object was removed.
    private func sendRemoval(of object: String, over bus: OpaquePointer?) {
        var message: OpaquePointer?
        #expect(sd_bus_message_new_signal(bus, &message, "/a", "org.example.Manager", "Sleeps") >= 0)
        #expect(sd_bus_message_append_basic(message, character("s"), "c1") >= 0)
        #expect(sd_bus_message_append_basic(message, character("o"), object) >= 0)
        #expect(sd_bus_send(bus, message, nil) >= 0 && sd_bus_flush(bus) >= 0)
        sd_bus_message_unref(message)
    }

    /// Signals that one property with a number and two with Booleans have changed.
    private func sendProperties(of interface: String, over bus: OpaquePointer?) {
        var message: OpaquePointer?
        let path = "/a/b"
        #expect(
            sd_bus_message_new_signal(bus, &message, path, "org.freedesktop.DBus.Properties", "PropertiesChanged") >= 0)
        #expect(sd_bus_message_append_basic(message, character("s"), interface) >= 0)
        #expect(sd_bus_message_open_container(message, character("a"), "{sv}") >= 0)
        for (name, type, value) in [("Since", "t", Int64(7)), ("LidClosed", "b", 1), ("IdleHint", "b", 0)] {
            var value = value
            #expect(sd_bus_message_open_container(message, character("e"), "sv") >= 0)
            #expect(sd_bus_message_append_basic(message, character("s"), name) >= 0)
            #expect(sd_bus_message_open_container(message, character("v"), type) >= 0)
            #expect(sd_bus_message_append_basic(message, character(type.unicodeScalars.first!), &value) >= 0)
            for _ in 0..<2 { #expect(sd_bus_message_close_container(message) >= 0) }
        }
        #expect(sd_bus_message_close_container(message) >= 0)
        #expect(sd_bus_message_open_container(message, character("a"), "s") >= 0 && sd_bus_message_close_container(message) >= 0)
        #expect(sd_bus_send(bus, message, nil) >= 0 && sd_bus_flush(bus) >= 0)
        sd_bus_message_unref(message)
    }

    @Test @LoopActor func signalsOfOneServiceAreHeardAndOfNoOther() async throws {
        let daemon = try Bus()
        let service = daemon.connect("org.example")
        let forger = daemon.connect(nil)
        defer { for bus in [service, forger] { sd_bus_close_unref(bus) } }
        var heard: [SystemBus.BusSignal] = []
        let bus = try SystemBus(address: daemon.address) { heard.append($0) }
        try bus.listen(to: "Sleeps", of: "org.example.Manager", from: "org.example")
        try bus.listenToProperties(of: "org.example.Manager", from: "org.example")
        // Until the bus has the match rules, it passes on no signal.
        while heard.isEmpty {
            send(true, as: "Sleeps", over: service)
            await pause()
        }
        heard = []
        send(true, as: "Sleeps", over: forger)
        sendProperties(of: "org.example.Other", over: service)
        send(true, as: "Wakes", over: service)
        sendProperties(of: "org.example.Manager", over: service)
        sendRemoval(of: "/session/1", over: service)
        send(false, as: "Sleeps", over: service)
        while heard.last?.flags != ["Sleeps": false] { await pause() }
        heard.removeAll { $0.flags == ["Sleeps": true] && $0.path == "/a" }
        #expect(
            heard == [
                .init(path: "/a/b", flags: ["LidClosed": true, "IdleHint": false]),
                .init(path: "/session/1", flags: ["Sleeps": true]), .init(path: "/a", flags: ["Sleeps": false]),
            ])
    }

    @Test @LoopActor func aDescriptorThatIsRefusedIsNone() async throws {
        let daemon = try Bus()
        let bus = try SystemBus(address: daemon.address) { _ in }
        var answers: [Int32?] = []
        try bus.askForDescriptor("Inhibit", of: "org.example.Manager", at: "/a", from: "org.example", ["sleep"]) {
            answers.append($0)
        }
        while answers.isEmpty { await pause() }
        #expect(answers == [nil])
    }

    /// The bus itself is a service with methods and properties.
    @Test @LoopActor func callsReturnValuesAndRefusalsAreNone() async throws {
        let daemon = try Bus()
        let service = daemon.connect("org.example")
        defer { sd_bus_close_unref(service) }
        let bus = try SystemBus(address: daemon.address) { _ in }
        #expect(bus.isOpen)
        var answers: [String: [BusValue]?] = [:]
        let dbus = SystemBus.Object("org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus")
        bus.call("NameHasOwner", of: dbus, [.text("org.example")]) { answers["owner"] = $0 }
        bus.call("ListNames", of: dbus) { answers["names"] = $0 }
        bus.call("NoSuchMethod", of: dbus) { answers["unknown"] = $0 }
        bus.call("GetAll", of: .init("org.example.absent", "/", "org.freedesktop.DBus.Properties"), [.text("x")]) {
            answers["absent"] = $0
        }
        bus.properties(of: dbus) { answers["properties"] = $0.map { [.table($0)] } }
        while answers.count < 5 { await pause() }
        #expect(answers["owner"] == [.boolean(true)])
        #expect(answers["names"]??.first?.list.contains(.text("org.example")) == true)
        #expect(answers["unknown"] == .some(nil) && answers["absent"] == .some(nil))
        #expect(answers["properties"]??.first?.table["Interfaces"]?.list.isEmpty == false)
    }

    @Test @LoopActor func anObjectIsOfferedAndItsCallerIsTold() async throws {
        let daemon = try Bus()
        let offers = try SystemBus(address: daemon.address) { _ in }
        var callers: [String] = []
        try offers.serve("/agent") { caller, method in
            callers.append(caller)
            return method == "Secret" ? [.text("canary")] : nil
        }
        var names: [String]?
        let dbus = SystemBus.Object("org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus")
        func look(by bus: SystemBus) async {
            names = nil
            bus.call("ListNames", of: dbus) {
                names = ($0?.first?.list ?? []).compactMap(\.text).filter { $0.hasPrefix(":") }.sorted()
            }
            while names == nil { await pause() }
        }
        // The first name belongs to `offers`, because no other client is connected yet.
        await look(by: offers)
        let other = try #require(names?.first)
        let asks = try SystemBus(address: daemon.address) { _ in }
        await look(by: asks)
        var answers: [Result<[BusValue], SystemBus.CallFailure>] = []
        for method in ["Secret", "Other"] {
            asks.ask(method, of: .init(other, "/agent", "org.example.Agent")) { answers.append($0) }
        }
        while answers.count < 2 { await pause() }
        #expect(answers[0] == .success([.text("canary")]))
        guard case .failure(let failure) = answers[1] else {
            Issue.record("it was answered")
            return
        }
        #expect(failure.name == "org.freedesktop.DBus.Error.UnknownMethod" && !failure.isAbsence && !failure.isRefusal)
        #expect(names?.count == 2 && callers == (names ?? []).filter { $0 != other } + (names ?? []).filter { $0 != other })
    }

    @Test @LoopActor func objectsBelowAPathAreOffered() async throws {
        let daemon = try Bus()
        let offers = try SystemBus(address: daemon.address) { _ in }
        var calls: [SystemBus.Call] = []
        let objects: SystemBus.Argument = .objects([
            "/app/one": ["org.example.Thing": ["Flags": .texts(["read"]), "Size": .short(500)]]
        ])
        try offers.serve(below: "/app") { call in
            calls.append(call)
            switch call.method {
            case "List": return .values([objects])
            case "Open":
                let descriptor = open("/dev/zero", O_RDONLY | O_CLOEXEC)
                return .values([.descriptor(SystemBus.Descriptor(descriptor)), .short(185)])
            case "Refuse": return .error("org.example.Error.No", "not now")
            default: return .unknown
            }
        }
        var names: [String]?
        let dbus = SystemBus.Object("org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus")
        // No other client is connected yet, so the list contains only this name.
        offers.call("ListNames", of: dbus) { names = ($0?.first?.list ?? []).compactMap(\.text).filter { $0.hasPrefix(":") } }
        while names == nil { await pause() }
        let service = try #require(names?.first)
        #expect(names?.count == 1)
        let asks = try SystemBus(address: daemon.address) { _ in }

        var answers: [String: Result<[BusValue], SystemBus.CallFailure>] = [:]
        for (method, path) in [("List", "/app"), ("Refuse", "/app/one/two"), ("Other", "/app"), ("List", "/application")] {
            asks.ask(method, of: .init(service, path, "org.example.Thing"), [.octets([1, 2]), .table(["mtu": .short(23)])]) {
                answers[method + path] = $0
            }
        }
        var opened: (Int32?, [BusValue])?
        asks.askForDescriptor("Open", of: .init(service, "/app/one", "org.example.Thing"), []) { opened = ($0, $1) }
        while answers.count < 4 || opened == nil { await pause() }
        let thing: BusValue = .table(["Flags": .list([.text("read")]), "Size": .number(500)])
        #expect(answers["List/app"] == .success([.table(["/app/one": .table(["org.example.Thing": thing])])]))
        #expect(answers["Refuse/app/one/two"] == .failure(.init(name: "org.example.Error.No", words: "not now")))
        for refused in ["Other/app", "List/application"] {
            guard case .failure(let failure) = answers[refused] else {
                Issue.record("\(refused) was answered")
                continue
            }
            #expect(failure.name.hasPrefix("org.freedesktop.DBus.Error.Unknown"))
        }
        let refused = try #require(calls.first { $0.method == "Refuse" })
        #expect(refused.path == "/app/one/two" && refused.interface == "org.example.Thing" && refused.sender != service)
        #expect(refused.arguments == [.list([.number(1), .number(2)]), .table(["mtu": .number(23)])])
        let descriptor = try #require(opened?.0)
        defer { close(descriptor) }
        var octet: UInt8 = 9
        #expect(read(descriptor, &octet, 1) == 1 && octet == 0)
        #expect(opened?.1 == [.number(185)])
        // An answer that is longer than the caller's limit counts as no answer.
        var short: Result<[BusValue], SystemBus.CallFailure>?
        asks.ask("List", of: .init(service, "/app", "org.example.Thing"), limit: 3) { short = $0 }
        while short == nil { await pause() }
        #expect(short == .failure(.init(name: "", words: "")))
    }

    @Test @LoopActor func dictionariesAreSentInTheOrderOfTheirKeys() throws {
        let bus = try Bus().connect(nil)
        defer { sd_bus_flush_close_unref(bus) }
        let paths = (10..<40).map { "/app/part\($0)" }
        let objects = Dictionary(uniqueKeysWithValues: paths.map { ($0, [String: [String: SystemBus.Argument]]()) })
        var message: OpaquePointer?
        #expect(sd_bus_message_new_signal(bus, &message, "/a", "org.example.Thing", "Objects") >= 0)
        defer { sd_bus_message_unref(message) }
        try SystemBus.Argument.objects(objects).append(to: message)
        #expect(sd_bus_message_seal(message, 1, 0) >= 0)
        #expect(sd_bus_message_enter_container(message, character("a"), "{oa{sa{sv}}}") > 0)
        var sent: [String] = []
        while sd_bus_message_enter_container(message, character("e"), "oa{sa{sv}}") > 0 {
            var path: UnsafePointer<CChar>?
            #expect(sd_bus_message_read_basic(message, character("o"), &path) > 0)
            sent.append(path.map { String(cString: $0) } ?? "")
            #expect(sd_bus_message_skip(message, "a{sa{sv}}") > 0 && sd_bus_message_exit_container(message) > 0)
        }
        #expect(sent == paths)
    }

    @Test @LoopActor func theEndOfTheBusIsNoticed() async throws {
        var daemon: Bus? = try Bus()
        let bus = try SystemBus(address: try #require(daemon).address) { _ in }
        var losses = 0
        try bus.onLoss { losses += 1 }
        var names: [BusValue]?
        let dbus = SystemBus.Object("org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus")
        bus.call("ListNames", of: dbus) { names = $0 }
        while names == nil { await pause() }
        #expect(losses == 0 && bus.isOpen)
        daemon = nil
        while losses == 0 { await pause() }
        #expect(losses == 1 && !bus.isOpen)
    }

    @Test @LoopActor func noBusIsAnError() {
        #expect(throws: LoopError.self) { try SystemBus(address: "unix:path=/nonexistent/bus") { _ in } }
    }

    @LoopActor private func pause() async {
        var source: EventSource?
        await withCheckedContinuation { continuation in
            source = try! EventLoop.shared.schedule(after: .milliseconds(5)) { continuation.resume() }
        }
        source?.cancel()
    }
}
