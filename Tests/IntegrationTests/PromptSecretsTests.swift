import Foundation
import HotspotCore
import Testing

/// A prompt that repeats its helper's secrets, at the built daemon.
@Suite(
    .timeLimit(.minutes(10)),
    .enabled(
        if: Machine.runs(CabledDaemon.canRun && geteuid() == 0), "needs make build, root, ip, nsenter and a network namespace"))
struct PromptSecretsTests {
    private static let canary = "canary-4711"

    private static func asks(_ field: JSONValue, title: String = "Which room?") -> JSONValue {
        ["result": "uiRequired", "prompt": ["title": .string(title), "fields": [field]]]
    }

    private static func field(_ name: String, choices: [String]? = nil) -> JSONValue {
        var field: [String: JSONValue] = [
            "name": .string(name), "label": .string("For \(canary)"), "kind": "text", "required": false,
        ]
        if let choices { field["choices"] = .array(choices.map(JSONValue.string)) }
        return .object(field)
    }

    private func answer(_ daemon: CabledDaemon) throws -> String {
        var id = ""
        try daemon.eventually("there is a prompt") {
            id = try daemon.prompts().first?["id"]?.string ?? ""
            return !id.isEmpty
        }
        try daemon.call("Answer", ["id": .string(id), "answers": ["room": .string(Self.canary)], "remember": false])
        return id
    }

    @Test(
        "A name or choice that repeats the answer is refused; nobody reads it",
        arguments: [field("x-" + canary), field("room", choices: ["a", canary])])
    func repeats(echo: JSONValue) throws {
        let daemon = try CabledDaemon(
            settings: "[Commands]\nTimeoutSec=120",
            plan: ["Authenticate": RulesProcessTests.asks, "PresentUI": Self.asks(echo)])
        try daemon.plug("hot1", 1)
        let first = try answer(daemon)
        try daemon.eventually("it is reported") { try daemon.problems().contains("helperRepeatsSecret") }
        let prompts = try daemon.call("Prompts")
        #expect(prompts["prompts"]?.array?.first.map { $0["id"]?.string != first && $0["title"] == "Which room?" } ?? true)
        for method in ["Status", "Prompts", "Explain", "Helpers", "History"] {
            #expect(!"\(try daemon.call(method))".contains(Self.canary), "\(method)")
        }
    }

    @Test("The same question may be asked again, with its texts masked") func asksAgain() throws {
        let daemon = try CabledDaemon(
            settings: "[Commands]\nTimeoutSec=120",
            plan: [
                "Authenticate": RulesProcessTests.asks, "PresentUI": Self.asks(Self.field("room"), title: "Not \(Self.canary)!"),
            ])
        try daemon.plug("hot1", 1)
        let first = try answer(daemon)
        try daemon.eventually("the next question is asked") {
            try daemon.prompts().contains { $0["id"]?.string != first && $0["title"] == "Not •••!" }
        }
        #expect(try daemon.prompts().first?["fields"]?.array?.first?["label"] == "For •••")
    }
}
