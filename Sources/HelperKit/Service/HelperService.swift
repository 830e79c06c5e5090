import EventLoop
import Glibc
import HotspotCore
import Varlink

/// Serves helpers to the daemon: on the listening sockets that the daemon passes, or one call on standard input.
///
/// Each connection carries one command, on its own thread; closing the connection cancels the command. With sockets, the process ends 10 s after its
/// last connection; before the first connection, it waits as long as its standard error has a reader.
public final class HelperService: Sendable {
    /// The version in the answers to Describe and GetInfo.
    public let version: String
    let helpers: [any Helper]
    let attempts: SharedProbe
    let policy: NetworkPolicy

    /// Milliseconds from the last connection to the end of the process.
    private static let idleLimit = 10_000

    /// The name of the socket for probes (`org.hotspotd.Probe`).
    static let proberName = "probe"

    /// The longest time in milliseconds that other commands wait for a probe's first packet.
    static let headStart = 20

    /// POLLRDHUP of poll(2): the peer closed the connection or its sending direction.
    private static let hangUp: Int16 = 0x2000

    /// Makes a service for these helpers; `version` is the program's.
    public convenience init(_ helpers: [any Helper], version: String) {
        self.init(helpers, version: version, attempts: .shared, policy: .strict)
    }

    init(_ helpers: [any Helper], version: String, attempts: SharedProbe, policy: NetworkPolicy) {
        self.helpers = helpers
        self.version = version
        self.attempts = attempts
        self.policy = policy
    }

    /// Serves the sockets that the environment names, otherwise one call on standard input and output. Then ends the process.
    ///
    /// - Parameter name: the helper that answers on standard input; `nil` for the first one.
    public func run(name: String? = nil) -> Never {
        signal(SIGPIPE, SIG_IGN)
        let sockets = ListeningSocket.fromEnvironment()
        if sockets.isEmpty {
            let connection = BlockingConnection(input: 0, output: 1)
            // The end of standard input does not cancel the call here, because a shell closes it once the call is written. The daemon's SIGTERM ends
            // the process.
            serve(connection, name: name ?? helpers.first?.name ?? "", Cancellation())
        } else {
            DetachedThread.shareHeap()
            // There is time to warm up, because the daemon starts this process while the network is being joined.
            Worker.startAside { [self] in
                HTTPClient.warmUp()
                warmUp()
            }
            serve(sockets, idleLimit: Self.idleLimit)
        }
        // Skips the exit handlers: the TLS library's handler would free memory that threads still use for requests that no longer matter.
        _exit(0)
    }

    /// Serves until `idleLimit` milliseconds have passed since the last connection closed. This thread accepts connections, and cancels a command
    /// when its connection closes.
    ///
    /// Other commands wait until a probe has sent its first packet. Otherwise, on a computer with one processor, the work that helpers do before they
    /// need the verdict would delay that packet (measured: 19 ms after the route instead of 14).
    func serve(_ sockets: [ListeningSocket], idleLimit: Int) {
        let sockets = sockets.filter { $0.name == Self.proberName } + sockets.filter { $0.name != Self.proberName }
        /// The number of first packets sent before the last probe came, and the time until which other commands wait for that probe's packet.
        var probe: (begun: Int, until: Instant)?
        /// The open connections, each with this thread's own descriptor, because another thread closes the original.
        var open: [(descriptor: Int32, cancellation: Cancellation)] = []
        defer { for connection in open { close(connection.descriptor) } }
        var wasAsked = false
        while true {
            var polls = sockets.map { pollfd(fd: $0.descriptor, events: Int16(POLLIN), revents: 0) }
            polls += open.map { pollfd(fd: $0.descriptor, events: Self.hangUp, revents: 0) }
            // Before the first command, this process ends only if the daemon has ended: then the daemon's end of the pipe is closed.
            if !wasAsked { polls.append(pollfd(fd: STDERR_FILENO, events: 0, revents: 0)) }
            let ready = poll(&polls, nfds_t(polls.count), open.isEmpty && wasAsked ? Int32(idleLimit) : -1)
            if ready == 0 { return }
            guard ready > 0 else { continue }
            if !wasAsked, let error = polls.last, Int32(error.revents) & POLLERR != 0 { return }
            for index in open.indices.reversed() where polls[sockets.count + index].revents != 0 {
                let (descriptor, cancellation) = open.remove(at: index)
                cancellation.cancel()
                close(descriptor)
            }
            for (socket, entry) in zip(sockets, polls) where entry.revents != 0 {
                guard Int32(entry.revents) & POLLIN != 0 else { return }
                let descriptor = accept(socket.descriptor, nil, nil)
                guard descriptor >= 0 else { continue }
                _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
                let own = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
                guard own >= 0 else {
                    close(descriptor)
                    continue
                }
                let cancellation = Cancellation()
                open.append((own, cancellation))
                wasAsked = true
                let isProbe = socket.name == Self.proberName
                if isProbe { probe = (LinkSocket.begun.with(\.self), .after(milliseconds: Self.headStart)) }
                Worker.start { [self, probe] in
                    if !isProbe, let probe { _ = LinkSocket.begun.wait(until: probe.until) { $0 > probe.begun ? true : nil } }
                    serve(BlockingConnection(descriptor: descriptor), name: socket.name, cancellation)
                }
            }
        }
    }

