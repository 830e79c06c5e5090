import HotspotCore
import Testing

@testable import hotspotd

@Suite struct ShownPromptTests {
    private let prompt = Prompt(
        title: "Hotel",
        fields: [
            Field(name: "room", label: "Room", kind: .text, required: true),
            Field(name: "plan", label: "Plan", kind: .choice, required: false, choices: ["free", "fast"]),
            Field(name: "terms", label: "Terms", kind: .checkbox, required: true),
        ], termsURL: "https://portal.example/terms")

    private func fault(_ answers: [String: String]) -> String? { GivenAnswers.fault(in: answers, for: prompt)?.field }

    @Test func rightAnswersPass() {
        #expect(fault(["room": "214", "plan": "fast", "terms": "yes"]) == nil)
        #expect(fault(["room": "214", "terms": "true"]) == nil)
    }

    @Test(arguments: [
        (["terms": "yes"], "room"), (["room": "214"], "terms"), (["room": "214", "terms": "no"], "terms"),
        (["room": "214", "terms": "maybe"], "terms"), (["room": "214", "terms": "yes", "plan": "slow"], "plan"),
        (["room": "2\u{1B}[2J", "terms": "yes"], "room"), (["room": "214", "terms": "yes", "other": "x"], "other"),
        (["room": String(repeating: "x", count: 4097), "terms": "yes"], "room"),
    ]) func aWrongAnswerNamesItsField(_ answers: [String: String], _ field: String) {
        #expect(fault(answers) == field)
    }

    @Test func answersAreNeverPrinted() {
        let given = GivenAnswers(values: ["pin": "canary-1234"], remember: true, prompt: prompt, helper: "form")
        #expect(!"\(given)".contains("canary") && !String(reflecting: given).contains("canary"))
    }

    @Test func aPromptIsCutToWhatAPersonCanBeAsked() {
        let huge = Prompt(
            title: String(repeating: "a", count: 100_000), message: "line\nbreak\u{202E}",
            fields: (0..<1000).map { Field(name: "f\($0)", label: "\u{1B}[31mred", kind: .text, required: false) },
            termsURL: "javascript:alert(1)", terms: String(repeating: "t", count: 1 << 20))
        let cut = huge.limited
        #expect(cut.title.utf8.count < 300)
        #expect(cut.message?.contains("\n") == false && cut.message?.contains("\u{202E}") == false)
        #expect(cut.fields.count == 32 && cut.fields.allSatisfy { !$0.label.contains("\u{1B}") })
        #expect(cut.termsURL == nil)
        #expect(cut.terms!.count == 64 * 1024)
    }
}

@Suite struct ProbeAnswerTests {
    private func answer(_ url: String?) -> ProbeAnswer { ProbeAnswer(verdict: .captive, portalURL: url, evidence: []) }

    @Test func onlyThePortalsOriginIsShown() {
        #expect(answer("https://portal.example:8443/login?room=214").origin == "https://portal.example:8443")
        #expect(answer("http://10.0.0.1").origin == "http://10.0.0.1")
        #expect(answer("nonsense").origin == nil)
        #expect(answer(nil).origin == nil)
    }

    @Test func aTraceLineHasNoQuery() {
        let evidence = ProbeAnswer.Evidence(request: "GET http://x/a?secret=1", status: 302, error: nil, milliseconds: 4)
        #expect(evidence.line == "GET http://x/a → 302 in 4 ms")
    }
}

@Suite struct ArgumentsTests {
    @Test func whatCanBeSaid() throws {
        #expect(try Arguments(["--settings", "/a"]).settings == "/a")
        #expect(try Arguments(["--settings=/b", "--check-settings"]).onlyChecks)
        #expect(throws: DaemonError.self) { try Arguments(["--setings", "/a"]) }
        #expect(throws: DaemonError.self) { try Arguments(["--settings"]) }
    }

    @Test func theProberIsSpelledAsItsHelpersSpellIt() {
        let helper = HelperSpec(name: "form", activation: .socket(exec: ["/proc/self/exe"]))
        let other = HelperSpec(name: "other", activation: .socket(exec: ["/proc/self/exe", "--flag"]))
        let real = Prober.spelled(["/proc/self/exe"], as: [])
        #expect(real == ["/proc/self/exe"])
        #expect(Prober.spelled(["/proc/thread-self/exe"], as: [other, helper]) == ["/proc/self/exe"])
        #expect(Prober.spelled(["/bin/sh"], as: [other, helper]) == ["/bin/sh"])
    }
}
