import FoundationEssentials
import Testing

/// `docs/machine-rules.md` names every rule once, and only files and tests that exist.
@Suite struct RulesPageTests {
    /// A rule's number, and the files and tests that it names.
    struct Rule {
        let number: String
        let files: [String]
        let proofs: [String]
    }

    static let numbers = Set(
        (1...46).map { "T\($0)" } + (1...27).map { "D\($0)" } + ["D30", "D31", "D32", "D33"] + (1...18).map { "C\($0)" }
            + (1...80).map { "\($0)" })

    /// Returns the rules of a page: rows of four cells, the first of which is a number.
    static func rules(of page: String) -> [Rule] {
        page.split(separator: "\n").compactMap { line in
            guard line.hasPrefix("| "), line.hasSuffix(" |") else { return nil }
            let cells = line.dropFirst(2).dropLast(2).split(separator: " | ", omittingEmptySubsequences: false)
            guard cells.count == 4, let first = cells[0].first, first.isNumber || "TDC".contains(first),
                cells[0].dropFirst().allSatisfy(\.isNumber)
            else { return nil }
            return Rule(number: String(cells[0]), files: quoted(cells[2]), proofs: quoted(cells[3]))
        }
    }

    /// Returns the words between backquotes.
    private static func quoted(_ cell: Substring) -> [String] {
        cell.split(separator: "`", omittingEmptySubsequences: false).enumerated().filter { $0.offset % 2 == 1 }
            .map { String($0.element) }
    }

    /// Returns the faults of a page, in words.
    static func faults(of page: String, tests: Set<String>) -> [String] {
        let rules = rules(of: page)
        var faults: [String] = []
        let counts = Dictionary(grouping: rules, by: \.number).mapValues(\.count)
        for number in numbers.sorted() where counts[number] != 1 {
            faults.append("\(number) is there \(counts[number] ?? 0) times")
        }
        for number in counts.keys.sorted() where !numbers.contains(number) { faults.append("there is no \(number)") }
        for rule in rules {
            if rule.files.isEmpty { faults.append("\(rule.number) names no file") }
            if rule.proofs.isEmpty { faults.append("\(rule.number) names no test") }
            for file in rule.files where !Checkout.hasSource(file) { faults.append("\(rule.number): there is no \(file)") }
            for proof in rule.proofs where !tests.contains(proof) { faults.append("\(rule.number): there is no test \(proof)") }
        }
        return faults
    }

    /// Returns `Suite.function` of each test in a file: the first function after `@Test`, in the type that began last.
    static func testNames(in text: String) -> [String] {
        var suite: Substring = ""
        var isTest = false
        var names: [String] = []
        for line in text.split(separator: "\n") {
            if line.first != " ", let word = word(after: "struct ", in: line) { suite = word }
            if line.contains("@Test") { isTest = true }
            if isTest, let word = word(after: "func ", in: line) {
                names.append("\(suite).\(word)")
                isTest = false
            }
        }
        return names
    }

    private static func word(after mark: String, in line: Substring) -> Substring? {
        line.firstRange(of: mark).map { line[$0.upperBound...].prefix { $0.isLetter || $0.isNumber || $0 == "_" } }
    }

    static let tests = Set(Checkout.swiftFiles(below: "Tests").flatMap { testNames(in: (try? Checkout.text($0)) ?? "") })

    @Test("Every rule is there once, with files and tests that exist") func complete() throws {
        let faults = Self.faults(of: try Checkout.text("docs/machine-rules.md"), tests: Self.tests)
        #expect(faults.isEmpty, "\(faults.joined(separator: "\n"))")
    }

    /// Returns the rules that the comments of a source name but that do not exist.
    static func unknownRules(in text: String) -> [String] {
        text.split(separator: "\n").compactMap { line in line.firstRange(of: "//").map { line[$0.upperBound...] } }.flatMap {
            comment in
            comment.split { !$0.isLetter && !$0.isNumber }.map(String.init).filter { word in
                let digits = word.dropFirst()
                return "TDC".contains(word.first!) && !digits.isEmpty && digits.allSatisfy(\.isNumber) && !numbers.contains(word)
            }
        }
    }

