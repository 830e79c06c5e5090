import EventLoop
import Glibc
import HotspotCore
import Varlink

/// Serves helpers to the daemon: on the listening sockets that it hands over, or one call on standard input.
///
/// A connection carries one command, on a thread of its own; closing the connection cancels the command. With sockets, the process ends
/// after 10 s without a connection.
public final class HelperService: Sendable {
    /// The version in the answers to Describe and GetInfo.
    public let version: String
    let helpers: [any Helper]
    let attempts: AttemptStore
    let policy: NetworkPolicy
    private let active = Locked(0)

    /// Milliseconds without a connection after which the process ends.
    private static let idleLimit = 10_000

    /// POLLRDHUP of poll(2): the peer closed the connection or its sending direction.
    private static let hangUp: Int16 = 0x2000

    /// Makes a service for these helpers; `version` is the program's.
    public convenience init(_ helpers: [any Helper], version: String) {
        self.init(helpers, version: version, attempts: .shared, policy: .strict)
    }

    init(_ helpers: [any Helper], version: String, attempts: AttemptStore, policy: NetworkPolicy) {
        self.helpers = helpers
        self.version = version
        self.attempts = attempts
        self.policy = policy
    }

    /// Serves the sockets that the environment names, else one call on standard input and output, and ends the process.
    ///
    /// - Parameter name: the helper that answers on standard input; the first one if `nil`.
    public func run(name: String? = nil) -> Never {
        signal(SIGPIPE, SIG_IGN)
        let sockets = ListeningSocket.fromEnvironment()
        if sockets.isEmpty {
            let connection = BlockingConnection(input: 0, output: 1)
            // The end of standard input does not cancel here: a shell closes it when the call is written. The daemon's SIGTERM ends it.
            serve(connection, name: name ?? helpers.first?.name ?? "", watching: nil)
        } else {
            DetachedThread.shareHeap()
            // The daemon starts this process while the network is being joined.
            Worker.startAside { HTTPClient.warmUp() }
            serve(sockets, idleLimit: Self.idleLimit)
        }
        // Threads of requests without a reader go on; the exit handlers of the TLS library would take away what they use.
        _exit(0)
    }

    func serve(_ sockets: [ListeningSocket], idleLimit: Int) {
        var quietSince = Instant.now
        while true {
            var polls = sockets.map { pollfd(fd: $0.descriptor, events: Int16(POLLIN), revents: 0) }
            // Wakes often during commands, so that the idle time begins soon after the last one.
            let isBusy = active.with { $0 } > 0
            if isBusy { quietSince = .now }
            let left = idleLimit - quietSince.millisecondsAgo
            if !isBusy, left <= 0 { return }
            guard poll(&polls, nfds_t(polls.count), Int32(isBusy ? 500 : min(left, idleLimit))) > 0 else { continue }
            for (index, entry) in polls.enumerated() where entry.revents != 0 {
                guard Int32(entry.revents) & POLLIN != 0 else { return }
                let descriptor = accept(sockets[index].descriptor, nil, nil)
                guard descriptor >= 0 else { continue }
                _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
                quietSince = .now
                let name = sockets[index].name
                active.with { $0 += 1 }
                Worker.start { [self] in
                    serve(BlockingConnection(descriptor: descriptor), name: name, watching: descriptor)
                    active.with { $0 -= 1 }
                }
            }
        }
    }

    /// Answers any number of introspection calls, and one command.
    private func serve(_ connection: BlockingConnection, name: String, watching descriptor: Int32?) {
        while let call = try? connection.receive(Call.self) {
            let isCommand = !call.method.hasPrefix("org.varlink.service.")
            guard let answer = answer(call, name: name, watching: isCommand ? descriptor : nil) else { return }
            if call.oneway != true { guard (try? connection.send(answer)) != nil else { return } }
            if isCommand { return }
        }
    }

    /// Runs a command on a thread of its own and watches the connection meanwhile. `nil` if the peer closed it.
    private func answer(_ call: Call, name: String, watching descriptor: Int32?) -> Answer? {
        let cancellation = Cancellation()
        guard let descriptor else { return dispatch(call, name: name, cancellation) }
        let outcome = Locked<Answer?>(nil)
        var ends: [Int32] = [-1, -1]
        _ = pipe(&ends)
        let (event, wake) = (ends[0], ends[1])
        defer {
            close(event)
            close(wake)
        }
        Worker.start { [self] in
            let answer = dispatch(call, name: name, cancellation)
            // Writes under the lock: the other thread closes the descriptor only after it has read the answer.
            outcome.with {
                $0 = answer
                _ = write(wake, [1] as [UInt8], 1)
            }
        }
        while true {
            var polls = [
                pollfd(fd: event, events: Int16(POLLIN), revents: 0),
                pollfd(fd: cancellation.isCancelled ? -1 : descriptor, events: Self.hangUp, revents: 0),
            ]
            // If there was no descriptor left for a pipe, looks every 20 ms.
            poll(&polls, 2, event < 0 ? 20 : 60_000)
            if let answer = outcome.with({ $0 }) { return cancellation.isCancelled ? nil : answer }
            if polls[1].revents != 0 { cancellation.cancel() }
        }
    }
}

/// A listening socket that the daemon handed over by the service manager's protocol (sd_listen_fds(3)).
struct ListeningSocket: Sendable {
    let descriptor: Int32
    let name: String

    /// Returns the sockets that the environment names, if it is meant for this process, and removes the variables.
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
