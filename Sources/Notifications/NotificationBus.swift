import CSystemd
import Glibc

/// The notifications of this session, over its bus.
struct NotificationBus: ~Copyable {
    enum Event: Equatable { case invoked(UInt32, key: String), closed(UInt32) }

    private static let (service, path) = ("org.freedesktop.Notifications", "/org/freedesktop/Notifications")
    private var bus: OpaquePointer?
    private let hasActions: Bool
    private let hasMarkup: Bool

    /// Connects, and asks what the server can; `nil` without a bus.
    init?() {
        guard sd_bus_open_user(&bus) >= 0 else { return nil }
        for signal in ["ActionInvoked", "NotificationClosed"] {
            sd_bus_add_match(
                bus, nil, "type='signal',sender='\(Self.service)',interface='\(Self.service)',member='\(signal)'", nil, nil)
        }
        let capabilities = Self.capabilities(bus)
        hasActions = capabilities.contains("actions")
        hasMarkup = capabilities.contains("body-markup")
    }

    deinit { sd_bus_flush_close_unref(bus) }

    var descriptor: Int32 { sd_bus_get_fd(bus) }
    var isOpen: Bool { sd_bus_is_open(bus) > 0 }

    private static func capabilities(_ bus: OpaquePointer?) -> Set<String> {
        var (call, reply): (OpaquePointer?, OpaquePointer?)
        guard sd_bus_message_new_method_call(bus, &call, service, path, service, "GetCapabilities") >= 0 else { return [] }
        defer { sd_bus_message_unref(call) }
        guard sd_bus_call(bus, call, 0, nil, &reply) >= 0 else { return [] }
        defer { sd_bus_message_unref(reply) }
        var words: Set<String> = []
        guard sd_bus_message_enter_container(reply, character("a"), "s") > 0 else { return [] }
        var word: UnsafePointer<CChar>?
        while sd_bus_message_read_basic(reply, character("s"), &word) > 0, let text = word { words.insert(String(cString: text)) }
        return words
    }

    /// Shows a notification in place of another one (0: of none), and returns its number; 0 if there is no server.
    func show(_ notice: Notice, replacing: UInt32) -> UInt32 {
        var (call, reply): (OpaquePointer?, OpaquePointer?)
        guard sd_bus_message_new_method_call(bus, &call, Self.service, Self.path, Self.service, "Notify") >= 0 else { return 0 }
        defer { sd_bus_message_unref(call) }
        let buttons = hasActions ? notice.actions : []
        let command = buttons.isEmpty ? notice.command.map { " In a terminal: \($0)" } ?? "" : ""
        func append(_ text: String) { sd_bus_message_append_basic(call, Self.character("s"), text) }
        append("hotspotd")
        var number = replacing
        sd_bus_message_append_basic(call, Self.character("u"), &number)
        append("network-wireless")
        append(notice.title)
        append(escaped(notice.body + command))
        sd_bus_message_open_container(call, Self.character("a"), "s")
        // A click on the notification itself is answered by the first button. Without words it is no button of its own.
        if !buttons.isEmpty { for text in ["default", ""] { append(text) } }
        for button in buttons { for text in [button.rawValue, button.label] { append(text) } }
        sd_bus_message_close_container(call)
        sd_bus_message_open_container(call, Self.character("a"), "{sv}")
        sd_bus_message_open_container(call, Self.character("e"), "sv")
        append("urgency")
        sd_bus_message_open_container(call, Self.character("v"), "y")
        var urgency: UInt8 = notice.kind == .question ? 2 : 1
        sd_bus_message_append_basic(call, Self.character("y"), &urgency)
        for _ in 0..<3 { sd_bus_message_close_container(call) }
        var patience: Int32 = -1
        sd_bus_message_append_basic(call, Self.character("i"), &patience)
        guard sd_bus_call(bus, call, 0, nil, &reply) >= 0 else { return 0 }
        defer { sd_bus_message_unref(reply) }
        sd_bus_message_read_basic(reply, Self.character("u"), &number)
        return number
    }

    func close(_ number: UInt32) {
        var (call, number): (OpaquePointer?, UInt32) = (nil, number)
        guard sd_bus_message_new_method_call(bus, &call, Self.service, Self.path, Self.service, "CloseNotification") >= 0 else {
            return
        }
        defer { sd_bus_message_unref(call) }
        sd_bus_message_append_basic(call, Self.character("u"), &number)
        sd_bus_call(bus, call, 0, nil, nil)
    }

    /// Returns what has happened to notifications, without waiting.
    func events() -> [Event] {
        var events: [Event] = []
        var message: OpaquePointer?
        while sd_bus_process(bus, &message) > 0 {
            guard let signal = message else { continue }
            defer { sd_bus_message_unref(signal) }
            var number: UInt32 = 0
            guard sd_bus_message_read_basic(signal, Self.character("u"), &number) > 0 else { continue }
            if sd_bus_message_is_signal(signal, Self.service, "NotificationClosed") > 0 {
                events.append(.closed(number))
            } else if sd_bus_message_is_signal(signal, Self.service, "ActionInvoked") > 0 {
                var key: UnsafePointer<CChar>?
                guard sd_bus_message_read_basic(signal, Self.character("s"), &key) > 0, let key else { continue }
                events.append(.invoked(number, key: String(cString: key)))
            }
        }
        return events
    }

    /// A name of a network must not become markup.
    private func escaped(_ text: String) -> String {
        guard hasMarkup else { return text }
        return text.map { ["&": "&amp;", "<": "&lt;", ">": "&gt;"][$0] ?? String($0) }.joined()
    }

    private static func character(_ text: Unicode.Scalar) -> CChar { CChar(UInt8(ascii: text)) }
}
