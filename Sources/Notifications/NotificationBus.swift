import CSystemd
import Glibc

/// Shows the notifications of this session, over the session's bus.
struct NotificationBus: ~Copyable {
    enum Event: Equatable { case invoked(UInt32, key: String), closed(UInt32) }

    private static let (service, path) = ("org.freedesktop.Notifications", "/org/freedesktop/Notifications")
    private var bus: OpaquePointer?
    private let hasActions: Bool
    private let hasMarkup: Bool
    /// Whether the server shows a button for the action `default` (a click on the notification itself), even if its label is empty (seen with Xfce's
    /// server 0.9.7).
    private let showsClick: Bool

    /// Connects to the bus, and asks for the capabilities of the server; `nil` without a bus.
    init?() {
        guard sd_bus_open_user(&bus) >= 0 else { return nil }
        for signal in ["ActionInvoked", "NotificationClosed"] {
            sd_bus_add_match(
                bus, nil, "type='signal',sender='\(Self.service)',interface='\(Self.service)',member='\(signal)'", nil, nil)
        }
        let capabilities = Self.capabilities(bus)
        hasActions = capabilities.contains("actions")
        hasMarkup = capabilities.contains("body-markup")
        showsClick = Self.name(bus)?.hasPrefix("Xfce ") == true
    }

    deinit { sd_bus_flush_close_unref(bus) }

    var descriptor: Int32 { sd_bus_get_fd(bus) }
    var isOpen: Bool { sd_bus_is_open(bus) > 0 }

    private static func capabilities(_ bus: OpaquePointer?) -> Set<String> {
        guard let reply = call("GetCapabilities", bus) else { return [] }
        defer { sd_bus_message_unref(reply) }
        var words: Set<String> = []
        guard sd_bus_message_enter_container(reply, character("a"), "s") > 0 else { return [] }
        while let word = string(reply) { words.insert(word) }
        return words
    }

    /// Returns the server's name.
    private static func name(_ bus: OpaquePointer?) -> String? {
        guard let reply = call("GetServerInformation", bus) else { return nil }
        defer { sd_bus_message_unref(reply) }
        return string(reply)
    }

    /// Calls a method without parameters, and returns the reply, which the caller must release; `nil` after an error.
    private static func call(_ method: String, _ bus: OpaquePointer?) -> OpaquePointer? {
        var (call, reply): (OpaquePointer?, OpaquePointer?)
        guard sd_bus_message_new_method_call(bus, &call, service, path, service, method) >= 0 else { return nil }
        defer { sd_bus_message_unref(call) }
        return sd_bus_call(bus, call, 0, nil, &reply) >= 0 ? reply : nil
    }

    /// Returns the next string of a message; `nil` at the end of the message.
    private static func string(_ message: OpaquePointer?) -> String? {
        var text: UnsafePointer<CChar>?
        return sd_bus_message_read_basic(message, character("s"), &text) > 0 ? text.map { String(cString: $0) } : nil
    }

    /// Shows a notification, and returns its number, or 0 after an error. The new notification replaces the notification with the
    /// number `replacing`, unless that is 0.
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
        // Makes a click on the notification itself do the same as the first button, except on servers that would show an extra button for it.
        if buttons.first?.isDefault == true, !showsClick { for text in ["default", ""] { append(text) } }
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

    /// Returns the events of the shown notifications, without waiting.
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
                guard let key = Self.string(signal) else { continue }
                events.append(.invoked(number, key: key))
            }
        }
        return events
    }

    /// Escapes the text, so that the name of a network cannot be read as markup.
    private func escaped(_ text: String) -> String {
        guard hasMarkup else { return text }
        return text.map { ["&": "&amp;", "<": "&lt;", ">": "&gt;"][$0] ?? String($0) }.joined()
    }

    private static func character(_ text: Unicode.Scalar) -> CChar { CChar(UInt8(ascii: text)) }
}
