import Testing

@testable import HelperHost

@Suite(.timeLimit(.minutes(10))) struct SecretSearchTests {
    /// Whatever stands around it, and also where secrets begin or end alike.
    @Test func whatIsThereIsFound() {
        let words = ["aab", "aabaab", "abaa", "opensesame", "open\"sesame", "ä ö"]
        let secrets = Secrets(words)
        for before in ["", "a", "aa", "x", "…"] {
            for after in ["", "b", "ab", "x"] {
                for word in words {
                    let masked = secrets.mask(before + "<" + word + ">" + after)
                    #expect(masked.contains("<•••>"), "\(before)<\(word)>\(after): \(masked)")
                }
            }
        }
        #expect(secrets.mask("aabaabaab") == "••••••")
        #expect(secrets.mask("body=%C3%A4+%C3%B6&x") == "body=•••&x")
        #expect(secrets.mask("aa ab ba opensesam") == "aa ab ba opensesam")
        #expect(secrets.mask("it was opense…") == "it was •••…")
    }

    /// A helper chooses both what is asked and what it says then: alike as they may be, it is a matter of milliseconds. Looking for each
    /// secret at each place would take a minute and more.
    @Test func secretsAndTextsThatAreAlikeAreFoundInTime() {
        let words = (0..<32).map { String(repeating: "a", count: 4000 - $0) + "\"\($0)" }
        let secrets = Secrets(words)
        let text = String(repeating: "a", count: 260_000)
        for _ in 0..<20 { #expect(secrets.mask(text).utf8.count <= Secrets.textLimit + 3) }
        // What comes after is masked as well, unseen.
        #expect(secrets.mask("«" + words[5] + "»") == "«•••")
        #expect(secrets.mask("Sorry") == "Sorry" && Secrets(words).mask("«" + words[5] + "»") == "«•••»")
    }

    /// As many choices as a prompt may have, again and again: without a bound that all texts share it would take minutes.
    @Test func ellipsesAreLookedBehindOnlySoOften() {
        let secrets = Secrets((0..<32).map { "\($0)" + String(repeating: "•…\"", count: 100) })
        let text = String(repeating: "…", count: 8)
        for _ in 0..<40_000 { #expect(secrets.mask(text).hasSuffix("…")) }
        #expect(secrets.mask("whatever it was…") == "•••…", "nobody can tell any more")
    }

    /// Every spelling of every secret, and the beginning of each before every ellipsis: it takes milliseconds and no minutes.
    @Test func spellingsThatAreAlikeAreFoundInTime() {
        let words = (0..<32).map { String(repeating: "a\u{308}", count: 300 - $0) + "\"'&\($0)" }
        let secrets = Secrets(words)
        let text = String(repeating: "a\u{308}", count: 1700) + "…"
        for _ in 0..<4 { #expect(secrets.mask(String(repeating: text, count: 3)).contains("•••")) }
        #expect(Secrets(words).mask("«" + words[5].replacing("&", with: "&amp;") + "»") == "«•••»")
    }

    /// What was cut off is masked as far as it is a beginning, also where a longer beginning almost fits.
    @Test func theBeginningBeforeAnEllipsisIsTheLongest() {
        let secrets = Secrets(["aabaabaac", "abaabx"])
        for (text, masked) in [
            ("aabaabaa…", "•••…"), ("xaabaa…", "x•••…"), ("aabaabaaba…", "aab•••…"), ("xaab…", "x•••…"), ("aaba aa…", "aaba aa…"),
            ("xabaab…", "x•••…"), ("abaabx…", "•••…"), ("aabaabaac…", "•••…"),
        ] { #expect(secrets.mask(text) == masked, "\(text): \(secrets.mask(text))") }
    }
}
