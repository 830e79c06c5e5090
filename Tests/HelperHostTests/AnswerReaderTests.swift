import HotspotCore
import Testing
import Varlink

@testable import HelperHost

@Suite struct AnswerReaderTests {
    private func session(_ session: JSONValue) -> Session? {
        let message: JSONValue = ["parameters": ["reply": ["result": "success", "session": session]]]
        guard case .reply(let reply) = AnswerReader.outcome(of: Coding.encode(message), expecting: .reply) else { return nil }
        return reply.session
    }

    private func fault(origin: String) -> HelperFault? {
        let message: JSONValue = [
            "parameters": ["reply": ["result": "success", "portal": ["origin": .string(origin), "kind": "x"]]]
        ]
        return AnswerReader.outcome(of: Coding.encode(message), expecting: .reply).fault
    }

    @Test func whatIsNoOriginIsTheHelpersFault() {
        #expect(fault(origin: "https://portal.example:8443") == nil)
        for origin in [
            "https://x  ● wlan1  authenticated", "javascript:alert(1)", "https://x/login", "https://b\u{FC}cher.example",
        ] {
            #expect(
                fault(origin: origin)
                    == HelperFault(
                        .helperMalformed,
                        "«reply.portal.origin» is no origin: http or https as scheme://host[:port] and nothing more"))
        }
    }

    @Test func whatNobodyCouldUseUpIsNoLimit() {
        let most = session(["secondsRemaining": 315_360_000, "bytesRemaining": 1_000_000_000_000_000])
        #expect(most?.secondsRemaining == 315_360_000 && most?.bytesRemaining == 1_000_000_000_000_000)
        let least = session(["secondsRemaining": 0, "bytesRemaining": 0])
        #expect(least?.secondsRemaining == 0 && least?.bytesRemaining == 0)
        for (seconds, octets) in [(315_360_001, 1_000_000_000_000_001), (-1, -1), (1 << 62, 1 << 62), (-1 << 62, -1 << 62)] {
            let absurd = session([
                "secondsRemaining": .number(Double(seconds)), "bytesRemaining": .number(Double(octets)), "canExtend": true,
            ])
            #expect(absurd == Session(canExtend: true))
        }
    }

    @Test func whatIsNoLimitIsSaidToTheAuthor() {
        let said = AnswerLimits.losses(in: ["session": ["secondsRemaining": -5, "bytesRemaining": 2_000_000_000_000_000]])
        #expect(
            said == [
                "«session.secondsRemaining» is -5, not from 0 to 315360000; no limit is known then",
                "«session.bytesRemaining» is 2000000000000000, not from 0 to 1000000000000000; no limit is known then",
            ])
        #expect(AnswerLimits.losses(in: ["session": ["secondsRemaining": 5]]) == [])
    }
}
