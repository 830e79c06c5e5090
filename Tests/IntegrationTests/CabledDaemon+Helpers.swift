import Foundation
import HotspotCore
import TestSupport

/// Helpers, their notes, and their leftovers.
extension CabledDaemon {
    /// The beginning of every program.
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

    /// With one helper, the clerk. Its program finds `SOCKET`, and `NOTES`, a folder that it may write to.
    convenience init(settings: String = "", helper: String) throws {
        try self.init(settings: settings) { daemon in
            try daemon.add(
                "clerk", "DisplayName=The clerk\nReadWritePaths=\(daemon.scratch.path)/notes",
                python: "SOCKET = \"\(daemon.socket).helpers\"\nNOTES = \"\(daemon.scratch.path)/notes\"\n" + helper)
        }
    }

    /// Writes a helper's program, and its file after it, as an installer does.
    func add(_ name: String, _ keys: String = "", python: String) throws {
        let program = try program(name, python: python)
        try file(name, "[Helper]\nName=\(name)\nExec=\(program)\n\(keys)\n")
    }

    /// Writes a helper's program, in another process: a child that another test starts would inherit for a moment what this process has open for
    /// writing, and a program that is open for writing cannot be executed (ETXTBSY).
    @discardableResult func program(_ name: String, python: String) throws -> String {
        let text = scratch.write("text-of-\(name)", Self.prelude + python + "\n")
        let program = scratch.path + "/programs/" + name
        let run = try Finished.run("/usr/bin/install", ["-m", "755", text, program])
        guard run.status == 0 else { throw Disappointment(run.output) }
        return program
    }

    /// Writes a `.helper` file.
    func file(_ name: String, _ text: String) throws { chmod(scratch.write("helpers/\(name).helper", text), 0o644) }

    /// The helpers by name.
    func helpers() throws -> [String: JSONValue] {
        Dictionary(
            try call("Helpers")["helpers"]?.array?.map { ($0["name"]?.string ?? "", $0) } ?? [],
            uniquingKeysWith: { first, _ in first })
    }

    // MARK: Their notes

    /// A helper's notes so far, in the folder `notes`.
    func told(_ name: String) -> String { (try? String(contentsOfFile: "\(scratch.path)/notes/\(name)", encoding: .utf8)) ?? "" }

    /// A helper's note, as soon as it exists.
    ///
    /// - Parameter mayBeEmpty: the file alone is the note. Otherwise it must have text, which comes after the file.
    func note(_ name: String, mayBeEmpty: Bool = false) throws -> String {
        let path = "\(scratch.path)/notes/\(name)"
        var text = ""
        try eventually("the helper wrote \(name)") {
            guard let read = try? String(contentsOfFile: path, encoding: .utf8) else { return false }
            text = read
            return mayBeEmpty || !read.isEmpty
        }
        return text
    }

    /// Leaves a note for a helper to read.
    func leave(_ name: String, _ text: String) throws { scratch.write("notes/\(name)", text) }

    // MARK: Leftovers

    /// The processes of helpers, recognised by their command lines.
    var helperProcesses: [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []).filter { name in
            guard Int32(name) != nil else { return false }
            let line = FileManager.default.contents(atPath: "/proc/\(name)/cmdline") ?? Data()
            return String(decoding: line, as: UTF8.self).contains(scratch.path + "/programs/")
        }
    }

    var descriptors: Int { ((try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(pid)/fd")) ?? []).count }
}
