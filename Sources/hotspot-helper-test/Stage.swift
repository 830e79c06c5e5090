import EventLoop
import Glibc
import HelperHost
import HotspotCore

/// Where the helper is played: the daemon's own host, folders of its own, and a recorder beside a helper that is one process for one
/// command.
@LoopActor final class Stage {
    typealias Sending = (HelperHost, String, @escaping (HelperOutcome) -> Void) -> HelperCall

    /// One command, and what came of it.
    struct Scene {
        /// `nil`: no answer in time.
        var outcome: HelperOutcome?
        var milliseconds: Int
        /// What was written down; `nil` for a helper that listens at a socket.
        var record: Record?
    }

    let host: HelperHost
    /// A helper that says nothing for as long as this is cut off by the daemon.
    let patience = Duration.seconds(45)
    private let name: String
    private let folder: String
    private let records: String
    private let isRecorded: Bool

    init(_ candidate: Candidate) {
        var template = Array("/tmp/hotspot-helper-test-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else {
            print("no folder below /tmp: \(String(cString: strerror(errno)))")
            exit(2)
        }
        folder = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        records = folder + "/records"
        mkdir(records, 0o700)
        name = candidate.spec.name
        var configuration = HostConfiguration(
            runtimeDirectory: folder + "/run")
        // Who ignores SIGTERM is told so, and not taken for one that a busy machine gave no time to end.
        configuration.cancelKill = .seconds(2)
        host = HelperHost(configuration: configuration)
        var spec = candidate.spec
        if case .stdio(let exec) = spec.activation {
            spec.activation = .stdio(exec: Recorder.wrap(exec, folder: records))
            spec.readWritePaths.append(records)
            isRecorded = true
        } else {
            isRecorded = false
        }
        host.setHelpers([HelperEntry(spec: spec, file: candidate.path)])
    }

    /// Plays a command to its end; says so once where it takes long.
    func play(_ send: @escaping Sending, onWaiting: @escaping () -> Void) async -> Scene {
        let start = EventLoop.now
        var timer: EventSource?
        let waiting = try? EventLoop.shared.schedule(after: .seconds(10), onWaiting)
        let outcome: HelperOutcome? = await withCheckedContinuation { continuation in
            let call = send(host, name) { continuation.resume(returning: $0) }
            timer = try? EventLoop.shared.schedule(after: patience) {
                guard call.isLive else { return }
                call.cancel()
                continuation.resume(returning: nil)
            }
        }
        timer?.cancel()
        waiting?.cancel()
        let took = (EventLoop.now - start).milliseconds
        return Scene(outcome: outcome, milliseconds: took, record: await record())
    }

    /// Cancels a command as soon as `isBusy`; `nil` if the helper was done before, or nothing is known of its process.
    func cancel(
        _ command: Command, _ parameters: [String: JSONValue], while isBusy: @escaping () -> Bool
    ) async -> Record? {
        guard isRecorded else { return nil }
        var isDone = false
        let call = host.send(command, to: name, parameters: .object(parameters)) { _ in isDone = true }
        let wasBusy = await wait(for: .seconds(5)) { isDone || isBusy() } && !isDone
        call.cancel()
        let record = await record()
        return wasBusy ? record : nil
    }

    /// Ends what still runs, and removes the folders.
    func close() async {
        await withCheckedContinuation { continuation in host.shutDown { continuation.resume() } }
        _ = Record.take(from: records)
        for path in ["/run/helpers", "/run", "/scratch", "/records", ""] { rmdir(folder + path) }
    }

    /// What was written down, once the process is gone: a helper has a second to tidy up after its answer.
    private func record() async -> Record? {
        guard isRecorded else { return nil }
        _ = await wait(for: .seconds(5)) { self.host.processCount == 0 }
        return Record.take(from: records)
    }

    /// Looks until something is so, or the time is over.
    private func wait(for limit: Duration, _ condition: @escaping () -> Bool) async -> Bool {
        let end = EventLoop.now + limit
        while !condition() {
            guard EventLoop.now < end else { return false }
            // Held, because a source that nobody holds does not fire.
            var pause: EventSource?
            await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
                pause = try? EventLoop.shared.schedule(after: .milliseconds(5)) { continuation.resume() }
                if pause == nil { continuation.resume() }
            }
            pause?.cancel()
        }
        return true
    }
}
