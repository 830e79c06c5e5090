import Foundation
import HotspotCore
import Testing
import Varlink

/// The daemon in a network namespace of its own, where cables are put in and pulled out; all of it is gone with this value.
final class CabledDaemon {
    let scratch: Scratch
    private let settings: String
    private var process = Process()
    /// What keeps the namespace when the daemon is killed.
    private let holder = Process()
    private let isRoot = geteuid() == 0
    var socket: String { scratch.path + "/run/org.hotspotd.Control" }
    var log: String { (try? String(contentsOfFile: scratch.path + "/log", encoding: .utf8)) ?? "" }

    /// Whether this machine lets us have a namespace.
    static var canRun: Bool {
        guard Machine.hasRelease, Machine.has("ip"), Machine.has("nsenter") else { return false }
        return (try? Finished.run("/usr/bin/unshare", (geteuid() == 0 ? [] : ["-r"]) + ["-n", "/bin/true"]).status) == 0
    }

    /// - Parameter helper: a program in Python; `SOCKET` and `NOTES` (a folder that it may write to) are set before it.
    init(helper: String) throws {
        scratch = try Scratch()
        for folder in ["helpers", "notes"] {
            try FileManager.default.createDirectory(atPath: "\(scratch.path)/\(folder)", withIntermediateDirectories: true)
        }
        let program = try scratch.write(
            "helper.py",
            "#!/usr/bin/python3\nSOCKET = \"\(scratch.path)/run/org.hotspotd.Control.helpers\"\nNOTES = \"\(scratch.path)/notes\"\n"
                + helper)
        chmod(program, 0o755)
        _ = try scratch.write(
            "helpers/clerk.helper",
            "[Helper]\nName=clerk\nDisplayName=The clerk\nExec=\(program)\nReadWritePaths=\(scratch.path)/notes\n")
        settings = try scratch.write(
            "hotspotd.conf",
            """
            [Daemon]
            StateDirectory=\(scratch.path)/state
            RuntimeDirectory=\(scratch.path)/run
            HelperDirectories=\(scratch.path)/helpers
            [Interfaces]
            Match=hot*
            ManageEthernet=yes
            [Probe]
            Exec=/bin/false
            Nameservers=192.0.2.53
            """)
        _ = FileManager.default.createFile(atPath: scratch.path + "/log", contents: nil)
        let ready = Pipe()
        holder.executableURL = URL(fileURLWithPath: "/usr/bin/unshare")
        holder.arguments = (isRoot ? [] : ["-r"]) + ["-n", "/bin/sh", "-c", "echo ready; exec sleep infinity"]
        holder.standardOutput = ready
        try holder.run()
        // Before it has said so it is in everybody's namespace.
        try #require(!ready.fileHandleForReading.availableData.isEmpty, "there is no namespace")
        try start()
    }

    deinit {
        if process.isRunning { process.terminate() }
        process.waitUntilExit()
        // It inherits what the test's thread blocks, SIGTERM among it.
        Foundation.kill(holder.processIdentifier, SIGKILL)
        holder.waitUntilExit()
    }

    /// Starts the daemon and waits until its socket answers.
    func start() throws {
        process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/nsenter")
        process.arguments = inside + [Machine.release.appendingPathComponent("hotspotd").path, "--settings", settings]
        let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: scratch.path + "/log"))
        handle.seekToEndOfFile()
        process.standardError = handle
        try process.run()
        while process.isRunning, (try? BlockingConnection(path: socket)) == nil { usleep(5000) }
        try #require(process.isRunning, "\(log)")
    }

    /// As a crash or the kernel would end it.
    func kill() {
        Foundation.kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }

    private var inside: [String] {
        ["-t", "\(holder.processIdentifier)", "-n"] + (isRoot ? [] : ["-U", "--preserve-credentials"])
    }

    func call(_ method: String, _ parameters: JSONValue = [:]) throws -> JSONValue {
        try BlockingConnection(path: socket).call("org.hotspotd.Control." + method, parameters)
    }

    /// A shell script in the daemon's namespace.
    @discardableResult func shell(_ script: String) throws -> String {
        let run = try Finished.run(
            "/usr/bin/nsenter", inside + ["/bin/sh", "-ec", script])
        try #require(run.status == 0, "\(script): \(run.output)")
        return run.output
    }

    /// A cable with a router at its other end; its gateway's hardware address ends with the number.
    func plug(_ name: String, _ number: Int, index: Int? = nil) throws {
        let wanted = index.map { "index \($0)" } ?? ""
        try shell(
            """
            ip link add \(name) \(wanted) type veth peer name peer\(number)
            ip link set peer\(number) up
            ip link set \(name) up
            """)
        try address(name, number)
    }

    /// The other end gives an address.
    func address(_ name: String, _ number: Int) throws {
        try shell(
            """
            ip neigh replace 192.0.\(number).1 lladdr 02:00:00:00:00:0\(number) dev \(name) nud permanent
            ip addr add 192.0.\(number).2/24 dev \(name)
            ip route add default via 192.0.\(number).1 dev \(name) metric \(number)
            """)
    }

    func status(_ interface: String) throws -> JSONValue? {
        try call("Status")["interfaces"]?.array?.first { $0["interface"]?.string == interface }
    }

    /// Waits until the interface is in a state; `nil` stands for no such interface.
    @discardableResult func wait(
        _ interface: String, _ state: String?, and isSo: (JSONValue?) -> Bool = { _ in true }
    ) throws -> JSONValue? {
        let end = ContinuousClock.now + .seconds(30)
        while true {
            let found = try status(interface)
            if found?["state"]?.string == state, isSo(found) { return found }
            guard ContinuousClock.now < end else {
                Issue.record("\(interface) is not \(state ?? "gone") but \(String(describing: found)); \(log)")
                throw POSIXError(.ETIMEDOUT)
            }
            usleep(10_000)
        }
    }

    /// What the helper wrote down, as soon as it has.
    func note(_ name: String) throws -> String {
        let path = "\(scratch.path)/notes/\(name)"
        let end = ContinuousClock.now + .seconds(30)
        while !FileManager.default.fileExists(atPath: path) {
            guard ContinuousClock.now < end else {
                Issue.record("the helper wrote no \(name); \(log)")
                throw POSIXError(.ETIMEDOUT)
            }
            usleep(10_000)
        }
        return try String(contentsOfFile: path, encoding: .utf8)
    }
}
