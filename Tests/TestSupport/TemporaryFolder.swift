import Foundation

/// A folder of a test's own, removed with this object.
public final class TemporaryFolder: Sendable {
    public let path: String

    /// - Parameter parent: the folder to make it in; for measurements one in memory.
    public init(below parent: String = "/tmp") {
        var template = Array("\(parent)/hotspotd-test-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { fatalError("no folder below \(parent): errno \(errno)") }
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// Links are removed, never followed.
    deinit { try? FileManager.default.removeItem(atPath: path) }

    /// Writes a file in one step, and makes the folders in its name. Returns its path.
    @discardableResult public func write(_ name: String, _ text: String = "", mode: mode_t = 0o644) -> String {
        write(name, Array(text.utf8), mode: mode)
    }

    @discardableResult public func write(_ name: String, _ octets: some Sequence<UInt8>, mode: mode_t = 0o644) -> String {
        let file = URL(fileURLWithPath: "\(path)/\(name)")
        let draft = URL(fileURLWithPath: file.path + ".draft")
        do {
            try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data(octets).write(to: draft)
            if mode & 0o111 != 0 {
                // Processes that other tests start meanwhile inherit the open file, and the kernel executes no file that is open for
                // writing (ETXTBSY). So another process, which has ended, writes the copy.
                try Process.run(URL(fileURLWithPath: "/bin/cp"), arguments: [draft.path, file.path + ".copy"]).waitUntilExit()
                rename(file.path + ".copy", draft.path)
            }
        } catch { fatalError("\(file.path): \(error)") }
        chmod(draft.path, mode)
        rename(draft.path, file.path)
        return file.path
    }

    public func read(_ name: String) throws -> String { try String(contentsOfFile: "\(path)/\(name)", encoding: .utf8) }
}
