import FoundationEssentials
import Testing

@testable import Answers

/// `docs/answer-rules.md` contains each rule once, in the words of the table, with an existing file and test.
@Suite struct AnswerRulesPageTests {
    private static let checkout = #filePath.split(separator: "/").dropLast(3).reduce("") { $0 + "/" + $1 }

    private static func text(_ file: String) throws -> String {
        try String(contentsOf: URL(filePath: "\(checkout)/\(file)"), encoding: .utf8)
    }

    private static func files(below folder: String) -> [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: "\(checkout)/\(folder)")) ?? []).filter { $0.hasSuffix(".swift") }
    }

    @Test("Every rule is there once, with its words, a file and a test that exist") func complete() throws {
        let rows = try Self.text("docs/answer-rules.md").split(separator: "\n").filter { $0.hasPrefix("| A") }.map { row in
            row.dropFirst(2).dropLast(2).split(separator: " | ").map(String.init)
        }
        #expect(rows.map(\.first) == AnswerRule.allCases.map(\.number))
        let sources = Set(Self.files(below: "Sources/Answers"))
        let tests = try Self.files(below: "Tests/AnswersTests").map { try Self.text("Tests/AnswersTests/\($0)") }.joined()
        for (row, rule) in zip(rows, AnswerRule.allCases) {
            try #require(row.count == 4, "\(rule.number)")
            #expect(row[1] == rule.rawValue)
            #expect(sources.contains(row[2].replacing("`", with: "")), "\(rule.number): there is no \(row[2])")
            #expect(tests.contains("func \(row[3].replacing("`", with: ""))("), "\(rule.number): there is no test \(row[3])")
        }
    }
}
