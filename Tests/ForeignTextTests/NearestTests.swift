import ForeignText
import Testing

@Suite struct NearestTests {
    @Test(arguments: [
        ("SSDI", "SSID"), ("ssid", "SSID"), ("Prioritty", "Priority"), ("Nme", "Name"), ("ScanLists", "ScanList"),
        ("DispalyName", "DisplayName"),
    ]) func aTypingErrorIsRecognised(_ unknown: String, _ meant: String) {
        #expect(Nearest.word(to: unknown, in: ["Name", "DisplayName", "SSID", "Priority", "ScanList", "Exec"]) == meant)
    }

    @Test(arguments: ["", "Colour", "X", "AB", String(repeating: "SSID", count: 1000)])
    func otherWordsAreNotSuggested(_ unknown: String) {
        #expect(Nearest.word(to: unknown, in: ["Name", "SSID", "Exec"]) == nil)
    }
}
