import HotspotCore
import TestSupport
import Testing

@Suite struct KeyfileTests {
    func parse(_ text: String) throws(Keyfile.Error) -> Keyfile { try Keyfile(Array(text.utf8), file: "a.helper") }

    func error(_ octets: [UInt8]) -> Keyfile.Error? {
        do {
            _ = try Keyfile(octets, file: "a.helper")
            return nil
        } catch {
            return error
        }
    }

    @Test func entriesKnowTheirLines() throws {
        let file = try parse("# a\n\n[Helper]\n Name = cafe \nSSID=a=b;c\n;x\n[Other]\nName=\n")
        #expect(file.entries.map(\.line) == [4, 5, 8] && file.entries.map(\.key) == ["Name", "SSID", "Name"])
        #expect(file.last("Helper", "Name")?.value == "cafe" && file.last("Helper", "SSID")?.value == "a=b;c")
        #expect(
            file.last("Other", "Name")?.value == "" && file.last("Helper", "Nothing") == nil && file.last("helper", "Name") == nil
        )
        #expect(file.error(file.entries[1], "is odd").description == "a.helper:5: SSID= is odd")
    }

    /// One long line, many lines, and characters that are trimmed within a line.
    @Test(arguments: [
        ("[A]\nK=@", " "), ("[A]\nK=@x", "\t"), ("@", " "), ("[A]\nK@=x", "\u{3000}"), ("[A]\n@", " \n"),
        ("[A]\nK@=1", "\u{300}\u{323}"),
        ("[A]\nK=a@", "\u{301}\u{316}"), ("[A@]\nK=1", "\u{300}\u{323}"), ("[A]\nK=1 @", "\u{85}"), ("[A]\n#@", "\u{300}\u{323}"),
    ]) func anyTextTakesLinearTime(_ text: String, _ piece: String) {
        let growth = ProcessorTime.growth { size in
            // A file has 64 KiB at most.
            let filling = String(repeating: piece, count: (size / 4 - 64) / piece.utf8.count)
            let file = try? parse(text.replacing("@", with: filling))
            #expect(file?.entries.allSatisfy { $0.key.unicodeScalars.count <= 32 } != false)
            _ = file?.last("A", "K")
        }
        #expect(growth < 8)
    }

    @Test(arguments: [" \t a b \u{3000}", "\u{A0}a b\u{2003}", "a b"]) func blanksAroundAreLeftOut(_ value: String) throws {
        #expect(try parse("[A]\n \u{3000}K\t=\(value)\n").last("A", "K")?.value == "a b")
    }

    @Test func theLastValueCounts() throws {
        let file = try parse("[A]\nKey=1\nKey=2\n[B]\nKey=3\n[A]\nKey=4\n")
        #expect(file.last("A", "Key")?.value == "4" && file.last("A", "Key")?.line == 7)
    }

    @Test(
        "Errors name the line",
        arguments: [
            ("Key=1", 1), ("[A]\nKey", 2), ("[A\n", 1), ("[]", 1), ("[A]\n\n=1", 3), ("# x\r\n[A]\r\nnonsense\r\n", 3),
            ("[A]\n[B", 2),
        ])
    func errors(text: String, line: Int) {
        let error = error(Array(text.utf8))
        #expect(error?.line == line && error?.file == "a.helper" && error?.message.isEmpty == false)
        #expect(error?.description.hasPrefix("a.helper:\(line): ") == true)
    }

    @Test func aFileAsAWhole() {
        #expect(error([0xFF, 0xFE])?.line == 0 && error(Array("[A]\nKey=\u{0}".utf8))?.line == 0)
        #expect(error([UInt8](repeating: 0x0A, count: Keyfile.maximumSize)) == nil)
        #expect(error([UInt8](repeating: 0x0A, count: Keyfile.maximumSize + 1))?.description == "a.helper: larger than 64 KiB")
        #expect(error([]) == nil)
    }

    @Test func truths() throws {
        let file = try parse("[A]\na=yes\nb=TRUE\nc=on\nd=1\ne=no\nf=False\ng=off\nh=0\ni=maybe\nj=")
        #expect(file.entries.map(\.boolean) == [true, true, true, true, false, false, false, false, nil, nil])
    }
}
