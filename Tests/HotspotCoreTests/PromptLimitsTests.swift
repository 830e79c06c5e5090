import HotspotCore
import Testing

/// The limits of a prompt, and the sentences for its author.
@Suite struct PromptLimitsTests {
    @Test(arguments: [
        ("https://p.example/terms", true), ("http://p.example:8080/?a=b@c", true), ("https://bank.example@evil.example/", false),
        ("https://bank.example\\@evil.example/", false), ("https://x:y@evil.example", false), ("javascript:x", false),
    ]) func anAddressNamesItsHostAlone(_ url: String, _ isGood: Bool) {
        #expect((Prompt(title: "", fields: [], termsURL: url).limited.termsURL == url) == isGood)
    }

    @Test func aPromptWithinTheLimitsLosesNothing() {
        let prompt = Prompt(
            title: String(repeating: "t", count: 200), message: String(repeating: "m", count: 1000),
            fields: (0..<32).map { number in
                Field(
                    name: "\(number)" + String(repeating: "n", count: 200), label: "L", kind: .choice, required: true,
                    choices: ["a", String(repeating: "c", count: 256)], value: "a")
            }, termsURL: "https://p.example/terms", terms: String(repeating: "x", count: 32 * 1024))
        #expect(prompt.losses == [] && prompt.limited == prompt)
    }

    @Test func eachLossOfAPromptIsNamed() {
        let long = String(repeating: "x", count: 2000)
        let field = Field(name: long, label: long, kind: .choice, required: true, choices: ["a", long], value: long)
        let losses = Prompt(
            title: long, message: long, fields: Array(repeating: field, count: 33), termsURL: "javascript:x",
            terms: String(repeating: "y", count: 40_000)
        ).losses
        // Three texts, an address and the number of fields, and four losses for each of the 32 fields that are shown.
        #expect(losses.count == 5 + 32 * 4)
        #expect(losses.first == "the title has 2000 octets; 200 are shown")
        #expect(losses.contains("it has 33 fields; only the first 32 are shown"))
        #expect(losses.allSatisfy { $0.utf8.count < 300 })
    }
}
