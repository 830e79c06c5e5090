import Foundation
import TestSupport

/// The machine that the tests run on: where the built programs are, and what it can do.
enum Machine {
    static let checkout = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    /// The release binaries, as they are installed.
    static let release = checkout.appendingPathComponent(".build/release")

    /// In CI, no test is skipped: anything that is missing there is a failure.
    static let isCI = ProcessInfo.processInfo.environment["CI"] == "true"

    static var hasRelease: Bool {
        FileManager.default.isExecutableFile(atPath: release.appendingPathComponent("hotspotd").path)
    }

    /// The name of this Debian release.
    static var codename: String? {
        (try? String(contentsOfFile: "/etc/os-release", encoding: .utf8))?.split(separator: "\n")
            .first { $0.hasPrefix("VERSION_CODENAME=") }.map { String($0.dropFirst("VERSION_CODENAME=".count)) }
    }

    /// Whether a test with this need runs: always in CI, elsewhere only if the machine has it.
    static func runs(_ hasIt: Bool) -> Bool { isCI || hasIt }

    static func has(_ program: String) -> Bool {
        ["/usr/sbin", "/usr/bin", "/sbin", "/bin"].contains {
            FileManager.default.isExecutableFile(atPath: "\($0)/\(program)")
        }
    }

    /// The Python package `varlink`, which `make python` puts there.
    static let pythonPackages = checkout.appendingPathComponent(".build/python")
    static var hasVarlink: Bool {
        FileManager.default.fileExists(atPath: pythonPackages.appendingPathComponent("varlink/__init__.py").path)
    }
}

/// A program that has run: its status and what it printed, both streams in one.
struct Finished: Sendable {
    let status: Int32
    let output: String

    /// Runs a program to its end. Its output goes to a file, so that no pipe can fill up. Its input comes from a file, so that a program that
    /// reads nothing does not end the test.
    static func run(
        _ program: String, _ arguments: [String], environment: [String: String] = [:], input: String? = nil
    ) throws -> Finished {
        let folder = TemporaryFolder()
        let file = folder.path + "/output"
        _ = FileManager.default.createFile(atPath: file, contents: nil)
        let handle = try FileHandle(forUpdating: URL(fileURLWithPath: file))
        let process = Process()
        process.executableURL = URL(fileURLWithPath: program)
        process.arguments = arguments
        process.environment = ["PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LANG": "C.UTF-8", "HOME": NSHomeDirectory()]
            .merging(environment) { $1 }
        process.standardOutput = handle
        process.standardError = handle
        process.standardInput = FileHandle.nullDevice
        if let input {
            let file = URL(fileURLWithPath: folder.path + "/input")
            try input.write(to: file, atomically: false, encoding: .utf8)
            process.standardInput = try FileHandle(forReadingFrom: file)
        }
        try process.run()
        process.waitUntilExit()
        return Finished(
            status: process.terminationStatus,
            output: String(decoding: try Data(contentsOf: URL(fileURLWithPath: file)), as: UTF8.self))
    }
}

extension TemporaryFolder {
    /// The beginning of a daemon's settings, with all its folders in this folder.
    var daemonSettings: String {
        """
        [Daemon]
        StateDirectory=\(path)/state
        RuntimeDirectory=\(path)/run
        HelperDirectories=\(path)/helpers
        """
    }
}
