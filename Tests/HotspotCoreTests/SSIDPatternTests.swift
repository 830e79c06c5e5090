import HotspotCore
import Testing

@Suite struct SSIDPatternTests {
    func matches(_ pattern: String, _ name: String) throws -> Bool { try SSIDPattern(pattern).matches(SSID(printable: name)!) }

    @Test func globs() throws {
        let fits = [
            ("Cafe*", "Cafe"), ("Cafe*", "Cafe Aroma"), ("*", ""), ("*", "anything"), ("*Aroma", "Cafe Aroma"), ("C?fe", "Cafe"),
            ("*a*b*", "xxaxxbxx"), ("a**b", "ab"), ("*ab", "aab"), ("*abc", "ababc"), ("?", "\\xff"), ("", ""), ("a*a", "aa"),
            ("*?", "x"), ("?*?", "xy"),
        ]
        for (pattern, name) in fits { #expect(try matches(pattern, name), "\(pattern) \(name)") }
        let fails = [
            ("Cafe*", "cafe"), ("Cafe", "Cafe "), ("Cafe", "Caf"), ("?", ""), ("?", "ab"), ("*a", "ab"), ("a*a", "a"),
            ("*ab*", "ba"),
            ("?*?", "x"), ("", "a"), ("a*b", "abc"), ("a*b", "cab"),
        ]
        for (pattern, name) in fails { #expect(try !matches(pattern, name), "\(pattern) \(name)") }
    }

    @Test func questionMarksStandForOctetsNotCharacters() throws {
        #expect(try matches("Caf??", "Café") && !matches("Caf?", "Café") && matches("Café", "Café"))
    }

    @Test func escapes() throws {
        #expect(try matches("\\*\\?\\;\\\\", "*?;\\x5c") && !matches("\\*", "x"))
        #expect(
            try matches("\\xff\\x00", "\\xff\\x00") && matches("\\s\\s", "  ") && matches("\\x2A", "*") && !matches("\\x2a", "x"))
        for wrong in ["\\", "\\x", "\\x4", "\\xzz", "\\n", "a\\"] {
            #expect(throws: SSIDPattern.ParseError.badEscape(wrong)) { try SSIDPattern(wrong) }
        }
    }

    @Test func lists() throws {
        #expect(try SSIDPattern.list("Cafe Aroma*;Aroma Guest").map(\.source) == ["Cafe Aroma*", "Aroma Guest"])
        #expect(try SSIDPattern.list(";;a;;b;").map(\.source) == ["a", "b"] && SSIDPattern.list("").isEmpty)
        let semicolon = try SSIDPattern.list("a\\;b;c")
        #expect(semicolon.map(\.source) == ["a\\;b", "c"] && semicolon[0].matches(SSID(printable: "a;b")!))
        let backslash = try SSIDPattern.list("a\\\\;b")
        #expect(backslash.count == 2 && backslash[0].matches(SSID(octets: [0x61, 0x5C])!))
        #expect(throws: SSIDPattern.ParseError.badEscape("b\\")) { try SSIDPattern.list("a;b\\") }
    }

    @Test func noNameIsLongerThan32Octets() throws {
        #expect(try SSIDPattern(String(repeating: "?", count: 32) + "*").matches(SSID(octets: [UInt8](repeating: 1, count: 32))!))
        let long = String(repeating: "a", count: 33)
        #expect(throws: SSIDPattern.ParseError.tooLong(long)) { try SSIDPattern(long) }
        let stars = String(repeating: "*a", count: 32)
        #expect(try SSIDPattern(stars).matches(SSID(octets: [UInt8](repeating: 0x61, count: 32))!))
    }

    /// Compared with the simplest possible matcher, over many small patterns and names.
    @Test func theSameAsTheDefinition() throws {
        func plain(_ pattern: ArraySlice<Character>, _ name: ArraySlice<Character>) -> Bool {
            guard let first = pattern.first else { return name.isEmpty }
            if first == "*" { return plain(pattern.dropFirst(), name) || (!name.isEmpty && plain(pattern, name.dropFirst())) }
            guard let letter = name.first, first == "?" || first == letter else { return false }
            return plain(pattern.dropFirst(), name.dropFirst())
        }
        func words(_ alphabet: [Character], upTo length: Int) -> [[Character]] {
            var all: [[Character]] = [[]]
            var last = all
            for _ in 0..<length {
                last = last.flatMap { word in alphabet.map { word + [$0] } }
                all += last
            }
            return all
        }
        let names = words(["a", "b"], upTo: 4)
        for pattern in words(["a", "b", "*", "?"], upTo: 4) {
            let compiled = try SSIDPattern(String(pattern))
            for name in names where compiled.matches(SSID(printable: String(name))!) != plain(pattern[...], name[...]) {
                Issue.record("\(String(pattern)) \(String(name))")
            }
        }
    }

    @Test func noPatternTakesExponentialTime() throws {
        // A matcher that recurses at every star would take centuries.
        let pattern = try SSIDPattern(String(repeating: "*a", count: 31) + "*b")
        let name = SSID(octets: [UInt8](repeating: 0x61, count: 32))!
        for _ in 0..<1000 { #expect(!pattern.matches(name)) }
    }

    @Test func coverage() throws {
        let listed = HelperSpec(
            name: "a", activation: .external(path: "/x"), ssids: try SSIDPattern.list("Cafe*"), security: [.open, .owe])
        #expect(listed.covers(SSID(printable: "Cafe 1")!, .owe) && !listed.covers(SSID(printable: "Cafe 1")!, .psk))
        #expect(!listed.covers(SSID(printable: "Bar")!, .open) && !listed.covers(.empty, .open))
        let free = HelperSpec(name: "b", activation: .stdio(exec: ["/x"]))
        #expect(Security.allCases.allSatisfy { free.covers(SSID(printable: "Bar")!, $0) })
        #expect(
            free.activation.word == "stdio" && listed.activation.word == "external"
                && HelperSpec.Activation.socket(exec: []).word == "socket")
    }
}
