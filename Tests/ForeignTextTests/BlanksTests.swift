import ForeignText
import Testing

@Suite struct BlanksTests {
    @Test(arguments: [
        ("", ""), ("a b", "a b"), ("  a   b  ", "a b"), ("   ", ""), ("\u{3000}\u{A0}a\u{2003} \u{2800}b\u{202F}", "a b"),
        ("ホテル\u{3000}東京", "ホテル 東京"), ("a\tb\nc", "a\tb\nc"), ("e\u{301} x", "e\u{301} x"),
    ]) func runsBecomeOne(text: String, collapsed: String) {
        #expect(Blanks.collapsed(text).unicodeScalars.elementsEqual(collapsed.unicodeScalars))
        #expect(Blanks.collapsed(Blanks.collapsed(text)) == Blanks.collapsed(text))
    }
}
