import Glibc
import HelperHost
import HotspotCore
import Varlink

/// What is wrong with the way in which a helper answered, from the octets that it wrote. Pure, but for a look at a program that could
/// not be started.
enum Diagnosis {
    /// In place of the host's sentence where this knows better; `nil` where it does not.
    ///
    /// - Parameters:
    ///   - program: what was to be started.
    ///   - shape: an answer of the right shape for the command.
    static func fault(_ record: Record, program: String, shape: String) -> String? {
        if let code = record.startError { return StartFailure.words(program: program, code: code) + "." }
        let output = record.output
        guard !output.isEmpty else { return nil }
        let message = output.prefix { $0 != 0 }
        guard message.drop(while: isBlank).first == UInt8(ascii: "{") else {
            guard !message.isEmpty else { return "Its first octet was a NUL; the answer comes first, then the NUL." }
            return
                "It wrote «\(beginning(message))» to standard output; only answers belong on standard output; use standard error."
        }
        guard message.count < output.count else {
            // A message that is longer than what was written down has its own words.
            guard record.outputTotal == output.count else { return nil }
            return
                "It wrote \(output.count == 1 ? "one octet" : "\(output.count) octets") but no NUL at the end; end each message with a zero octet."
        }
        if message.drop(while: isBlank).dropFirst().first(where: { !isBlank($0) }) == UInt8(ascii: "'") {
            return "It wrote «\(beginning(message))»; JSON wants double quotes (json.dumps)."
        }
        guard let answer = try? Coding.decode(JSONValue.self, from: Array(message)), let members = answer.object,
            members["error"] == nil
        else { return nil }
        guard let parameters = members["parameters"] else { return "The answer has no «parameters»; it has this shape: \(shape)" }
        if shape.contains("\"reply\""), parameters["reply"] == nil {
            return "The answer's «parameters» have no «reply»; it has this shape: \(shape)"
        }
        return nil
    }

    /// What is allowed, and probably not meant.
    static func afterwards(_ record: Record) -> [Remark] {
        guard let end = record.output.firstIndex(of: 0) else { return [] }
        let rest = record.output[(end + 1)...]
        // Further whole messages are counted by the host.
        guard !rest.isEmpty, !rest.contains(0) else { return [] }
        return [
            .note("After the NUL it wrote «\(beginning(rest))», which nobody reads: an answer ends with its NUL.")
        ]
    }

    /// What the daemon cuts of an answer, which would otherwise be found out at the hotspot.
    static func losses(_ record: Record) -> [Remark] {
        guard let end = record.output.firstIndex(of: 0),
            let answer = try? Coding.decode(JSONValue.self, from: Array(record.output[..<end])),
            let parameters = answer["parameters"]
        else { return [] }
        return AnswerLimits.losses(in: parameters).map { .wrong("\($0).") }
    }

    /// Whether its standard error shows one of these values.
    static func leaks(_ record: Record, _ secrets: [String]) -> Bool {
        let text = String(decoding: record.errors, as: UTF8.self)
        return secrets.contains { text.contains($0) }
    }

    /// The end of standard error, for people, without what the made-up user typed. A backslash in it is the author's own, often a piece
    /// of source, and stays.
    static func errors(_ text: String) -> [String] {
        RehearsalUser.hidden.mask(text).split(whereSeparator: \.isNewline).suffix(20).map {
            Printable.shown(String($0), limit: 400)
        }
    }

    /// What most likely keeps a helper from answering that wrote nothing at all.
    static let endlessReading = "Does it read to the end of standard input? Read up to the NUL: the input stays open."

    /// Standard error speaks of a folder that may not be written to.
    static func isReadOnly(_ errors: [String]) -> Bool {
        errors.contains { $0.contains("Read-only file system") || $0.contains("EROFS") || $0.contains("[Errno 30]") }
    }

    /// Where a helper may write.
    static let readOnly = Remark.note(
        "A helper may write to its own folder $TMPDIR, which is gone afterwards; any other wants ReadWritePaths= in the .helper file."
    )

    /// A script for env(1) with the line ends of Windows: the kernel finds env, and env no interpreter.
    static func windowsLineEnds(_ program: String) -> String? {
        let words = StartFailure.words(program: program, code: ENOENT)
        return words.contains("line ends of Windows") ? words + "." : nil
    }

    private static func beginning(_ octets: ArraySlice<UInt8>) -> String {
        let text = String(decoding: octets.prefix(400), as: UTF8.self)
        return Printable.text(String(text.prefix(40)), limit: 200) + (text.count > 40 ? "…" : "")
    }

    private static func isBlank(_ octet: UInt8) -> Bool { octet == 0x20 || octet == 0x0A || octet == 0x0D || octet == 0x09 }
}
