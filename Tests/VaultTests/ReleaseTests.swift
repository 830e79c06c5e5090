import HotspotCore
import Testing

@testable import Vault

@Suite struct ReleaseTests {
    static let network = NetworkID.wireless(SSID(octets: [65])!, .open)
    static let stored = CredentialOwner(network: network, helper: "form", origin: "https://p.example", pin: "cGlu")

    @Test func theSameOwnerGetsIt() {
        #expect(Release.decide(stored: Self.stored, asking: Self.stored, allowPlain: false) == .allowed)
    }

    @Test(arguments: [true, false]) func anyDifferenceRefuses(allowPlain: Bool) {
        func refusal(_ change: (inout CredentialOwner) -> Void) -> Release {
            var asking = Self.stored
            change(&asking)
            return Release.decide(stored: Self.stored, asking: asking, allowPlain: allowPlain)
        }
        #expect(refusal { $0.network = .wireless(SSID(octets: [65])!, .psk) } == .refused(.otherNetwork))
        #expect(refusal { $0.network = .anonymous } == .refused(.anonymousNetwork))
        #expect(refusal { $0.helper = "Form" } == .refused(.otherHelper))
        var bound = Self.stored
        bound.program = "/usr/bin/form"
        for program in [nil, "/usr/bin/form2"] as [String?] {
            var asking = bound
            asking.program = program
            #expect(Release.decide(stored: bound, asking: asking, allowPlain: allowPlain) == .refused(.otherProgram))
        }
        #expect(
            Release.decide(stored: Self.stored, asking: bound, allowPlain: allowPlain) == .allowed, "it was not written down yet")
        #expect(refusal { $0.origin = "https://p.example:8443" } == .refused(.portalChanged))
        #expect(refusal { $0.origin = "http://p.example" } == .refused(.portalChanged))
        #expect(refusal { $0.pin = "eA==" } == .refused(.keyChanged))
        #expect(refusal { $0.pin = nil } == .refused(.keyChanged))
    }

    @Test func anonymousNetworksMatchNothingNotEvenEachOther() {
        var owner = Self.stored
        owner.network = .anonymous
        #expect(Release.decide(stored: owner, asking: owner, allowPlain: true) == .refused(.anonymousNetwork))
    }

    @Test func plainHTTPNeedsTheUsersSetting() {
        var plain = Self.stored
        plain.origin = "http://p.example"
        plain.pin = nil
        #expect(Release.decide(stored: plain, asking: plain, allowPlain: false) == .refused(.plainHTTP))
        #expect(Release.decide(stored: plain, asking: plain, allowPlain: true) == .allowed)
        plain.pin = "cGlu"
        #expect(Release.decide(stored: plain, asking: plain, allowPlain: true) == .refused(.plainHTTP))
    }

    @Test func aPortalOverHTTPSWithoutAKeyIsNotRecognised() {
        for pin in [nil, ""] as [String?] {
            var owner = Self.stored
            owner.pin = pin
            #expect(Release.decide(stored: owner, asking: owner, allowPlain: true) == .refused(.keyChanged))
        }
        var odd = Self.stored
        odd.origin = "ftp://p.example"
        #expect(Release.decide(stored: odd, asking: odd, allowPlain: true) == .refused(.plainHTTP))
    }

    @Test func codesTicksAndWhatWasNotAskedAreNeverKept() {
        let fields = [
            Field(name: "room", label: "Room", kind: .text, required: true),
            Field(name: "sms", label: "Code", kind: .code, required: true),
            Field(name: "pass", label: "Password", kind: .password, required: true),
            Field(name: "ok", label: "Accept the terms", kind: .checkbox, required: true),
            // A name that stands twice is kept only if each of its fields may be.
            Field(name: "twice", label: "Text", kind: .text, required: false),
            Field(name: "twice", label: "Box", kind: .checkbox, required: false),
        ]
        let answers = ["room": "214", "sms": "1234", "pass": "p", "ok": "yes", "twice": "yes", "extra": "x"]
        #expect(Release.keepable(answers, fields: fields) == ["room": "214", "pass": "p"])
    }

    @Test(arguments: Release.Refusal.allCases) func everyRefusalHasASentence(refusal: Release.Refusal) {
        #expect(refusal.sentence.hasSuffix("."))
        #expect(Release.Refusal(rawValue: refusal.rawValue) == refusal)
    }
}
