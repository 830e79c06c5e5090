import Testing

/// docs/hostile.md names a test for each input.
@Suite struct HostilePageTests {
    @Test func everyTestIsThere() throws {
        // FILE:struct NAME and FILE:func NAME; a file may have several suites.
        let found = try Program.run([
            "/usr/bin/grep", "-roE", "--include=*Tests.swift", "(struct|func) \\w+", Program.checkout + "/Tests",
        ])
        var words: [Substring: Set<Substring>] = [:]
        for line in found.output.split(separator: "\n") {
            let parts = line.split(separator: ":")
            if parts.count == 2 { words[parts[0], default: []].insert(parts[1]) }
        }
        let page = try Text.read(Program.checkout + "/docs/hostile.md")
        let names = page.matches(of: #/`(\w+Tests)\.(\w+)`/#).map { ($0.1, $0.2) }
        #expect(names.count > 60)
        for (suite, test) in names {
            #expect(words.values.contains { $0.contains("struct \(suite)") && $0.contains("func \(test)") }, "\(suite).\(test)")
        }
        for match in page.matches(of: #/`(Tests/Pages/cases/[a-z-]+)`/#) {
            #expect((try? Text.read("\(Program.checkout)/\(match.1)/case.json")) != nil, "\(match.1)")
        }
    }
}
