import Foundation
import PageLogin
import Testing

/// `docs/page-rules.md` has the rows of the page rules' tables, in their order, and proofs that exist.
@Suite struct PageRulesPageTests {
    private static let root = "/" + #filePath.split(separator: "/").dropLast(3).joined(separator: "/")

    private static func text(_ path: String) -> String? {
        FileManager.default.contents(atPath: "\(root)/\(path)").map { String(decoding: $0, as: UTF8.self) }
    }

    /// Returns the rows of three cells below each heading of a page.
    private static func tables(of page: String) -> [(question: String, rows: [[String]])] {
        page.components(separatedBy: "\n## ").dropFirst().map { part in
            let lines = part.components(separatedBy: "\n")
            let rows = lines.filter { $0.hasPrefix("| ") && !$0.hasPrefix("| #") }.map {
                $0.dropFirst(2).dropLast(2).components(separatedBy: " | ")
            }
            return (String(lines[0].dropFirst(3)), rows)
        }
    }

    @Test func thePageHasTheRules() throws {
        let tables = Self.tables(of: try #require(Self.text("docs/page-rules.md")))
        #expect(tables.map(\.question) == PageRules.tables.map(\.question))
        for (page, sources) in zip(tables, PageRules.tables) {
            #expect(page.rows.map { $0[0] + " " + $0[1] } == sources.rows.map { $0.number + " " + $0.sentence })
        }
        let numbers = PageRules.tables.flatMap(\.rows).map(\.number)
        #expect(Set(numbers).count == numbers.count)
    }

    /// The page lists the rules whose pages are rendered first, where a browser is installed.
    @Test func thePageNamesTheRulesThatNeedScripts() throws {
        let page = try #require(Self.text("docs/page-rules.md"))
        let list = try #require(page.components(separatedBy: "**Scripts.** ").last?.components(separatedBy: " rule about").first)
        let numbers = list.replacing("\n", with: " ").replacing(",", with: "").replacing(" and", with: "").split(separator: " ")
        var named: [String] = []
        var isRange = false
        for number in numbers {
            if number == "to" {
                isRange = true
            } else if isRange, let first = named.last.flatMap({ Int($0.dropFirst()) }), let last = Int(number.dropFirst()) {
                named += ((first + 1)...last).map { "\(number.prefix(1))\($0)" }
                isRange = false
            } else {
                named.append(String(number))
            }
        }
        let rules = PageRules.tables.flatMap(\.rows).filter(\.needsScripts).map(\.number)
        #expect(Set(named) == Set(rules))
    }

    /// The rules that end a page. The other rules lead to one of these.
    private static let final = Set(
        (1...6).map { "P\($0)" } + (11...21).map { "F\($0)" } + (1...8).map { "Q\($0)" } + (2...14).map { "N\($0)" }
            + (1...16).map { "E\($0)" }
    ).subtracting(["E7", "E9"])

    /// If a rule's proof is a case of the corpus, the case names the rule.
    @Test func eachRuleHasAProof() throws {
        for row in Self.tables(of: try #require(Self.text("docs/page-rules.md"))).flatMap(\.rows) {
            let proof = row[2].filter { $0 != "`" }
            if let dot = proof.firstIndex(of: ".") {
                let (suite, test) = (proof[..<dot], proof[proof.index(after: dot)...])
                let files = FileManager.default.enumerator(atPath: Self.root + "/Tests/HelperKitTests")
                let path = files?.compactMap { $0 as? String }.first { $0.hasSuffix("/\(suite).swift") }
                let source = path.flatMap { Self.text("Tests/HelperKitTests/\($0)") } ?? ""
                #expect(source.contains("func \(test)("), "\(row[0]): there is no test \(proof)")
                continue
            }
            let text = Self.text("Tests/Pages/cases/\(proof)/case.json")
            #expect(text != nil, "\(row[0]): there is no page \(proof)")
            if Self.final.contains(row[0]) {
                #expect(text?.contains("\"rule\": \"\(row[0])\"") == true, "\(row[0]) does not rule on \(proof)")
            }
        }
    }
}
