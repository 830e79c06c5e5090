import Testing

@testable import HelperHost

@Suite(.timeLimit(.minutes(1))) struct SecretSearchTests {
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
        #expect(secrets.mask("«" + words[5] + "»") == "«•••»")
    }
}
