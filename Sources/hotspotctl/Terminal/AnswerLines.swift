import Glibc
import HotspotCore

/// Answers from standard input: lines name=value, in any order.
enum AnswerLines {
    /// The largest size of the answers, in octets.
    static let limit = 64 * 1024

    /// Reads answers to these fields from standard input; without fields, answers to any field.
    static func read(fields: [Field]?) throws(Failure) -> [String: String] { try parse(try standardInput(), fields: fields) }

    /// Reads standard input to its end.
    static func standardInput() throws(Failure) -> [UInt8] {
        var octets: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = Glibc.read(STDIN_FILENO, &chunk, chunk.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { break }
            octets += chunk[..<count]
            guard octets.count <= limit else { throw Failure(.usage, "The answers are larger than \(limit / 1024) KiB.") }
        }
        return octets
    }

    /// Reads the lines. Errors contain field names and line numbers, never values.
    static func parse(_ octets: [UInt8], fields: [Field]?) throws(Failure) -> [String: String] {
        guard let text = String(validating: octets, as: UTF8.self) else { throw Failure(.usage, "The answers are not UTF-8.") }
        var answers: [String: String] = [:]
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        for (index, raw) in lines.enumerated() {
            let line = raw.hasSuffix("\r") ? raw.dropLast() : raw
            if line.isEmpty { continue }
            guard let equals = line.firstIndex(of: "=") else {
                throw Failure(.usage, "Line \(index + 1) must have the form name=value.")
            }
            let name = String(line[..<equals])
            let known = fields ?? [Field(name: name, label: name, kind: .text, required: true)]
            guard let field = known.first(where: { $0.name == name }) else {
                let names = known.map { Renderer.safe($0.name) }.joined(separator: ", ")
                throw Failure(.usage, QuotedProblem.join("Line \(index + 1) answers an unknown field; the names are:", names))
            }
            guard answers[name] == nil else { throw Failure(.usage, "Line \(index + 1) answers a field for the second time.") }
            guard let value = normalise(String(line[line.index(after: equals)...]), field) else {
                let choices =
                    field.kind == .checkbox
                    ? ["yes", "no"] : (field.choices ?? []).prefix(20).map { Renderer.safe($0, limit: 64) }
                throw Failure(
                    .usage, QuotedProblem.join("Line \(index + 1) is not one of the choices:", choices.joined(separator: ", ")))
            }
            answers[name] = value
        }
        return answers
    }

    /// Returns the value as the control interface expects it: `yes` or `no` for a checkbox, one of the texts for a choice; `nil` for any other value.
    static func normalise(_ value: String, _ field: Field) -> String? {
        switch field.kind {
        case .text, .password, .email, .phone, .code: return value
        case .choice: return field.choices.map { $0.contains(value) } ?? true ? value : nil
        case .checkbox:
            switch value.lowercased() {
            case "yes", "y", "true", "on", "1": return "yes"
            case "no", "n", "false", "off", "0", "": return "no"
            default: return nil
            }
        }
    }
}
