import FoundationEssentials
import Testing

/// The table of proofs in `docs/security.md`: the suites, fuzzers and kinds of faults that it names exist, and it omits no kind of fault.
@Suite struct SecurityPageTests {
    private static func file(_ path: String) throws -> String {
        try String(contentsOfFile: "\(SeedTests.checkout)/\(path)", encoding: .utf8)
    }

    /// The words in backticks of each column, without the first column.
    private static func columns() throws -> [[String]] {
        let section = try #require(try file("docs/security.md").split(separator: "\n## ").first { $0.hasPrefix("The proofs\n") })
        let rows = section.split(separator: "\n").filter { $0.hasPrefix("| ") }.dropFirst()
            .map { $0.split(separator: "|").map(String.init) }
        try #require(rows.count > 10 && rows.allSatisfy { $0.count == 4 })
        return (1...3).map { column in
            rows.flatMap { $0[column].matches(of: #/`([^`]+)`/#).map { String($0.1) } }
        }
    }

    @Test func suitesExist() throws {
        for name in try Self.columns()[0] {
            let parts = name.split(separator: ".")
            try #require(parts.count == 2, "\(name) is no TARGET.SUITE")
            let folder = "\(SeedTests.checkout)/Tests/\(parts[0])"
            let files = FileManager.default.enumerator(atPath: folder)?.compactMap { $0 as? String } ?? []
            #expect(
                try files.filter { $0.hasSuffix(".swift") }.contains {
                    try String(contentsOfFile: "\(folder)/\($0)", encoding: .utf8).contains(" \(parts[1]) {")
                }, "\(name) is not there")
        }
    }

    @Test func fuzzersAndFaultsAreThose() throws {
        let columns = try Self.columns()
        #expect(Set(columns[1]) == Set(Parsers.all.keys))
        let line = try #require(try Self.file("Tests/Faults/faults").split(separator: "\n").first { $0.hasPrefix("KINDS = ") })
        #expect(Set(columns[2]) == Set(line.matches(of: #/"([a-z]+)"/#).map { String($0.1) }))
    }
}
