import EventLoop
import Glibc
import HelperHost
import HotspotCore

/// Runs the helper in the daemon's own host, with separate folders. Records a helper that runs one process for each command.
@LoopActor final class TestHost {
    typealias Send = (HelperHost, String, @escaping (HelperOutcome) -> Void) -> HelperCall

    /// One command and its outcome.
    struct PlayedCommand {
        /// The outcome; `nil` if there was no answer in time.
        var outcome: HelperOutcome?
        var milliseconds: Int
        /// The recording; `nil` for a helper with a socket.
        var record: Record?
    }

    let helperHost: HelperHost
    /// The daemon's limit for a command.
    let timeLimit = Duration.seconds(45)
    private let name: String
    private let folder: String
    private let records: String
    private let isRecorded: Bool

    init(_ helper: HelperUnderTest) {
        var template = Array("/tmp/hotspot-helper-test-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else {
            print("no folder below /tmp: \(String(cString: strerror(errno)))")
            exit(2)
        }
        folder = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        records = folder + "/records"
        mkdir(records, 0o700)
        name = helper.spec.name
        var configuration = HostConfiguration(runtimeDirectory: folder + "/run")
        // Long enough to distinguish a helper that ignores SIGTERM from a helper that a busy machine delays.
        configuration.cancelKill = .seconds(2)
        helperHost = HelperHost(configuration: configuration)
        var spec = helper.spec
        if case .stdio(let exec) = spec.activation {
            spec.activation = .stdio(exec: Recorder.wrap(exec, folder: records))
            spec.readWritePaths.append(records)
            spec.readPaths += helperHost.ownPaths(of: exec)
            isRecorded = true
        } else {
            isRecorded = false
        }
        spec.readPaths += Recorder.libraryFolders
        helperHost.setHelpers([HelperEntry(spec: spec, file: helper.path)])
    }

    /// Plays a command to its end, at most until ``timeLimit``; calls `onWaiting` once if the command takes more than 10 s.
    func play(_ send: @escaping Send, onWaiting: @escaping () -> Void) async -> PlayedCommand {
        let start = EventLoop.now
        var timer: EventSource?
        let waiting = try? EventLoop.shared.schedule(after: .seconds(10), onWaiting)
        let outcome: HelperOutcome? = await withCheckedContinuation { continuation in
            let call = send(helperHost, name) { continuation.resume(returning: $0) }
            timer = try? EventLoop.shared.schedule(after: timeLimit) {
                guard call.isLive else { return }
                call.cancel()
                continuation.resume(returning: nil)
            }
        }
        timer?.cancel()
        waiting?.cancel()
        let milliseconds = (EventLoop.now - start).milliseconds
        return PlayedCommand(outcome: outcome, milliseconds: milliseconds, record: await record())
    }

    /// Cancels a command as soon as `isBusy` returns `true`. Returns the recording; `nil` if the helper was not busy in time,
    /// had already answered, or is not recorded.
    func cancel(_ command: Command, _ parameters: [String: JSONValue], while isBusy: @escaping () -> Bool) async -> Record? {
        guard isRecorded else { return nil }
        var isDone = false
        let call = helperHost.send(command, to: name, parameters: .object(parameters)) { _ in isDone = true }
        let wasBusy = await wait(for: .seconds(5)) { isDone || isBusy() } && !isDone
        call.cancel()
        let record = await record()
        return wasBusy ? record : nil
    }

    /// Ends running processes and removes the folders.
    func close() async {
        await withCheckedContinuation { continuation in helperHost.shutDown { continuation.resume() } }
        _ = Record.collect(from: records)
        for path in ["/run/helpers", "/run", "/records", ""] { rmdir(folder + path) }
    }

    /// Waits for the process to end, at most 5 s, and returns the recording. The host gives a helper a second to tidy up after
    /// its answer.
    private func record() async -> Record? {
        guard isRecorded else { return nil }
        _ = await wait(for: .seconds(5)) { self.helperHost.processCount == 0 }
        return Record.collect(from: records)
    }

    /// Waits for the condition, at most until the time is over; returns whether it holds.
    private func wait(for limit: Duration, _ condition: @escaping () -> Bool) async -> Bool {
        let end = EventLoop.now + limit
        while !condition() {
            guard EventLoop.now < end else { return false }
            // Keeps the source in a variable, because a source without an owner does not fire.
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
