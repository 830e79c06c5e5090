import ForeignText
import Testing

@Suite struct ShellWordTests {
    @Test(arguments: [
        ("/usr/bin/x-1.2@a%b+c=d:e,f", "/usr/bin/x-1.2@a%b+c=d:e,f"), ("/a b", "'/a b'"),
        ("/x;touch PWN;#", "'/x;touch PWN;#'"), ("/it's", #"'/it'\''s'"#), ("/$(id)`id`", "'/$(id)`id`'"),
        (#"/back\slash"#, #"'/back\slash'"#), ("/Café", "'/Café'"), ("~root", "'~root'"), ("*", "'*'"),
    ]) func isOneWord(_ text: String, _ expected: String) { #expect(ShellWord.quoted(text) == expected) }

    @Test(arguments: ["", "/a\nb", "/a\u{1B}[2J", "/a\u{202E}b", "/a\u{200B}b", String(repeating: "x", count: 2000)])
    func textThatDeceivesIsRefused(_ text: String) { #expect(ShellWord.quoted(text) == nil) }

    @Test func anArgumentIsNoOption() {
        #expect(ShellWord.argument("Cafe Aroma") == "'Cafe Aroma'" && ShellWord.argument("a-b") == "a-b")
        #expect(ShellWord.argument("--yes") == "-- --yes" && ShellWord.argument("-a b") == "-- '-a b'")
        #expect(ShellWord.argument("") == nil)
    }
}
