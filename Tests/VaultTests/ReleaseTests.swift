import HotspotCore
import Testing

@testable import Vault

@Suite struct ReleaseTests {
    static let network = NetworkID.wireless(SSID(octets: [65])!, .open)
    static let stored = CredentialOwner(network: network, helper: "form", origin: "https://p.example", pin: "cGlu")

    @Test func theSameOwnerGetsIt() {
        #expect(Release.decide(stored: Self.stored, asking: Self.stored, plain: .never) == .automatic)
    }

    @Test(arguments: PlainHTTPAnswers.allCases) func anyDifferenceRefuses(plain: PlainHTTPAnswers) {
        func refusal(_ change: (inout CredentialOwner) -> Void) -> Release {
            var asking = Self.stored
            change(&asking)
            return Release.decide(stored: Self.stored, asking: asking, plain: plain)
        }
        #expect(refusal { $0.network = .wireless(SSID(octets: [65])!, .psk) } == .refused(.otherNetwork))
        #expect(refusal { $0.network = .anonymous } == .refused(.anonymousNetwork))
        #expect(refusal { $0.helper = "Form" } == .refused(.otherHelper))
        var bound = Self.stored
        bound.program = "/usr/bin/form"
        for program in [nil, "/usr/bin/form2"] as [String?] {
            var asking = bound
            asking.program = program
            #expect(Release.decide(stored: bound, asking: asking, plain: plain) == .refused(.otherProgram))
        }
        #expect(
            Release.decide(stored: Self.stored, asking: bound, plain: plain) == .automatic, "it was not written down yet")
        #expect(refusal { $0.origin = "https://p.example:8443" } == .refused(.portalChanged))
        #expect(refusal { $0.origin = "http://p.example" } == .refused(.portalChanged))
        #expect(refusal { $0.pin = "eA==" } == .refused(.keyChanged))
        #expect(refusal { $0.pin = nil } == .refused(.keyChanged))
    }

    @Test func anonymousNetworksMatchNothingNotEvenEachOther() {
        var owner = Self.stored
        owner.network = .anonymous
        #expect(Release.decide(stored: owner, asking: owner, plain: .automatic) == .refused(.anonymousNetwork))
    }

    @Test(arguments: [
        (PlainHTTPAnswers.confirm, Release.confirmed), (.automatic, .automatic), (.never, .refused(.plainHTTP)),
    ]) func plainHTTPIsAsTheUserSetIt(plain: PlainHTTPAnswers, release: Release) {
        var owner = Self.stored
        (owner.origin, owner.pin) = ("http://p.example", nil)
        #expect(Release.decide(stored: owner, asking: owner, plain: plain) == release)
        owner.pin = "cGlu"
        #expect(Release.decide(stored: owner, asking: owner, plain: plain) == .refused(.plainHTTP))
    }

    @Test func aPortalThatAnswersAreNotStoredForIsNoticed() {
        func mismatch(_ origin: String, _ pin: String?, _ stored: [CredentialOwner] = [Self.stored]) -> Release.Refusal? {
            Release.mismatch(origin: origin, pin: pin, stored: stored)
        }
        #expect(mismatch("https://p.example", "cGlu") == nil)
        #expect(mismatch("https://p.example", "eA==") == .keyChanged)
        #expect(mismatch("https://p.example", nil) == .keyChanged)
        #expect(mismatch("http://p.example", nil) == .portalChanged)
        #expect(mismatch("https://q.example", "cGlu") == .portalChanged)
        #expect(mismatch("https://q.example", "cGlu", []) == nil, "nothing is stored")
        var second = Self.stored
        second.origin = "https://q.example"
        #expect(mismatch("https://q.example", "cGlu", [Self.stored, second]) == nil, "the user said yes to both")
    }

    @Test func aPortalOverHTTPSWithoutAKeyIsNotRecognised() {
        for pin in [nil, ""] as [String?] {
            var owner = Self.stored
            owner.pin = pin
            #expect(Release.decide(stored: owner, asking: owner, plain: .automatic) == .refused(.keyChanged))
        }
        var odd = Self.stored
        odd.origin = "ftp://p.example"
        #expect(Release.decide(stored: odd, asking: odd, plain: .automatic) == .refused(.plainHTTP))
    }

    @Test func codesTicksAndWhatWasNotAskedAreNeverKept() {
        let fields = [
            Field(name: "room", label: "Room", kind: .text, required: true),
            Field(name: "empty", label: "Company", kind: .text, required: false),
            Field(name: "sms", label: "Code", kind: .code, required: true),
            Field(name: "pass", label: "Password", kind: .password, required: true),
            Field(name: "ok", label: "Accept the terms", kind: .checkbox, required: true),
            // A name of two fields is kept only if each of the fields may be kept.
            Field(name: "twice", label: "Text", kind: .text, required: false),
            Field(name: "twice", label: "Box", kind: .checkbox, required: false),
        ]
        let answers = ["room": "214", "empty": "", "sms": "1234", "pass": "p", "ok": "yes", "twice": "yes", "extra": "x"]
        #expect(Release.keepable(answers, fields: fields) == ["room": "214", "pass": "p"])
    }

    @Test(arguments: Release.Refusal.allCases) func everyRefusalHasASentence(refusal: Release.Refusal) {
        #expect(refusal.sentence.hasSuffix("."))
        #expect(Release.Refusal(rawValue: refusal.rawValue) == refusal)
    }
}
