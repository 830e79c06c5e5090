import HotspotCore
import Testing

@testable import HelperHost

/// How much of an answer is kept and shown, and what its author is told.
@Suite struct AnswerLimitsTests {
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
        #expect(prompt.losses == [] && prompt.limited == prompt && prompt.fits)
    }

    @Test func eachLossOfAPromptIsNamed() {
        let long = String(repeating: "x", count: 2000)
        let field = Field(name: long, label: long, kind: .choice, required: true, choices: ["a", long], value: long)
        let losses = Prompt(
            title: long, message: long, fields: Array(repeating: field, count: 33), termsURL: "javascript:x",
            terms: String(repeating: "y", count: 40_000)
        ).losses
        // Four texts and an address, the number of fields, and four for each of those that are asked.
        #expect(losses.count == 5 + 32 * 4)
        #expect(losses.first == "the title has 2000 octets; 200 are shown")
        #expect(losses.contains("it has 33 fields; the first 32 are asked"))
        #expect(losses.allSatisfy { $0.utf8.count < 300 })
    }

    @Test func eachLossOfAnAnswerIsNamed() {
        #expect(AnswerLimits.losses(in: ["reply": ["result": "success", "reason": "well", "trace": ["a"]]]) == [])
        let long = JSONValue.string(String(repeating: "x", count: 3000))
        let reply: JSONValue = [
            "reply": [
                "reason": long, "portal": ["kind": long, "title": long, "pin": long],
                "trace": .array(Array(repeating: long, count: 101)),
            ]
        ]
        #expect(
            AnswerLimits.losses(in: reply) == [
                "\"reply.reason\" has 3000 octets; 2048 are kept", "\"reply.portal.pin\" has 3000 octets; 128 are kept",
                "\"reply.portal.kind\" has 3000 octets; 64 are kept", "\"reply.portal.title\" has 3000 octets; 256 are kept",
                "\"reply.trace\" has 101 entries; the first 100 are kept",
                "\"reply.trace\" has 101 entries of more than 2048 octets, which are cut",
            ])
        #expect(AnswerLimits.losses(in: ["needs": .array(Array(repeating: "x", count: 65))]).count == 1)
    }

    @Test func anAmountThatIsNoLimitIsNamed() {
        let losses = AnswerLimits.losses(in: ["session": ["secondsRemaining": -5, "bytesRemaining": 2_000_000_000_000_000]])
        #expect(
            losses == [
                "\"session.secondsRemaining\" is -5, not from 0 to 315360000; no limit is known then",
                "\"session.bytesRemaining\" is 2000000000000000, not from 0 to 1000000000000000; no limit is known then",
            ])
        #expect(AnswerLimits.losses(in: ["session": ["secondsRemaining": 5]]) == [])
    }
}
