import Glibc
import HotspotCore
import Synchronization
import TestSupport
import Testing
import Varlink

/// Plays the replies of a test on a socket, with a thread for each connection.
final class FakeDaemon: Sendable {
    struct Script: Sendable {
        /// For each method, without its interface, the replies in order: parameters as JSON, or `!Error {parameters}`. The last reply is repeated.
        var replies: [String: [String]] = [:]
        /// The replies of each stream of Status. The n-th stream sends its first reply at once, and the others after n calls of Answer, Login,
        /// Check or ``act()``. Streams beyond these have no interface.
        var status: [[String]] = []
        /// The replies of streams of other methods.
        var streams: [String: [String]] = [:]
    }

    let path: String
    private let folder = TemporaryFolder()
    private let listener: Int32
    private let core: Core
    private let thread: pthread_t?

    init(_ script: Script) throws {
        path = folder.path + "/socket"
        listener = try Socket.listen(path: path, mode: 0o600).take()
        _ = fcntl(listener, F_SETFL, 0)
        let (listener, core) = (listener, Core(script: script))
        self.core = core
        thread = Self.start {
            while case let peer = accept(listener, nil, nil), peer >= 0 {
                _ = fcntl(peer, F_SETFD, FD_CLOEXEC)
                _ = Self.start { core.serve(peer) }.map(pthread_detach)
            }
        }
    }

    /// Lets the streams of Status continue, as one more call of Answer would.
    func act() { core.state.withLock { $0.actions += 1 } }

    /// Ends the accepting thread; each connection ends when its client closes it.
    func stop() {
        shutdown(listener, Int32(SHUT_RDWR))
        if let thread { pthread_join(thread, nil) }
        close(listener)
    }

    /// The calls so far, without their interface's name.
    var calls: [String] { core.state.withLock { $0.calls.map(\.method) } }

    /// The parameters of the first call of a method.
    func parameters(_ method: String) -> JSONValue? { allParameters(method).first }

    /// The parameters of each call of a method.
    func allParameters(_ method: String) -> [JSONValue] {
        core.state.withLock { $0.calls.filter { $0.method == method }.compactMap(\.parameters) }
    }

    static func value(_ text: String) -> JSONValue {
        do { return try Coding.decode(JSONValue.self, from: Array(text.utf8)) } catch {
            Issue.record("the test's own JSON is broken: \(text)")
            return [:]
        }
    }

    private static func start(_ body: @escaping @Sendable () -> Void) -> pthread_t? {
        final class Box: Sendable {
            let body: @Sendable () -> Void
            init(_ body: @escaping @Sendable () -> Void) { self.body = body }
        }
        var thread = pthread_t()
        let box = Unmanaged.passRetained(Box(body))
        let code = pthread_create(
            &thread, nil,
            {
                Unmanaged<Box>.fromOpaque($0!).takeRetainedValue().body()
                return nil
            }, box.toOpaque())
        return code == 0 ? thread : nil
    }
}

/// The state that the threads share.
private final class Core: Sendable {
    struct State {
        var calls: [Call] = []
        var actions = 0
        var statusStreams = 0
    }

    let script: FakeDaemon.Script
    let state = Mutex(State())

    init(script: FakeDaemon.Script) { self.script = script }

    func serve(_ peer: Int32) {
        let connection = BlockingConnection(descriptor: peer)
        // Another test's child may have inherited the descriptor, so that closing it would not end the connection.
        defer { shutdown(peer, Int32(SHUT_RDWR)) }
        while var call = try? connection.receive(Call.self) {
            call.method = String(call.method.split(separator: ".").last ?? "")
            let method = call.method
            let recorded = call
            if call.more == true {
                let lines: [String]
                let stream: Int
                if method == "Status" {
                    stream = state.withLock {
                        $0.statusStreams += 1
                        return $0.statusStreams
                    }
                    lines = stream <= script.status.count ? script.status[stream - 1] : [#"{"version":"1","interfaces":[]}"#]
                } else {
                    stream = 0
                    lines = script.streams[method] ?? []
                }
                state.withLock { $0.calls.append(recorded) }
                for (index, line) in lines.enumerated() {
                    if index == 1 { while state.withLock({ $0.actions }) < stream { usleep(2000) } }
                    guard (try? connection.send(answer(line, continues: true))) != nil else { return }
                }
                if method == "Status" { continue }
                return
            }
            let line = state.withLock { state in
                let count = state.calls.count { $0.method == method && $0.more != true }
                state.calls.append(recorded)
                let replies = script.replies[method] ?? ["!org.varlink.service.MethodNotFound {}"]
                return replies[min(count, replies.count - 1)]
            }
            guard (try? connection.send(answer(line, continues: nil))) != nil else { return }
            if ["Answer", "Login", "Check"].contains(method) { state.withLock { $0.actions += 1 } }
        }
    }

    private func answer(_ line: String, continues: Bool?) -> Answer {
        if line.hasPrefix("!"), let space = line.firstIndex(of: " ") {
            let name = line[line.index(after: line.startIndex)..<space]
            return Answer(
                parameters: FakeDaemon.value(String(line[space...])),
                error: name.contains(".") ? String(name) : "org.hotspotd.Control.\(name)")
        }
        return Answer(parameters: FakeDaemon.value(line), continues: continues)
    }
}
