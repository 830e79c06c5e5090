import Glibc
import HotspotCore
import Varlink

/// Serves helpers to the daemon: on sockets that it was handed, or one call on standard input.
///
/// A connection carries one command; closing it cancels the command. Each command has a thread. With sockets, the process ends when
/// nobody called for a while.
public final class HelperService: Sendable {
    /// The version in Describe and GetInfo.
    public let version: String
    let helpers: [any Helper]
    let attempts: AttemptStore
    let policy: NetworkPolicy
    private let active = Monitor(0)

    /// Milliseconds without a connection after which the process ends.
    private static let idleLimit = 10_000

    /// POLLRDHUP of poll(2): the peer closed or will not write any more.
    private static let hangUp: Int16 = 0x2000

    /// A service for these helpers.
    public convenience init(_ helpers: [any Helper], version: String) {
        self.init(helpers, version: version, attempts: .shared, policy: .strict)
    }

    init(_ helpers: [any Helper], version: String, attempts: AttemptStore, policy: NetworkPolicy) {
        self.helpers = helpers
        self.version = version
        self.attempts = attempts
        self.policy = policy
    }

    /// Serves as the daemon wants it: sockets if there are any, else standard input and output. Returns when done.
    ///
    /// - Parameter name: the helper that answers on standard input; the first one if it is not said.
    public func run(name: String? = nil) {
        signal(SIGPIPE, SIG_IGN)
        let sockets = ListeningSocket.fromEnvironment()
        if sockets.isEmpty {
            let connection = BlockingConnection(input: 0, output: 1)
            // The end of standard input is no cancelling here: a shell closes it as soon as the call is written. The daemon's SIGTERM is.
            serve(connection, name: name ?? helpers.first?.name ?? "", watching: nil)
        } else {
            serve(sockets, idleLimit: Self.idleLimit)
        }
    }

    func serve(_ sockets: [ListeningSocket], idleLimit: Int) {
        var quietSince = Deadline.now
        while true {
            var polls = sockets.map { pollfd(fd: $0.descriptor, events: Int16(POLLIN), revents: 0) }
            // A short sleep while somebody is being served, so that the end of the last command starts the clock soon.
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

    /// Answers introspection as often as it is asked, and one command.
    private func serve(_ connection: BlockingConnection, name: String, watching descriptor: Int32?) {
        while let call = try? connection.receive(Call.self) {
            let isCommand = !call.method.hasPrefix("org.varlink.service.")
            guard let answer = answer(call, name: name, watching: isCommand ? descriptor : nil) else { return }
            if call.oneway != true { guard (try? connection.send(answer)) != nil else { return } }
            if isCommand { return }
        }
    }

    /// Carries a command out on a thread of its own and watches the connection meanwhile. `nil` if the peer left.
    private func answer(_ call: Call, name: String, watching descriptor: Int32?) -> Answer? {
        let cancellation = Cancellation()
        guard let descriptor else { return dispatch(call, name: name, cancellation) }
        let outcome = Monitor<Answer?>(nil)
        var ends: [Int32] = [-1, -1]
        _ = pipe(&ends)
        let (event, wake) = (ends[0], ends[1])
        defer {
            close(event)
            close(wake)
        }
        Worker.start { [self] in
            let answer = dispatch(call, name: name, cancellation)
            // Under the lock, so that the descriptor still is what it was: its owner closes it after having seen the answer.
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
            // Without a pipe (no descriptor left), looking every 20 ms does.
            poll(&polls, 2, event < 0 ? 20 : 60_000)
            if let answer = outcome.with({ $0 }) { return cancellation.isCancelled ? nil : answer }
            if polls[1].revents != 0 { cancellation.cancel() }
        }
    }
}
