import Foundation
import TestSupport
import Varlink

/// hotspotd itself, with its own folders and no interface, until this value is gone.
final class RunningDaemon {
    let scratch: TemporaryFolder
    let settings: String
    private var process = Process()
    var socket: String { scratch.path + "/run/org.hotspotd.Control" }
    var pid: Int32 { process.processIdentifier }

    private let environment: [String: String]

    init(extra: String = "", helpers: [String: String] = [:], environment: [String: String] = [:]) throws {
        self.environment = environment
        scratch = TemporaryFolder()
        try FileManager.default.createDirectory(atPath: scratch.path + "/helpers", withIntermediateDirectories: true)
        for (name, text) in helpers { scratch.write("helpers/\(name).helper", text) }
        settings = scratch.write(
            "hotspotd.conf",
            """
            \(scratch.daemonSettings)
            [Interfaces]
            Match=none-of-this-machine
            \(extra)
            """)
        try start()
    }

    deinit { stop() }

    /// Starts the daemon and waits until its socket answers.
    func start() throws {
        try launch()
        while process.isRunning {
            // A child of a killed daemon may hold its socket for a moment, so that an answer counts, not a connection.
            if (try? BlockingConnection(path: socket).call("org.varlink.service.GetInfo")) != nil { return }
            usleep(5000)
        }
        throw POSIXError(.ECONNREFUSED, userInfo: [NSLocalizedDescriptionKey: self.log])
    }

    /// Starts the daemon, and waits for nothing.
    func launch() throws {
        process = Process()
        process.executableURL = Machine.release.appendingPathComponent("hotspotd")
        process.arguments = ["--settings", settings]
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        let log = scratch.path + "/log"
        if !FileManager.default.fileExists(atPath: log) { _ = FileManager.default.createFile(atPath: log, contents: nil) }
        let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: log))
        handle.seekToEndOfFile()
        process.standardError = handle
        try process.run()
    }

    var log: String { (try? String(contentsOfFile: scratch.path + "/log", encoding: .utf8)) ?? "" }

    func connect() throws -> BlockingConnection { try BlockingConnection(path: socket) }

    @discardableResult func stop() -> Int32 {
        if process.isRunning { process.terminate() }
        process.waitUntilExit()
        return process.terminationStatus
    }

    /// Waits for the end of a daemon that something else has ended.
    func waitForEnd() { process.waitUntilExit() }

    /// Returns the signal that it ended by; 0 if it ended by itself.
    @discardableResult func kill(by signal: Int32 = SIGKILL) -> Int32 {
        Foundation.kill(pid, signal)
        process.waitUntilExit()
        return process.terminationReason == .uncaughtSignal ? process.terminationStatus : 0
    }
}
