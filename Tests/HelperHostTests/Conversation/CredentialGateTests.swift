import EventLoop
import Glibc
import HotspotCore
import Testing

@testable import HelperHost

/// A stored credential leaves for a process in a sandbox, and for no other.
@Suite(.serialized, .timeLimit(.minutes(10))) struct CredentialGateTests {
    init() { EventLoop.startThread() }

    nonisolated static let call: JSONValue = [
        "network": ["ssid": "Cafe", "security": "open"], "credential": ["pass": "opensesame"], "answers": ["room": "214"],
    ]

    nonisolated static let answer =
        "{'reply': {'result': 'success', 'reason': ' '.join(sorted(k for k in call['parameters'] if k != 'network'))}}"

    @LoopActor private func send(_ shop: Workshop, _ name: String) async -> String {
        let outcome = await shop.ask(name, .authenticate, Self.call)
        guard case .reply(let reply) = outcome else { return "\(outcome)" }
        return reply.reason ?? ""
    }

    @Test(arguments: ["stdio", "prepared", "socket"], [HostConfiguration.Containment.sandbox, .none])
    @LoopActor func onlyASandboxedProcessIsGivenOne(_ kind: String, _ containment: HostConfiguration.Containment) async {
        let shop = Workshop { $0.containment = containment }
        if kind == "socket" {
            shop.add("kept", socket: true, python: SocketServiceTests.server("answer(\(Self.answer), peer)"))
        } else {
            shop.add("kept", python: "call = receive(); answer(\(Self.answer))")
        }
        if kind == "prepared" { shop.host.prepare(["kept"]) }
        let isSandboxed = containment == .sandbox
        #expect(shop.host.mayHaveCredentials("kept") == isSandboxed)
        let reason = await send(shop, "kept")
        #expect((reason == "answers credential") == isSandboxed, "\(reason)")
        #expect(isSandboxed || reason.contains("without a sandbox"))
        #expect(shop.host.given["kept"]?.map(\.hasCredential) == (isSandboxed ? [true] : nil))
        await shop.close()
    }

    @Test @LoopActor func aCommandThatIsCancelledWhileItWaitsIsNeverSent() async {
        let shop = Workshop()
        shop.add("late", python: "call = receive(); answer(\(Self.answer))")
        let call = shop.host.send(.authenticate, to: "late", parameters: Self.call) { _ in Issue.record("answered") }
        call.cancel()
        #expect(await eventually { shop.host.processCount == 0 })
        #expect(shop.host.given["late"] == nil)
        await shop.close()
    }

    @Test func whatWasGivenIsShort() throws {
        func question(_ parameters: JSONValue) -> Question { Question(method: "", parameters: parameters, expectation: .value) }
        var given: [HelperGiven] = []
        for index in 0..<20 {
            let question = question(["network": ["ssid": .string("Cafe \(index % 12)"), "security": "open"]])
            given = HelperGiven.adding(try #require(HelperGiven(question)), to: given)
        }
        #expect(given.count == 8 && given.first?.networks == ["Cafe 7"])
        let wired = HelperGiven(
            question(["network": ["ssid": "", "security": "wired", "bssid": "02:00:00:00:00:01"], "credential": ["a": "b"]]))
        #expect(wired?.networks == ["wired:02:00:00:00:00:01"] && wired?.hasCredential == true)
        let many = JSONValue.array((0..<100).map { ["ssid": .string("N\($0)"), "security": "open"] })
        let list = HelperGiven(question(["networks": many]))
        #expect(list?.count == 100 && list?.networks.count == 16 && list?.isScanList == true)
        #expect(HelperGiven(question([:])) == nil)
    }
}

@Suite struct SecretsTests {
    @Test func everyLikelyFormIsMasked() {
        let secrets = Secrets(["open sesame\\1", "ab"])
        for text in ["open sesame\\1", "open%20sesame%5C1", "open+sesame%5C1", "open sesame\\\\1", "open sesame\\x5c1"] {
            #expect(secrets.mask("<\(text)> ab") == "<•••> ab", "\(text)")
        }
        #expect(secrets.mask("so open sesa…, or") == "so •••…, or", "one that was cut")
        #expect(secrets.mask("open…") == "•••…" && secrets.mask("op…") == "op…")
        #expect(Secrets(["abc", "abcdef"]).mask("abcdef abc") == "••• •••")
        #expect(Secrets([]).isEmpty && Secrets(["ab"]).isEmpty)
    }

    /// As the usual libraries write a text, with an accent in one character or in two.
    @Test(arguments: ["M\u{FC}ll&S\u{F6}hne:<9> \"x'\u{1F511}", "Mu\u{308}ll&So\u{308}hne:<9> \"x'\u{1F511}"])
    func everyLikelySpellingIsMasked(secret: String) {
        let secrets = Secrets([secret])
        let one = "M\u{FC}ll", two = "Mu\u{308}ll"
        for text in [
            one + "&S\u{F6}hne:<9> \"x'\u{1F511}", two + "&So\u{308}hne:<9> \"x'\u{1F511}",
            #"M\u00fcll&S\u00f6hne:<9> \"x'\ud83d\udd11"#, #"M\u00FCll&S\u00F6hne:<9> \"x'\uD83D\uDD11"#,
            #"Mu\u0308ll&So\u0308hne:<9> \"x'\ud83d\udd11"#,
            one + "&amp;S\u{F6}hne:&lt;9&gt; &quot;x&#x27;\u{1F511}", one + "&amp;S\u{F6}hne:&lt;9&gt; &quot;x&#39;\u{1F511}",
            two + "&amp;So\u{308}hne:&lt;9&gt; \"x'\u{1F511}", one + "&amp;S\u{F6}hne:&lt;9&gt; &quot;x'\u{1F511}",
            "M%c3%bcll%26S%c3%b6hne%3a%3c9%3e%20%22x%27%f0%9f%94%91", "M%C3%BCll%26S%C3%B6hne%3A%3C9%3E+%22x%27%F0%9F%94%91",
            "Mu%cc%88ll%26So%cc%88hne%3a%3c9%3e+%22x%27%f0%9f%94%91",
        ] {
            let masked = secrets.mask("<\(text)>")
            #expect(masked == "<•••>", "\(text): \(masked)")
        }
        #expect(secrets.mask("it was M%c3%bcll%26S…") == "it was •••…")
        #expect(Secrets(["e\u{301}"]).mask("caf\u{E9}") == "caf\u{E9}", "one letter is no secret")
        #expect(Secrets(["a\tb\u{7F}\u{1}"]).mask(#"«a\tb\u007f\u0001»"#) == "«•••»")
    }

    @Test func everythingThatPeopleReadIsMasked() {
        let secrets = Secrets(["opensesame"])
        let said = "it is opensesame"
        let field = Field(name: "opensesame", label: said, kind: .text, required: true, value: said)
        let outcomes: [HelperOutcome] = [
            .evaluation(Evaluation(.low, portal: Portal(origin: "https://p", kind: said, title: said), reason: said)),
            .reply(
                Reply(
                    .uiRequired, prompt: Prompt(title: said, message: said, terms: said),
                    portal: Portal(origin: "https://p", kind: said, title: said), reason: said, trace: [said])),
            .failed(HelperFault(.helperError, said, standardError: said)),
        ]
        for outcome in outcomes {
            let shown = "\(outcome.masked(secrets))"
            #expect(!shown.contains("opensesame") && shown.contains("•••"), "\(shown)")
        }
        // The name is the answer's key, and the value is the helper's to fill in.
        guard
            case .reply(let reply) = HelperOutcome.reply(Reply(.uiRequired, prompt: Prompt(title: "", fields: [field])))
                .masked(secrets)
        else { return }
        #expect(reply.prompt?.fields.first?.name == "opensesame" && reply.prompt?.fields.first?.label == "it is •••")
    }
}
