import Foundation
import HotspotCore
import Varlink

/// The real daemon on a cable of its own: a network namespace with one veth whose other end is a gateway that answers for its address
/// and for nothing else. Helpers are Python programs. Everything is gone with this value.
final class WiredDaemon {
    let scratch: Scratch
    private let process = Process()
    var socket: String { scratch.path + "/run/org.hotspotd.Control" }
    var pid: Int32 { process.processIdentifier }

    /// Namespaces need root here.
    static var isPossible: Bool { geteuid() == 0 && Machine.has("ip") && Machine.has("unshare") && Machine.has("setpriv") }

    /// What every Python fixture begins with.
    static let prelude = """
        #!/usr/bin/python3 -IS
        import json, os, signal, sys, time
        def receive():
            data = b""
            while not data.endswith(b"\\0"):
                chunk = os.read(0, 65536)
                if not chunk: sys.exit(0)
                data += chunk
            return json.loads(data[:-1])
        def say(octets):
            while octets: octets = octets[os.write(1, octets):]
        def answer(**parameters): say(json.dumps({"parameters": parameters}).encode() + b"\\0")

        """

    init(settings: String = "", prepare: (WiredDaemon) throws -> Void) throws {
        scratch = try Scratch()
        for folder in ["helpers", "programs", "told"] {
            try FileManager.default.createDirectory(atPath: "\(scratch.path)/\(folder)", withIntermediateDirectories: true)
        }
        try prepare(self)
        let file = try scratch.write(
            "hotspotd.conf",
            """
            [Daemon]
            StateDirectory=\(scratch.path)/state
            RuntimeDirectory=\(scratch.path)/run
            HelperDirectories=\(scratch.path)/helpers
            [Interfaces]
            Match=cable0
            ManageEthernet=yes
            [Probe]
            # No verdict: what helpers say is all there is.
            Exec=/bin/false
            Nameservers=192.0.2.1
            [Commands]
            TimeoutSec=2
            LowGraceSec=1
            \(settings)
            """)
        // The gateway's namespace is held by a process that ends with the daemon, which the shell becomes.
        process.executableURL = URL(fileURLWithPath: "/usr/bin/unshare")
        process.arguments = [
            "--net", "/bin/sh", "-ec",
            """
            ip link set lo up
            setpriv --pdeathsig KILL unshare --net sleep infinity & gateway=$!
            while [ "$(readlink /proc/$gateway/ns/net)" = "$(readlink /proc/$$/ns/net)" ] || ! grep -q sleep /proc/$gateway/comm
            do sleep 0.01; done
            ip link add cable0 type veth peer name cable1 netns $gateway
            nsenter --net=/proc/$gateway/ns/net sh -ec 'ip addr add 192.0.2.1/24 dev cable1; ip link set cable1 up'
            ip addr add 192.0.2.2/24 dev cable0
            ip link set cable0 up
            ip route add default via 192.0.2.1
            exec "$0" --settings "$1"
            """, Machine.release.appendingPathComponent("hotspotd").path, file,
        ]
        _ = FileManager.default.createFile(atPath: scratch.path + "/log", contents: nil)
        process.standardInput = FileHandle.nullDevice
        process.standardError = try FileHandle(forWritingTo: URL(fileURLWithPath: scratch.path + "/log"))
        try process.run()
        while process.isRunning {
            if (try? BlockingConnection(path: socket)) != nil { return }
            usleep(5000)
        }
        throw Disappointment("it did not start: \(log)")
    }

    deinit {
        if process.isRunning { process.terminate() }
        process.waitUntilExit()
    }

    var log: String { (try? String(contentsOfFile: scratch.path + "/log", encoding: .utf8)) ?? "" }

    // MARK: Helpers

    /// Writes a helper's program, and its file after it, as an installer does.
    func add(_ name: String, _ keys: String = "", python: String) throws {
        let program = try scratch.write("programs/\(name)", Self.prelude + python + "\n")
        chmod(program, 0o755)
        try file(name, "[Helper]\nName=\(name)\nExec=\(program)\n\(keys)\n")
    }

    /// Writes a `.helper` file.
    func file(_ name: String, _ text: String) throws { chmod(try scratch.write("helpers/\(name).helper", text), 0o644) }

    /// What a helper wrote into its `ReadWritePaths=` folder `told`.
    func told(_ name: String) -> String { (try? String(contentsOfFile: "\(scratch.path)/told/\(name)", encoding: .utf8)) ?? "" }

    // MARK: The cable

    /// Takes the address away, and gives another one.
    func rejoin() throws {
        address = address % 200 + 1
        try ip("addr", "flush", "dev", "cable0")
        try eventually("it noticed that the address is gone") { self.state == "inactive" }
        try ip("addr", "add", "192.0.2.\(address + 1)/24", "dev", "cable0")
        try ip("route", "add", "default", "via", "192.0.2.1")
    }
    private var address = 1

    private func ip(_ words: String...) throws {
        let run = try Finished.run("/usr/bin/nsenter", ["--net=/proc/\(pid)/ns/net", "ip"] + words)
        guard run.status == 0 else { throw Disappointment(run.output) }
    }

    // MARK: What it says

    func call(_ method: String, _ parameters: JSONValue = [:]) throws -> JSONValue {
        try BlockingConnection(path: socket).call("org.hotspotd.Control.\(method)", parameters)
    }

    var status: JSONValue? { try? call("Status")["interfaces"]?.array?.first }
    var state: String? { status?["state"]?.string }

    /// The helpers by name.
    func helpers() throws -> [String: JSONValue] {
        Dictionary(
            try call("Helpers")["helpers"]?.array?.map { ($0["name"]?.string ?? "", $0) } ?? [],
            uniquingKeysWith: { first, _ in first })
    }

    /// The steps of the last attempt on the cable.
    func steps() throws -> [JSONValue] { try call("Explain", ["interface": "cable0"])["steps"]?.array ?? [] }

    /// Asks again until it is so; the time is only an upper limit.
    func eventually(_ what: String, _ condition: () throws -> Bool) throws {
        for _ in 0..<6000 {
            if try condition() { return }
            usleep(10_000)
        }
        throw Disappointment("never: \(what); \(log.suffix(4000))")
    }

    // MARK: What is left

    /// Processes of helpers, by what their command lines say.
    var helperProcesses: [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []).filter { name in
            guard Int32(name) != nil else { return false }
            let line = FileManager.default.contents(atPath: "/proc/\(name)/cmdline") ?? Data()
            return String(decoding: line, as: UTF8.self).contains(scratch.path + "/programs/")
        }
    }

    var descriptors: Int { ((try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(pid)/fd")) ?? []).count }

    var scratchFolders: [String] {
        (try? FileManager.default.contentsOfDirectory(atPath: scratch.path + "/run/scratch")) ?? ["unreadable"]
    }
}

/// Why a test cannot go on: one sentence.
struct Disappointment: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}