    @Test("Comments name only rules that exist") func named() throws {
        #expect(Self.unknownRules(in: "let d28 = D28 // See D1 (D28 and C11).\n/// T47: D, T34, 0xD29") == ["D28", "T47"])
        for file in Checkout.swiftFiles(below: "Sources") {
            let unknown = Self.unknownRules(in: try Checkout.text(file))
            #expect(unknown.isEmpty, "\(file) names \(unknown)")
        }
    }

    @Test("The page of the visit names functions that exist") func visit() throws {
        let page = try Checkout.text("docs/visit.md")
        let steps = Self.steps(of: page)
        let sources = Checkout.swiftFiles(below: "Sources")
        let rows = page.split(separator: "\n").filter { $0.hasPrefix("| ") && $0.dropFirst(2).first?.isNumber == true }
        let files = Set(rows.compactMap { Self.quoted($0).first })
        #expect(rows.count > 20)
        #expect(page.contains("The table has \(rows.count) functions in \(files.count) files."), "the count of docs/visit.md")
        for (file, function) in steps {
            // A path below the targets' folders, or below the daemon's folder.
            let path = sources.first { $0.hasSuffix("Sources/" + file) || $0.hasSuffix("Sources/hotspotd/" + file) }
            let text = path.flatMap { try? Checkout.text($0) }
            #expect(text != nil, "there is no \(file)")
            #expect(
                text.map { $0.contains("func \(function)(") || $0.contains("var \(function):") } ?? true, "\(function) in \(file)"
            )
        }
    }

    /// Returns file and function from the quoted words of a page: a function belongs to the file before it in its paragraph.
    static func steps(of page: String) -> [(file: String, function: String)] {
        var file: String?
        var steps: [(String, String)] = []
        for line in page.split(separator: "\n", omittingEmptySubsequences: false) {
            if line.isEmpty || line.first?.isNumber == true { file = nil }
            for word in quoted(line) {
                if word.hasSuffix(".swift") {
                    file = word
                } else if let file, word.first?.isLowercase == true, word.allSatisfy(\.isLetter) {
                    steps.append((file, word))
                }
            }
        }
        return steps
    }

    @Test("A missing rule, file or test on a page is a fault") func finds() throws {
        let row = "a rule | `Machine.swift`, `hotspotd/Links/Waking.swift` | `ConformanceLink.start` |"
        let page = Self.numbers.map { "| \($0) | \(row)" }.joined(separator: "\n")
        #expect(Self.faults(of: page, tests: Self.tests) == [])
        func faults(_ number: String, _ new: String) throws -> [String] {
            let changed = page.replacing("| \(number) | \(row)", with: new)
            try #require(changed != page)
            return Self.faults(of: changed, tests: Self.tests)
        }
        #expect(try faults("T17", "| T18 | \(row)") == ["T17 is there 0 times", "T18 is there 2 times"])
        #expect(try faults("80", "| 81 | \(row)") == ["80 is there 0 times", "there is no 81"])
        #expect(try faults("D3", "| D3 | a rule | – | – |") == ["D3 names no file", "D3 names no test"])
        #expect(
            try faults("C1", "| C1 | a rule | `Machin.swift` | `ConformanceLink.start` |") == ["C1: there is no Machin.swift"])
        for proof in ["ConformanceLink.begin", "ConformanceRace.start", "start", "Bench.join"] {
            let expected = ["1: there is no test \(proof)"]
            #expect(try faults("1", "| 1 | a rule | `Machine.swift` | `\(proof)` |") == expected)
        }
    }
}

/// The sources that these tests belong to.
enum Checkout {
    static let path = #filePath.split(separator: "/").dropLast(3).reduce("") { $0 + "/" + $1 }

    static func text(_ file: String) throws -> String {
        try String(contentsOf: URL(filePath: "\(path)/\(file)"), encoding: .utf8)
    }

    /// Whether there is a file of the machine, or `Folder/File` below the sources.
    static func hasSource(_ name: String) -> Bool {
        let file = name.contains("/") ? name : "HotspotMachine/\(name)"
        return FileManager.default.fileExists(atPath: "\(path)/Sources/\(file)")
    }

    /// Returns all Swift files below a folder.
    static func swiftFiles(below folder: String) -> [String] {
        let files = (try? FileManager.default.subpathsOfDirectory(atPath: "\(path)/\(folder)")) ?? []
        return files.filter { $0.hasSuffix(".swift") }.sorted().map { "\(folder)/\($0)" }
    }
}
