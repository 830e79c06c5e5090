import EventLoop
import Glibc
import HelperHost

/// A ``Recorder``'s record of one command.
struct Record: Equatable {
    /// The beginning of standard output.
    var output: [UInt8] = []
    /// The number of octets of standard output.
    var outputTotal = 0
    /// The beginning of standard error.
    var errors: [UInt8] = []
    /// The error number of a failed start.
    var startError: Int32?
    /// Whether SIGTERM was sent.
    var wasTerminated = false
    /// The status of wait(2), if the helper ended by itself or by SIGTERM.
    var status: Int32?

    /// Reads the files that a ``Recorder`` left in a folder, and removes them; `nil` if nothing was recorded.
    static func collect(from folder: String) -> Record? {
        let octets = ["out", "err", "end"].map { name -> [UInt8]? in
            defer { unlink("\(folder)/\(name)") }
            return FilePath.octets(of: "\(folder)/\(name)", limit: Recorder.limit)
        }
        guard let output = octets[0], let errors = octets[1], let end = octets[2] else { return nil }
        var record = Record(output: output, outputTotal: output.count, errors: errors)
        for line in String(decoding: end, as: UTF8.self).split(separator: "\n") {
            let words = line.split(separator: " ")
            let number = words.dropFirst().first.flatMap { Int($0) }
            switch words.first {
            case "spawn": record.startError = number.map(Int32.init)
            case "term": record.wasTerminated = true
            case "out": record.outputTotal = number ?? output.count
            case "exit": record.status = number.map(Int32.init)
            default: break
            }
        }
        return record
    }
}
