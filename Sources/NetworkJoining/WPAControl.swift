import EventLoop
import ForeignText
import Glibc

/// A connection to a control socket of wpa_supplicant (ctrl_iface_unix.c): datagrams whose answers come in order, with events between them.
///
/// Every wpa_supplicant has this socket, even if Debian's units for one interface, or ifupdown, started it without D-Bus.
@LoopActor final class WPAControl {
    /// The longest answer of wpa_supplicant (CTRL_IFACE_MAX_LEN and REPLY_SIZE).
    private static let limit = 8192
    private static let patience = Duration.seconds(3)

    var onEvent: (String) -> Void = { _ in }
    private var descriptor: Int32 = -1
    private var source: EventSource?
    private var questions: [(_ answer: String?) -> Void] = []
    private var timer: EventSource?

    /// Connects. The error shows whether there is no wpa_supplicant (ENOENT, ECONNREFUSED) or this user may not use it (EACCES).
    init(path: String) throws(LoopError) {
        descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0)
        guard descriptor >= 0 else { throw LoopError(operation: "socket", code: errno) }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        // Binds without a path: the kernel assigns an abstract name (unix(7), autobind), which works even with a private /tmp.
        let isBound = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sa_family_t>.size)) == 0
            }
        }
        var code = isBound ? 0 : errno
        let fits = withUnsafeMutableBytes(of: &address.sun_path) { place in
            guard path.utf8.count < place.count else { return false }
            place.copyBytes(from: path.utf8)
            return true
        }
        if isBound {
            let isConnected =
                fits
                && withUnsafePointer(to: &address) {
                    $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                        connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
                    }
                }
            if !isConnected { code = fits ? errno : ENAMETOOLONG }
        }
        // The deinitializer closes the socket: it also runs after an error here.
        guard code == 0 else { throw LoopError(operation: "connect", code: code) }
        source = try EventLoop.shared.watch(descriptor) { [weak self] _ in self?.receive() }
    }

    isolated deinit { end() }

    /// Sends a command. The handler gets the answer without its line feed, or `nil` if no answer comes.
    func ask(_ command: String, _ handler: @escaping (String?) -> Void) {
        guard descriptor >= 0, send(descriptor, command, command.utf8.count, Int32(MSG_NOSIGNAL)) >= 0 else {
            return handler(nil)
        }
        questions.append(handler)
        if questions.count == 1 { startTimer() }
    }

    /// Sends commands one after the other until an answer is not OK. The handler gets that answer, `.some(nil)` if no answer came, or `nil` if all
    /// were OK.
    func order(_ commands: ArraySlice<String>, _ handler: @escaping (_ refusal: String??) -> Void) {
        guard let first = commands.first else { return handler(.none) }
        ask(first) { [weak self] answer in
            guard answer == "OK" else { return handler(.some(answer)) }
            self?.order(commands.dropFirst(), handler)
        }
    }

    private func startTimer() {
        timer = questions.isEmpty ? nil : try? EventLoop.shared.schedule(after: Self.patience) { [weak self] in self?.end() }
    }

    private func receive() {
        var octets = [UInt8](repeating: 0, count: Self.limit)
        while descriptor >= 0 {
            let count = recv(descriptor, &octets, octets.count, 0)
            if count < 0 {
                if errno != EAGAIN, errno != EINTR { end() }
                return
            }
            var text = StreamSafe.text(String(decoding: octets[..<count], as: UTF8.self))
            while text.last == "\n" { text.removeLast() }
            if text.hasPrefix("<"), let level = text.firstIndex(of: ">") {
                onEvent(String(text[text.index(after: level)...]))
            } else if !questions.isEmpty {
                timer?.cancel()
                let handler = questions.removeFirst()
                startTimer()
                handler(text)
            }
        }
    }

    /// Closes the connection. The waiting handlers get `nil`.
    private func end() {
        guard descriptor >= 0 else { return }
        source?.cancel()
        timer?.cancel()
        close(descriptor)
        descriptor = -1
        let open = questions
        questions = []
        for handler in open { handler(nil) }
    }
}
