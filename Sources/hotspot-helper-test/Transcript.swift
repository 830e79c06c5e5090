import Glibc
import HotspotCore

/// What is said to the author: the commands, line by line, and what is wrong with each. A failure that repeats itself is said once.
struct Transcript {
    /// Remarks that count against the helper.
    private(set) var mistakes = 0
    /// The sentence of the failure before, and what stood on standard error then.
    private var failure: (sentence: String, errors: [String])?
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

    /// A command's own line, and below it what the helper wrote to standard error during this command.
    mutating func line(_ text: String, _ errors: [String] = []) {
        flush()
        failure = nil
        write(text)
        for error in errors { write("         | " + error) }
    }

    /// The command at hand takes long.
    mutating func wait(_ text: String) {
        flush()
        write("  … " + text)
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
        }
    }

    /// A command without a usable answer. The same as just before, in the sentence and on standard error, is only counted.
    mutating func fail(_ title: String, _ outcome: String, _ sentence: String, _ errors: [String]) {
        if let failure, failure.sentence == sentence, failure.errors == errors {
            repeated.append(title)
            return
        }
        line("\(title): \(outcome)", errors)
        say([.wrong(sentence)])
        failure = (sentence, errors)
    }

    /// Says what was only counted so far.
    mutating func flush() {
        if !repeated.isEmpty { write("  … the same in \(repeated.count) more: \(repeated.joined(separator: "; "))") }
        for text in skipped { write(text) }
        repeated = []
        skipped = []
    }
}
