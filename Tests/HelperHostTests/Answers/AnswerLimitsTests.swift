import HotspotCore
import Testing

@testable import HelperHost

/// The limits of an answer, and the sentences for its author.
@Suite struct AnswerLimitsTests {
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
                "\"reply.reason\" has 3000 octets; the first 2048 are kept",
                "\"reply.portal.pin\" has 3000 octets; the first 128 are kept",
                "\"reply.portal.kind\" has 3000 octets; the first 64 are kept",
                "\"reply.portal.title\" has 3000 octets; the first 256 are kept",
                "\"reply.trace\" has 101 entries; the first 100 are kept, with at most 2048 octets each",
            ])
        #expect(AnswerLimits.losses(in: ["needs": .array(Array(repeating: "x", count: 65))]).count == 1)
    }

    @Test func anAmountThatIsNoLimitIsNamed() {
        let losses = AnswerLimits.losses(in: ["session": ["secondsRemaining": -5, "bytesRemaining": 2_000_000_000_000_000]])
        #expect(
            losses == [
                "\"session.secondsRemaining\" is -5, not from 0 to 315360000; hotspotd ignores it",
                "\"session.bytesRemaining\" is 2000000000000000, not from 0 to 1000000000000000; hotspotd ignores it",
            ])
        #expect(AnswerLimits.losses(in: ["session": ["secondsRemaining": 5]]) == [])
    }
}
