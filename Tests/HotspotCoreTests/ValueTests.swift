import FoundationEssentials
import HotspotCore
import Testing

@Suite struct InstantTests {
    @Test func sumsSaturate() {
        let late = Instant(nanoseconds: .max)
        #expect(late + .seconds(1) == late && Instant(nanoseconds: 0) + .seconds(Int64.max) == late)
        #expect(Instant(nanoseconds: 5) + .nanoseconds(3) == Instant(nanoseconds: 8))
        #expect(Instant(nanoseconds: 5) + .nanoseconds(-3) < Instant(nanoseconds: 5))
        #expect(Instant(nanoseconds: -5) + .seconds(Int64.min) == Instant(nanoseconds: .min), "into the past as well")
    }

    @Test func differences() {
        #expect(Instant(nanoseconds: 8) - Instant(nanoseconds: 5) == .nanoseconds(3))
        #expect(Instant(nanoseconds: .max) - Instant(nanoseconds: .min) > .seconds(9_000_000_000))
        #expect(Instant(nanoseconds: .min) - Instant(nanoseconds: .max) < .seconds(-9_000_000_000))
    }

    @Test func durations() {
        #expect(Duration.seconds(45).nanoseconds == 45_000_000_000 && Duration.milliseconds(1500).milliseconds == 1500)
        #expect(Duration.seconds(Int64.max).nanoseconds == .max && Duration.seconds(Int64.min).nanoseconds == .min)
        #expect(Duration.milliseconds(-1).nanoseconds == -1_000_000 && Duration.milliseconds(250).inSeconds == 0.25)
    }
}

@Suite struct JSONValueTests {
    func round(_ value: JSONValue) throws -> JSONValue {
        try JSONDecoder().decode(JSONValue.self, from: JSONEncoder().encode(value))
    }

    @Test func everyKindGoesThereAndBack() throws {
        let value: JSONValue = [
            "null": nil, "true": true, "false": false, "zero": 0, "one": 1, "least": .integer(.min), "most": .integer(.max),
            "half": .number(0.5), "text": "é\"\\\n\u{1F6EB}", "empty": "", "list": [1, "two", [3], [:], []],
            "nested": ["a": ["b": ["c": nil]]],
        ]
        #expect(try round(value) == value)
    }

    @Test func numbersKeepTheirKind() throws {
        #expect(try round(.integer(1)) == .integer(1) && round(.bool(true)) == .bool(true))
        #expect(
            JSONValue.number(3).integer == 3 && JSONValue.number(3.5).integer == nil && JSONValue.number(1e300).integer == nil)
        #expect(JSONValue.integer(3).integer == 3 && JSONValue.bool(true).integer == nil && JSONValue.string("3").integer == nil)
    }

    @Test func membersOfOtherKindsAreNil() {
        let value: JSONValue = ["a": ["b": [1, 2]]]
        #expect(value["a"]?["b"]?.array == [1, 2] && value["a"]?["c"] == nil && value["a"]?["b"]?["c"] == nil)
        #expect(JSONValue.null["a"] == nil && JSONValue.string("x").bool == nil && JSONValue.bool(true).string == nil)
        #expect(JSONValue.null.array == nil && JSONValue.null.object == nil)
    }

    @Test func equalKeysOfALiteralKeepTheLast() {
        #expect(["a": 1, "a": 2] as JSONValue == ["a": 2])
    }
}

/// Every enum that is printed or stored, with its words. A changed word breaks other programs and old databases.
@Suite struct NameTableTests {
    func table<Word: RawRepresentable & CaseIterable & Hashable>(_ type: Word.Type, _ words: String)
    where Word.RawValue == String {
        #expect(Word.allCases.map(\.rawValue) == words.split(separator: " ").map(String.init))
        for word in Word.allCases { #expect(Word(rawValue: word.rawValue) == word) }
        #expect(Word(rawValue: "") == nil && Word(rawValue: "nonsense") == nil)
    }

    @Test func words() {
        table(
            HelperResult.self,
            "success failure uiRequired commandNotRecognized authenticationRequired unsupportedNetwork temporaryFailure")
        table(Confidence.self, "none low high")
        table(Verdict.self, "online partial captive limited")
        table(Security.self, "open owe wep psk sae enterprise wired unknown")
        table(StateName.self, "inactive evaluating authenticating presentingUI authenticated maintaining loggingOff failure")
        table(Field.Kind.self, "text password email phone code checkbox choice")
    }

    @Test("Apple's numbers") func apple() {
        #expect(
            Command.allCases.map(\.rawValue) == [1, 2, 3, 4, 5, 6]
                && HelperResult.allCases.map(\.appleValue) == [0, 1, 2, 3, 4, 5, 6])
        #expect(Confidence.allCases.map(\.appleValue) == [0, 1, 2] && Confidence.none < .low && Confidence.low < .high)
    }

    @Test func commands() {
        #expect(
            Command.allCases.map(\.description) == [
                "filterScanList", "evaluate", "authenticate", "presentUI", "maintain", "logoff",
            ])
        for command in Command.allCases { #expect(Command(command.description) == command) }
        #expect(Command("none") == nil && Command("Evaluate") == nil)
        #expect(
            Command.presentUI.method == "org.hotspotd.Helper.PresentUI"
                && Command.filterScanList.method == "org.hotspotd.Helper.FilterScanList")
    }

    @Test func meanings() {
        #expect(Verdict.allCases.filter(\.isOpen) == [.online, .partial])
        #expect(
            Security.allCases.filter(\.isSecured) == [.wep, .psk, .sae, .enterprise, .unknown],
            "what cannot be read is never open")
        #expect(Field.Kind.allCases.filter(\.isSecret) == [.password, .code])
    }

    @Test func contractTypesKeepTheirFields() throws {
        let reply = Reply(
            .uiRequired, prompt: Prompt(title: "Room", fields: [Field(name: "room", label: "Room", kind: .text, required: true)]),
            portal: Portal(origin: "https://p.example", pin: "x", kind: "form"),
            session: Session(secondsRemaining: 5, memory: ["a": [1]]),
            reason: "r", trace: ["GET /"])
        #expect(try JSONDecoder().decode(Reply.self, from: JSONEncoder().encode(reply)) == reply)
        let network = Network(ssid: SSID(octets: [0xFF, 0x41])!, interface: "wlan0", signalStrength: 0.5, security: .open)
        #expect(network.ssid == "\\xffA" && network.ssidHex == "ff41")
        #expect(try JSONDecoder().decode(Network.self, from: JSONEncoder().encode(network)) == network)
        // An absent optional is left out instead of null, because other languages look for the key.
        #expect(!String(decoding: try JSONEncoder().encode(Reply(.success)), as: UTF8.self).contains("null"))
    }

    @Test(
        arguments: [
            ("hotspotctl forget SSID", "Cafe Aroma", "hotspotctl forget 'Cafe Aroma'"), ("hotspotctl forget SSID", nil, nil),
            ("hotspotctl login", "Cafe", "hotspotctl login"),
        ] as [(String, String?, String?)]) func aHintNamesTheNetwork(_ hint: String, _ network: String?, _ shown: String?)
    {
        #expect(Problem(.held, "It is held.", hint: hint).naming(network) == Problem(.held, "It is held.", hint: shown))
    }
}