    /// Does the one-time work of the first commands: runs a cancelled probe on a link that does not exist, reads a page (which loads the words of all
    /// languages), and prepares the helpers.
    private func warmUp() {
        rehearseProbe()
        if let url = WebURL("http://portal.invalid/") {
            _ = TypedPage(HTMLPage.read(Array("<form>1 €<input name=a>".utf8), at: url))
        }
        for helper in helpers { helper.prepare() }
    }

    private func rehearseProbe() {
        var ends: [Int32] = [-1, -1]
        guard socketpair(AF_UNIX, LinkSocket.stream | LinkSocket.closeOnExec, 0, &ends) == 0 else { return }
        let (caller, own) = (BlockingConnection(descriptor: ends[0]), BlockingConnection(descriptor: ends[1]))
        let link = Link(attempt: "", association: "", interface: "", index: 0)
        let parameters = Coding.value(ProbeRequest(link: link, fresh: false))
        guard (try? caller.send(Call(method: "org.hotspotd.Probe.Probe", parameters: parameters))) != nil else { return }
        let cancellation = Cancellation()
        cancellation.cancel()
        HelperService([], version: version, attempts: SharedProbe(), policy: policy)
            .serve(own, name: Self.proberName, cancellation)
    }

    /// Answers any number of introspection calls, and one command. A cancelled command gets no answer.
    private func serve(_ connection: BlockingConnection, name: String, _ cancellation: Cancellation) {
        // Shuts down the socket for both descriptors; the accepting thread notices and closes its own descriptor.
        defer { shutdown(connection.descriptor, Int32(SHUT_RDWR)) }
        while let call = try? connection.receive(Call.self) {
            let answer = dispatch(call, name: name, cancellation)
            if cancellation.isCancelled { return }
            if call.oneway != true { guard (try? connection.send(answer)) != nil else { return } }
            if !call.method.hasPrefix("org.varlink.service.") { return }
        }
    }
}

/// A listening socket that the daemon handed over by the service manager's protocol (sd_listen_fds(3)).
struct ListeningSocket: Sendable {
    let descriptor: Int32
    let name: String

    /// Returns the sockets that the environment names, if `LISTEN_PID` is this process, and removes the variables.
    static func fromEnvironment() -> [ListeningSocket] {
        func variable(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }
        defer { for name in ["LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"] { unsetenv(name) } }
        guard let process = variable("LISTEN_PID").flatMap(Int32.init), process == getpid(),
            let count = variable("LISTEN_FDS").flatMap(Int32.init), (1...256).contains(count)
        else { return [] }
        let names = (variable("LISTEN_FDNAMES") ?? "").split(separator: ":", omittingEmptySubsequences: false).map(String.init)
        return (0..<count).map { index in
            _ = fcntl(3 + index, F_SETFD, FD_CLOEXEC)
            return ListeningSocket(descriptor: 3 + index, name: Int(index) < names.count ? names[Int(index)] : "")
        }
    }
}
