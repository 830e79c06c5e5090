import EventLoop
import FoundationEssentials
import Glibc
import HotspotCore
import TestSupport
import Testing

@testable import HelperHost

/// A folder with helpers that a test writes, and a host over them. ``close()`` removes everything.
@LoopActor final class Workshop {
    private nonisolated let ownFolder: TemporaryFolder
    nonisolated let folder: String
    let host: HelperHost
    private var entries: [HelperEntry] = []

    init(_ adjust: (inout HostConfiguration) -> Void = { _ in }) {
        ownFolder = TemporaryFolder()
        folder = ownFolder.path
        mkdir(folder + "/state", 0o700)
        var configuration = HostConfiguration(
            runtimeDirectory: folder + "/run", hiddenPaths: [folder + "/state"])
        adjust(&configuration)
        host = HelperHost(configuration: configuration)
    }

    /// The beginning of every Python fixture.
    nonisolated static let prelude = """
        #!/usr/bin/python3 -IS
        import json, os, signal, socket, sys, time
        def receive(source=0):
            data = b""
            while not data.endswith(b"\\0"):
                chunk = os.read(source, 65536)
                if not chunk: sys.exit(0)
                data += chunk
            return json.loads(data[:-1])
        def say(octets, target=1):
            while octets: octets = octets[os.write(target, octets):]
        def answer(parameters, target=1): say(json.dumps({"parameters": parameters}).encode() + b"\\0", target)

        """

    /// Writes a program and returns its path.
    @discardableResult func write(_ name: String, _ text: String, mode: mode_t = 0o755) -> String {
        let path = folder + "/" + name
        unlink(path)
        let descriptor = open(path, O_CREAT | O_WRONLY | O_TRUNC | O_CLOEXEC, mode)
        let octets = Array(text.utf8)
        #expect(Glibc.write(descriptor, octets, octets.count) == octets.count)
        Glibc.close(descriptor)
        return path
    }

    /// Adds a helper that is a Python program.
    func add(_ name: String, socket: Bool = false, writable: [String] = [], python body: String) {
        let path = write(name + ".py", Self.prelude + body + "\n")
        add(HelperSpec(name: name, activation: socket ? .socket(exec: [path]) : .stdio(exec: [path]), readWritePaths: writable))
    }

    func add(_ spec: HelperSpec) {
        entries.append(HelperEntry(spec: spec, file: folder + "/\(spec.name).helper"))
        host.setHelpers(entries)
    }

    func ask(_ name: String, _ command: Command = .evaluate, _ parameters: JSONValue = [:]) async -> HelperOutcome {
        await withCheckedContinuation { continuation in
            host.send(command, to: name, parameters: parameters) { continuation.resume(returning: $0) }
        }
    }

    /// Processes whose command line names this folder.
    var survivors: [String] {
        var found: [String] = []
        guard let stream = opendir("/proc") else { return [] }
        defer { closedir(stream) }
        while let entry = readdir(stream) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
            guard Int(name) != nil else { continue }
            let line = Self.read("/proc/\(name)/cmdline")
            if String(decoding: line, as: UTF8.self).contains(folder) { found.append(name) }
        }
        return found
    }

    nonisolated static func read(_ path: String) -> [UInt8] {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return [] }
        defer { Glibc.close(descriptor) }
        var octets: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 64 * 1024)
        while true {
            let count = Glibc.read(descriptor, &chunk, chunk.count)
            guard count > 0 else { return octets }
            octets += chunk[..<count]
        }
    }

    /// Ends the host, checks that nothing is left, and removes the folder.
    func close(expectingSurvivors: Bool = false) async {
        await withCheckedContinuation { continuation in host.shutDown { continuation.resume() } }
        #expect(host.processCount == 0)
        if !expectingSurvivors {
            let gone = await eventually { self.survivors.isEmpty }
            #expect(gone, "processes survive: \(survivors)")
        }
        #expect(Self.names(in: folder + "/run/helpers") == [])
    }

    nonisolated static func names(in folder: String) -> [String] {
        guard let stream = opendir(folder) else { return [] }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
            if name != ".", name != ".." { names.append(name) }
        }
        return names.sorted()
    }
}

extension TemporaryFolder {
    @discardableResult func make(_ name: String, _ mode: mode_t = 0o755) -> String {
        mkdir("\(path)/\(name)", 0o700)
        chmod("\(path)/\(name)", mode)
        return "\(path)/\(name)"
    }

    @discardableResult func link(_ name: String, to target: String) -> String {
        symlink(target, "\(path)/\(name)")
        return "\(path)/\(name)"
    }
}

/// Checks every few milliseconds; the time is only an upper limit.
@LoopActor func eventually(_ condition: () -> Bool) async -> Bool {
    for _ in 0..<2000 {
        if condition() { return true }
        await pause(.milliseconds(5))
    }
    return condition()
}

@LoopActor func pause(_ duration: Duration) async {
    var source: EventSource?
    await withCheckedContinuation { continuation in
        source = try! EventLoop.shared.schedule(after: duration) { continuation.resume() }
    }
    source?.cancel()
}

extension HelperOutcome {
    var fault: HelperFault? { if case .failed(let fault) = self { fault } else { nil } }
    var evaluation: Evaluation? { if case .evaluation(let evaluation) = self { evaluation } else { nil } }
}
