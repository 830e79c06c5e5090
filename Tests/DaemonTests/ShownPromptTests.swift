import Answers
import ForeignText
import HelperHost
import HotspotCore
import Testing
import Varlink

@testable import hotspotd

@Suite struct ShownPromptTests {
    private let prompt = Prompt(
        title: "Hotel",
        fields: [
            Field(name: "room", label: "Room", kind: .text, required: true),
            Field(name: "plan", label: "Plan", kind: .choice, required: false, choices: ["free", "fast"]),
            Field(name: "terms", label: "Terms", kind: .checkbox, required: true),
        ], termsURL: "https://portal.example/terms")

    private func fault(_ answers: [String: String]) -> String? { Answer.fault(in: answers, for: prompt)?.field }

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

    @Test func noControlCharacterPassesAndNoSentenceRepeatsIt() {
        for code in Array(0..<0x20) + Array(0x7f..<0xa0) as [UInt32] {
            let answer = "21\(Unicode.Scalar(code)!)4"
            let fault = Answer.fault(in: ["room": answer, "terms": "yes"], for: prompt)
            #expect(fault?.field == "room" && fault?.message == "An answer must not contain control characters.", "\(code)")
            #expect(Answer.fault(in: answer) != nil)
        }
    }

    @Test func aPromptIsCutToWhatAPersonCanBeAsked() {
        let huge = Prompt(
            title: String(repeating: "a", count: 100_000), message: "line\nbreak\u{202E}",
            fields: (0..<1000).map { Field(name: "f\($0)", label: "\u{1B}[31mred", kind: .text, required: false) },
            termsURL: "javascript:alert(1)", terms: String(repeating: "t", count: 1 << 20))
        let cut = huge.limited
        #expect(cut.title.utf8.count < 300)
        #expect(cut.message == "line\nbreak\u{202E}" && cut.fields[0].label == "\u{1B}[31mred", "the terminal escapes it")
        #expect(cut.fields.count == 32 && cut.termsURL == nil)
        #expect(cut.terms!.utf8.count == 32 * 1024 + 3 && cut.terms!.hasSuffix("…"))
        #expect(Prompt(title: "", termsURL: "https://p.example/\u{202E}x").limited.termsURL == nil)
    }

    private func presented(
        _ prompt: Prompt, secrets: [String] = [], known: KnownWords = KnownWords()
    ) -> HelperOutcome {
        HelperOutcome.reply(Reply(.uiRequired, prompt: prompt)).presentable(without: Secrets(secrets), known: known, of: "form")
    }

    private func fault(_ outcome: HelperOutcome) -> HelperFault? { if case .failed(let fault) = outcome { fault } else { nil } }

    @Test("A prompt within all limits that is too long for a client is its helper's fault") func tooLong() {
        let choices = (0..<256).map { "\($0)" + String(repeating: "x", count: 252) }
        var prompt = Prompt(
            title: "Hotel", fields: [Field(name: "a", label: "A", kind: .choice, required: true, choices: choices)])
        let tooLong = fault(presented(prompt))
        #expect(tooLong?.code == .helperTooLong)
        #expect(tooLong?.sentence == "form: \"reply.prompt\" is longer than 64 KiB, too long to be shown")
        prompt.fields[0].choices = Array(choices.prefix(200))
        #expect(fault(presented(prompt)) == nil)
        // Escapes count with the length that is sent, and masks with the length that is shown.
        #expect(fault(presented(Prompt(title: "", terms: String(repeating: "\u{1}", count: 20_000))))?.code == .helperTooLong)
        let repeated = Prompt(title: "", terms: String(repeating: "abc", count: 10_000))
        #expect(fault(presented(repeated)) == nil && fault(presented(repeated, secrets: ["abc"]))?.code == .helperTooLong)
    }

    @Test func aPromptThatRepeatsAnAnswerWhereItCannotBeMaskedIsItsHelpersFault() {
        let prompt = Prompt(title: "canary-1", fields: [Field(name: "canary-1", label: "", kind: .text, required: false)])
        let telling = KnownWords(parameters: ["answers": ["room": "canary-1"]])
        let echo = fault(presented(prompt, secrets: ["canary-1"], known: telling))
        #expect(echo?.code == .helperRepeatsSecret && echo?.problem.hint == "hotspotctl forget SSID")
        #expect(echo?.sentence.hasPrefix("form: \"reply.prompt.fields.0.name\" repeats") == true)
        #expect(!"\(String(reflecting: echo))".contains("canary"))
        let known = KnownWords(asked: prompt.fields, parameters: ["answers": ["canary-1": "canary-1"]])
        guard case .reply(let again) = presented(prompt, secrets: ["canary-1"], known: known) else {
            Issue.record("the same question may be asked again")
            return
        }
        #expect(again.prompt?.title == "•••" && again.prompt?.fields == prompt.fields)
    }

