import Foundation
import HotspotCore
import TestSupport
import Testing
import Varlink

/// The real daemon in its own network namespace, where cables are plugged in and pulled out (`CabledDaemon+Cables.swift`), with helpers in Python
/// (`CabledDaemon+Helpers.swift`). Everything ends with this value.
final class CabledDaemon {
    let scratch: TemporaryFolder
    private let settings: String
    private var process = Process()
    /// The process that keeps the namespace when the daemon is killed.
    private let holder = Process()
    /// The processes beside the daemon.
    var companions: [Process] = []
    /// The last octet of the address that a cable was given last.
    var lastAddress = 2
    private let isRoot = geteuid() == 0
    private let isBare: Bool
    var socket: String { scratch.path + "/run/org.hotspotd.Control" }
    var pid: Int32 { process.processIdentifier }
    var log: String { (try? String(contentsOfFile: scratch.path + "/log", encoding: .utf8)) ?? "" }

    /// Whether this machine lets us have a namespace.
    static var canRun: Bool {
        guard Machine.hasRelease, Machine.has("ip"), Machine.has("nsenter") else { return false }
        return (try? Finished.run("/usr/bin/unshare", (geteuid() == 0 ? [] : ["-r"]) + ["-n", "/bin/true"]).status) == 0
    }

    /// - Parameters:
    ///   - isBare: the daemon has no capabilities and can make no namespaces, as on a machine that forbids them to users.
    ///   - settings: sections after the test's own. The prober fails, so that only the helpers' replies count.
    ///   - prepare: writes helpers before the daemon starts.
    init(isBare: Bool = false, settings: String = "", prepare: (CabledDaemon) throws -> Void) throws {
        self.isBare = isBare
        scratch = TemporaryFolder()
        for folder in ["helpers", "programs", "notes"] {
            try FileManager.default.createDirectory(atPath: "\(scratch.path)/\(folder)", withIntermediateDirectories: true)
        }
        self.settings = scratch.write(
            "hotspotd.conf",
            """
            \(scratch.daemonSettings)
            [Interfaces]
            Match=hot*
            ManageEthernet=yes
            [Probe]
            Exec=/bin/false
            Nameservers=192.0.2.53
            \(settings)
            """)
        _ = FileManager.default.createFile(atPath: scratch.path + "/log", contents: nil)
        let ready = Pipe()
        holder.executableURL = URL(fileURLWithPath: "/usr/bin/unshare")
        holder.arguments =
            (isRoot ? [] : ["-r"]) + ["-n", "/bin/sh", "-c", "ip link set lo up; echo ready; exec sleep infinity"]
        holder.standardOutput = ready
        try holder.run()
        // Until the holder has printed its line, it may still be in the machine's namespace.
        try #require(!ready.fileHandleForReading.availableData.isEmpty, "there is no namespace")
        try prepare(self)
        try start()
    }

    deinit {
        if process.isRunning { process.terminate() }
        process.waitUntilExit()
        for holder in companions + [holder] {
            // The holder inherits the signals that the test's thread blocks, among them SIGTERM.
            Foundation.kill(holder.processIdentifier, SIGKILL)
            holder.waitUntilExit()
        }
    }

    // MARK: The process

    /// Starts the daemon and waits until its socket answers.
    func start() throws {
        process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/nsenter")
        let bare = [
            "unshare", "--user", "--map-root-user", "/bin/sh", "-ec",
            "echo 0 > /proc/sys/user/max_user_namespaces; exec setpriv --bounding-set=-all --inh-caps=-all \"$@\"", "sh",
        ]
        process.arguments =
            inside + (isBare ? bare : []) + [Machine.release.appendingPathComponent("hotspotd").path, "--settings", settings]
        let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: scratch.path + "/log"))
        handle.seekToEndOfFile()
        process.standardInput = FileHandle.nullDevice
        process.standardError = handle
        try process.run()
        // A child of a killed daemon may hold its socket for a moment, so that an answer counts, not a connection.
        while process.isRunning, (try? BlockingConnection(path: socket).call("org.varlink.service.GetInfo")) == nil {
            usleep(5000)
        }
        try #require(process.isRunning, "\(log)")
    }

    /// Kills the daemon, as a crash or the kernel would.
    func kill() {
        Foundation.kill(pid, SIGKILL)
        process.waitUntilExit()
    }

    /// Replaces words in the settings, and makes the daemon read them again.
    func reload(_ words: String, _ others: String) throws {
        let text = try String(contentsOfFile: settings, encoding: .utf8)
        try #require(text.contains(words))
        scratch.write("hotspotd.conf", text.replacingOccurrences(of: words, with: others))
        Foundation.kill(pid, SIGHUP)
    }

    /// The words that bring `nsenter` into the namespace.
    var inside: [String] {
        ["-t", "\(holder.processIdentifier)", "-n"] + (isRoot ? [] : ["-U", "--preserve-credentials"])
    }

    /// A shell script in the daemon's namespace.
    @discardableResult func shell(_ script: String) throws -> String {
        let run = try Finished.run("/usr/bin/nsenter", inside + ["/bin/sh", "-ec", script])
        try #require(run.status == 0, "\(script): \(run.output)")
        return run.output
    }

    // MARK: Its output

    @discardableResult func call(_ method: String, _ parameters: JSONValue = [:]) throws -> JSONValue {
        try BlockingConnection(path: socket).call("org.hotspotd.Control." + method, parameters)
    }

    func status(_ interface: String) throws -> JSONValue? {
        try call("Status")["interfaces"]?.array?.first { $0["interface"]?.string == interface }
    }

    func state(_ interface: String = "hot1") -> String? { (try? status(interface))??["state"]?.string }

    /// The codes of an interface's problems.
    func problems(_ interface: String = "hot1") throws -> [String] {
        try status(interface)?["problems"]?.array?.compactMap { $0["code"]?.string } ?? []
    }

    /// The steps of the last attempt on an interface.
    func steps(_ interface: String = "hot1") throws -> [JSONValue] {
        try call("Explain", ["interface": .string(interface)])["steps"]?.array ?? []
    }

    /// Waits until the interface is in a state; `nil` stands for no such interface. The time is only an upper limit.
    @discardableResult func wait(
        _ interface: String, _ state: String?, and isSo: (JSONValue?) throws -> Bool = { _ in true }
    ) throws -> JSONValue? {
        let end = ContinuousClock.now + .seconds(60)
        while true {
            let found = try status(interface)
            if found?["state"]?.string == state, try isSo(found) { return found }
            guard ContinuousClock.now < end else {
                throw Disappointment(
                    "\(interface) is not \(state ?? "gone") but \(String(describing: found)); \(log.suffix(4000))")
            }
            usleep(10_000)
        }
    }

    /// Checks until the condition holds; the time is only an upper limit.
    func eventually(_ what: @autoclosure () -> String, _ condition: () throws -> Bool) throws {
        let end = ContinuousClock.now + .seconds(60)
        while try !condition() {
            guard ContinuousClock.now < end else { throw Disappointment("never: \(what()); \(log.suffix(4000))") }
            usleep(10_000)
        }
    }
}

/// Why a test cannot go on: one sentence.
struct Disappointment: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}
