import Glibc
import HotspotCore

/// What is said to the author: the commands, line by line, and what is wrong with each. A failure that repeats itself is said once.
struct Transcript {
    /// Remarks that count against the helper.
    private(set) var mistakes = 0
    /// What it wrote to standard error during the command at hand; shown beneath the first thing that is wrong.
    var errors: [String] = []
    private var failure: String?
    private var repeated: [String] = []
    private var skipped: [String] = []
    private var notes: Set<String> = []
    private let write: (String) -> Void

    init(_ write: @escaping (String) -> Void = Self.show) { self.write = write }

    /// A line on standard output, at once, also through a pipe.
    static func show(_ line: String) {
        print(line)
        fflush(nil)
    }

    /// A command's own line.
    mutating func line(_ text: String) {
        flush()
        failure = nil
        write(text)
    }

    /// A command that is not played. What fails before and after it is still the same failure.
    mutating func skip(_ text: String) {
        if failure == nil { write(text) } else { skipped.append(text) }
    }

    /// Remarks on the command at hand. A note is made once.
    mutating func say(_ remarks: [Remark]) {
        let remarks = remarks.filter { if case .note(let text) = $0 { notes.insert(text).inserted } else { true } }
        if !remarks.isEmpty { flush() }
        for remark in remarks {
            write(remark.line)
            guard remark.isWrong else { continue }
            mistakes += 1
            for error in errors { write("         | " + error) }
            errors = []
        }
    }

    /// A command without a usable answer. The same sentence as just before is only counted.
    mutating func fail(_ title: String, _ outcome: String, _ sentence: String) {
        guard failure != sentence else {
            repeated.append(title)
            return
        }
        line("\(title): \(outcome)")
        say([.wrong(sentence)])
        failure = sentence
    }

    /// Says what was only counted so far.
    mutating func flush() {
        if !repeated.isEmpty { write("  … the same in \(repeated.count) more: \(repeated.joined(separator: "; "))") }
        for text in skipped { write(text) }
        repeated = []
        skipped = []
    }
}