    @Test func theLargestPromptIsNoLargerThanAClientCanBeSentManyOf() {
        let fields = (0..<40).map {
            Field(
                name: String(repeating: "\u{7}", count: $0), label: String(repeating: "京", count: 1000), kind: .choice,
                required: true, choices: (0..<400).map { String(repeating: "\u{1F}", count: $0) },
                value: String(repeating: "v", count: 999))
        }
        // Every accepted prompt is within the budget; most of these prompts are refused.
        var passed = 0
        for count in 0...fields.count {
            let prompt = Prompt(
                title: String(repeating: "t", count: 10_000), message: String(repeating: "\n", count: 10_000),
                fields: Array(fields.prefix(count)), terms: String(repeating: "京", count: 1000 * count))
            guard case .reply(let reply) = presented(prompt, secrets: ["京"]) else { continue }
            passed += 1
            #expect(Coding.encode(reply.prompt!).count <= 64 * 1024)
        }
        #expect(passed > 0 && passed < fields.count)
    }
}

@Suite struct ProbeAnswerTests {
    private func answer(_ url: String?) -> ProbeAnswer { ProbeAnswer(verdict: .captive, portalURL: url, evidence: []) }

    /// Two places are two portals. A number that a gateway invents, and the server in whose place it answers, make no difference.
    @Test(arguments: [
        ("http://h.test/login?mac=1", "http://h.test/login"), ("http://h.test", "http://h.test/"),
        ("https://h.test:8443/guest/s/20261128/;jsessionid=1", "https://h.test:8443/guest/s/#"),
        ("http://h.test/step2", "http://h.test/step2"), ("http://check.test/generate_204?r=1x", "here"),
    ]) func aPlaceIsThePortalsPage(_ url: String, _ place: String) {
        var answer = answer(url)
        answer.evidence = [
            ProbeEvidence(request: "GET http://check.test/generate_204", status: 200, error: nil, milliseconds: 4)
        ]
        #expect(answer.place == place)
        answer.verdict = .online
        #expect(answer.place == nil)
    }

    @Test func onlyThePortalsOriginIsShown() {
        #expect(answer("https://portal.example:8443/login?room=214").origin == "https://portal.example:8443")
        #expect(answer("http://10.0.0.1").origin == "http://10.0.0.1")
        #expect(answer("nonsense").origin == nil)
        for forged in ["https://x   * wlan1  authenticated", "https://user:word@portal.example/", "ftp://portal.example/"] {
            #expect(answer(forged).origin == nil)
        }
        #expect(answer(nil).origin == nil)
    }

    @Test func aTraceLineHasNoQuery() {
        let evidence = ProbeEvidence(request: "GET http://x/a?secret=1", status: 302, error: nil, milliseconds: 4)
        #expect(evidence.line == "GET http://x/a → 302 in 4 ms")
    }
}

@Suite struct ArgumentsTests {
    @Test func theCommandLineIsRead() throws {
        #expect(try DaemonArguments(["--settings", "/a"]).settings == "/a")
        #expect(try DaemonArguments(["--settings=/b", "--check-settings"]).onlyChecks)
        #expect(throws: DaemonError.self) { try DaemonArguments(["--setings", "/a"]) }
        #expect(throws: DaemonError.self) { try DaemonArguments(["--settings"]) }
    }

    @Test func theProberIsSpelledAsItsHelpersSpellIt() {
        let helper = HelperSpec(name: "form", activation: .socket(exec: ["/proc/self/exe"]))
        let other = HelperSpec(name: "other", activation: .socket(exec: ["/proc/self/exe", "--flag"]))
        let real = ProberProgram.spelled(["/proc/self/exe"], as: [])
        #expect(real == ["/proc/self/exe"])
        #expect(ProberProgram.spelled(["/proc/thread-self/exe"], as: [other, helper]) == ["/proc/self/exe"])
        #expect(ProberProgram.spelled(["/bin/sh"], as: [other, helper]) == ["/bin/sh"])
    }
}
