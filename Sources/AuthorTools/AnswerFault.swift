import ForeignText
import Glibc
import HelperHost
import HotspotCore
import Varlink

/// Finds the mistake in a helper's answer from the octets that it wrote.
enum AnswerFault {
    /// Returns a sentence about the mistake that is more precise than the host's; `nil` if no such sentence fits.
    ///
    /// - Parameters:
    ///   - program: the program of the helper.
    ///   - shape: an example of an answer to the command.
    static func fault(_ record: Record, program: String, shape: String) -> String? {
        if let code = record.startError { return StartFailure.words(program: program, code: code) + "." }
        let output = record.output
        guard !output.isEmpty else { return nil }
        let message = output.prefix { $0 != 0 }
        guard message.drop(while: isBlank).first == UInt8(ascii: "{") else {
            guard !message.isEmpty else { return "It wrote a NUL before the answer; write the NUL after the answer." }
            return
                "It wrote \"\(beginning(message))\" to standard output, which is only for answers; use standard error."
        }
        guard message.count < output.count else {
            // Leaves a message that is longer than the recording to the host, which reports it.
            guard record.outputTotal == output.count else { return nil }
            let amount = output.count == 1 ? "one octet" : "\(output.count) octets"
            return "It wrote \(amount) but no NUL at the end; end each message with a NUL."
        }
        if message.drop(while: isBlank).dropFirst().first(where: { !isBlank($0) }) == UInt8(ascii: "'") {
            return "It wrote \"\(beginning(message))\"; JSON needs double quotes (json.dumps)."
        }
        guard let answer = try? Coding.decode(JSONValue.self, from: Array(message)), let members = answer.object,
            members["error"] == nil
        else { return nil }
        guard let parameters = members["parameters"] else { return "The answer lacks \"parameters\"; the format is: \(shape)" }
        if shape.contains("\"reply\""), parameters["reply"] == nil {
            return "The answer's \"parameters\" lack \"reply\"; the format is: \(shape)"
        }
        return nil
    }

    /// Returns a remark on output after the answer: it is allowed, but probably a mistake.
    static func trailingOutput(_ record: Record) -> [Remark] {
        guard let end = record.output.firstIndex(of: 0) else { return [] }
        let rest = record.output[(end + 1)...]
        // Leaves further complete messages to the host, which reports them.
        guard !rest.isEmpty, !rest.contains(0) else { return [] }
        return [.note("After the NUL it wrote \"\(beginning(rest))\", which is ignored: an answer ends with its NUL.")]
    }

    /// Returns remarks on the parts of an answer that the daemon would cut off.
    static func losses(_ record: Record) -> [Remark] {
        guard let end = record.output.firstIndex(of: 0),
            let answer = try? Coding.decode(JSONValue.self, from: Array(record.output[..<end])),
            let parameters = answer["parameters"]
        else { return [] }
        return AnswerLimits.losses(in: parameters).map { .wrong("\($0).") }
    }

    /// Returns the last lines of standard error, printable and without the made-up user's answers. Backslashes stay as they are,
    /// because they are often a part of source code.
    static func errors(_ text: String) -> [String] {
        RehearsalUser.hidden.mask(text).split(whereSeparator: \.isNewline).suffix(20).map {
            Printable.shown(String($0), limit: 400)
        }
    }

    /// The most likely reason why a helper wrote nothing at all.
    static let endlessReading = "If it reads to the end of standard input, it waits for ever: read only up to the NUL."

    /// Returns a remark on the folders in which a helper may write, if standard error reports a read-only folder.
    static func readOnly(_ errors: [String]) -> [Remark] {
        let words = ["Read-only file system", "EROFS", "[Errno 30]"]
        guard errors.contains(where: { line in words.contains { line.contains($0) } }) else { return [] }
        let other = "other folders need ReadWritePaths= in the .helper file"
        return [.note("A helper may write to its private folder $TMPDIR, which is removed afterwards; \(other).")]
    }

    private static func beginning(_ octets: ArraySlice<UInt8>) -> String {
        let text = String(decoding: octets.prefix(400), as: UTF8.self)
        return Printable.text(String(text.prefix(40)), limit: 200) + (text.count > 40 ? "…" : "")
    }

    private static func isBlank(_ octet: UInt8) -> Bool { " \t\n\r".utf8.contains(octet) }
}
