import Glibc
import HotspotCore

/// The report to the author: the commands line by line, with the remarks on each. A repeated failure is reported once.
struct Transcript {
    /// The number of remarks on mistakes.
    private(set) var mistakes = 0
    /// The sentence and the standard error of the previous failure.
    private var failure: (sentence: String, errors: [String])?
    private var repeated: [String] = []
    private var skipped: [String] = []
    private var notes: Set<String> = []
    private let write: (String) -> Void

    init(_ write: @escaping (String) -> Void = Self.show) { self.write = write }

    /// Prints a line at once, even if standard output is a pipe.
    static func show(_ line: String) {
        print(line)
        fflush(nil)
    }

    /// Writes the line of a command and below it the standard error of this command.
    mutating func line(_ text: String, _ errors: [String] = []) {
        flush()
        failure = nil
        write(text)
        for error in errors { write("         | " + error) }
    }

    /// Reports that the current command takes long.
    mutating func wait(_ text: String) {
        flush()
        write("  … " + text)
    }

    /// Reports that a command is not played. A skipped command does not end the count of a repeated failure.
    mutating func skip(_ text: String) {
        if failure == nil { write(text) } else { skipped.append(text) }
    }

    /// Writes remarks on the current command; each note only once.
    mutating func say(_ remarks: [Remark]) {
        let remarks = remarks.filter { if case .note(let text) = $0 { notes.insert(text).inserted } else { true } }
        if !remarks.isEmpty { flush() }
        for remark in remarks {
            switch remark {
            case .wrong(let text):
                write("  WRONG  \(text)")
                mistakes += 1
            case .note(let text): write("  note   \(text)")
            }
        }
    }

    /// Writes a command without a usable answer. If the sentence and the standard error are the same as before, only counts the failure.
    mutating func fail(_ title: String, _ outcome: String, _ sentence: String, _ errors: [String]) {
        if let failure, failure.sentence == sentence, failure.errors == errors {
            repeated.append(title)
            return
        }
        line("\(title): \(outcome)", errors)
        say([.wrong(sentence)])
        failure = (sentence, errors)
    }

    /// Writes the failures that were only counted so far.
    mutating func flush() {
        if !repeated.isEmpty { write("  … the same in \(repeated.count) more: \(repeated.joined(separator: "; "))") }
        for text in skipped { write(text) }
        repeated = []
        skipped = []
    }
}

/// A remark for a helper's author.
enum Remark: Hashable, Sendable {
    /// A mistake: it violates the contract, or is certainly not intended.
    case wrong(String)
    /// A hint about something that is allowed.
    case note(String)
}

extension [Remark] {
    mutating func wrong(_ text: String) { append(.wrong(text)) }
    mutating func note(_ text: String) { append(.note(text)) }
}
