import Foundation

/// A D-Bus of a test's own, gone with this object.
public final class PrivateBus: Sendable {
    public static let canRun = FileManager.default.isExecutableFile(atPath: "/usr/bin/dbus-daemon")

    public let address: String
    private let folder = TemporaryFolder()
    private let process = Process()

    public init() throws {
        address = "unix:path=\(folder.path)/bus"
        process.executableURL = URL(fileURLWithPath: "/usr/bin/dbus-daemon")
        process.arguments = ["--session", "--nofork", "--nopidfile", "--print-address=1", "--address=\(address)"]
        let ready = Pipe()
        process.standardOutput = ready
        try process.run()
        guard !ready.fileHandleForReading.availableData.isEmpty else { throw CocoaError(.fileReadUnknown) }
    }

    deinit { stop() }

    public func stop() {
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }
}
