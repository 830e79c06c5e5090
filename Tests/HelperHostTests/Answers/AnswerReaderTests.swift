import HotspotCore
import Testing
import Varlink

@testable import HelperHost

@Suite struct AnswerReaderTests {
    private func session(_ session: JSONValue) -> Session? {
        let message: JSONValue = ["parameters": ["reply": ["result": "success", "session": session]]]
        guard case .reply(let reply) = AnswerReader.outcome(of: Coding.encode(message), to: .authenticate) else { return nil }
        return reply.session
    }

    private func fault(origin: String) -> HelperFault? {
        let message: JSONValue = [
            "parameters": ["reply": ["result": "success", "portal": ["origin": .string(origin), "kind": "x"]]]
        ]
        return AnswerReader.outcome(of: Coding.encode(message), to: .authenticate).fault
    }

    @Test func anInvalidOriginIsRefused() {
        #expect(fault(origin: "https://portal.example:8443") == nil)
        for origin in [
            "https://x  ● wlan1  authenticated", "javascript:alert(1)", "https://x/login", "https://b\u{FC}cher.example",
        ] {
            #expect(
                fault(origin: origin)
                    == HelperFault(
                        .helperMalformed,
                        "\"reply.portal.origin\" is not an origin: scheme://host[:port], with http or https"))
        }
    }

    @Test func anAbsurdAmountIsNoLimit() {
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

    private func fault(_ text: String, _ command: Command? = .evaluate) -> HelperFault? {
        AnswerReader.outcome(of: Array(text.utf8), to: command).fault
    }

    @Test(
        "Faults name the field",
        arguments: [
            ("hello", "JSON"), ("", "JSON"), ("{", "JSON"), ("[]", "wrong type"), ("{}", "confidence"),
            (#"{"parameters":[]}"#, "wrong type"), (#"{"parameters":{"confidence":null}}"#, "confidence"),
            (#"{"parameters":{"confidence":3}}"#, "confidence"),
            (#"{"parameters":{"confidence":"low","needs":"user"}}"#, "needs"),
            (#"{"parameters":{"confidence":"low","needs":["a",1]}}"#, "needs."),
            (#"{"parameters":{"confidence":"low","portal":{"origin":"https://x"}}}"#, "portal.kind"),
            (#"{"parameters":{"confidence":"low","portal":"https://x"}}"#, "portal"),
            (#"{"parameters":{"confidence":"low","session":{"memory":"x"}}}"#, "\"session.memory\" is not an object"),
            (#"{"parameters":{"confidence":"low","session":{"secondsRemaining":1.5}}}"#, "session.secondsRemaining"),
            (#"{"parameters":{"confidence":"low","session":{"bytesRemaining":1e30}}}"#, "session.bytesRemaining"),
            (#"{"parameters":{"confidence":"low","session":{"canExtend":"yes"}}}"#, "session.canExtend"),
        ])
    func malformed(_ text: String, _ words: String) {
        let fault = fault(text)
        #expect(fault?.code == .helperMalformed && fault?.isGarbage == true, "\(text): \(String(describing: fault))")
        #expect(fault?.sentence.contains(words) == true, "\(text): \(String(describing: fault))")
    }

    @Test func aReplyAndAnAnnotationNameTheirFieldsToo() {
        #expect(fault(#"{"parameters":{}}"#, .authenticate)?.sentence.contains("reply") == true)
        #expect(fault(#"{"parameters":{"reply":[]}}"#, .authenticate)?.sentence.contains("reply") == true)
        #expect(
            fault(
                #"{"parameters":{"reply":{"result":"uiRequired","prompt":{"title":"x","fields":[{"name":"a"}]}}}}"#, .authenticate
            )?
            .sentence.contains("label") == true)
        let hex = fault(#"{"parameters":{"annotations":[{"ssidHex":"zz","confidence":"low"}]}}"#, .filterScanList)
        #expect(hex?.sentence.hasPrefix("\"annotations.0.ssidHex\" is not an SSID in hexadecimal") == true)
        #expect(fault(#"{"parameters":7}"#, nil)?.sentence.contains("not an object") == true)
    }

    @Test(arguments: [
        (
            #"{"parameters":{"confidence":"HIGH"}}"#, Optional(Command.evaluate),
            #""confidence" has the unknown value "HIGH"; known are none, low, high"#
        ),
        (
            #"{"parameters":{"reply":{"result":"perhaps"}}}"#, .authenticate,
            #""reply.result" has the unknown value "perhaps"; known are success, failure, uiRequired, commandNotRecognized, authenticationRequired, unsupportedNetwork, temporaryFailure"#
        ),
        (
            #"{"parameters":{"reply":{"result":"success","prompt":{"title":"","fields":[{"kind":"pin"}]}}}}"#, .authenticate,
            #""reply.prompt.fields.0.kind" has the unknown value "pin"; known are text, password, email, phone, code, checkbox, choice"#
        ),
        (
            #"{"parameters":{"annotations":[{"ssidHex":"41","confidence":"none"}]}}"#, .filterScanList,
            #""annotations.0.confidence" has the unknown value "none"; known are low, high"#
        ),
    ]) func anUnknownWordNamesTheKnownOnes(_ text: String, _ command: Command?, _ sentence: String) {
        #expect(fault(text, command) == HelperFault(.helperUnknownValue, sentence))
    }

    @Test func unknownFieldsAreIgnoredAndNullIsAbsent() {
        let text = #"{"parameters":{"confidence":"low","colour":[1,{}],"portal":null,"session":{"memory":null,"x":1}}}"#
        #expect(
            AnswerReader.outcome(of: Array(text.utf8), to: .evaluate)
                == .evaluation(Evaluation(.low, session: Session())))
        let annotations = #"{"parameters":{"annotations":[{"ssidHex":"4aFF","confidence":"high","security":null,"more":true}]}}"#
        #expect(
            AnswerReader.outcome(of: Array(annotations.utf8), to: .filterScanList)
                == .annotations([Annotation(ssidHex: "4aff", confidence: .high)]))
        #expect(AnswerReader.outcome(of: Array("{}".utf8), to: nil) == .value([:]))
    }

    @Test func errorsAreToldApart() {
        for name in ["MethodNotFound", "MethodNotImplemented"] {
            let text = #"{"error":"org.varlink.service.\#(name)","parameters":{"method":"x"}}"#
            #expect(AnswerReader.outcome(of: Array(text.utf8), to: .authenticate) == .notRecognized)
        }
        let own = fault(#"{"error":"a.b.Broken","parameters":{"message":"no\u001b"}}"#)
        #expect(own == HelperFault(.helperError, "it answered with the error a.b.Broken\nno\\x1b"))
        #expect(fault(#"{"error":"a.b.Broken"}"#)?.sentence == "it answered with the error a.b.Broken")
    }

    @Test func limitsHold() {
        let deep = String(repeating: "[", count: 500) + String(repeating: "]", count: 500)
        #expect(fault(deep)?.sentence.contains("deeper") == true)
        let invalid = AnswerReader.outcome(of: [0x22, 0xC3, 0x28, 0x22], to: nil).fault
        #expect(invalid?.code == .helperMalformed && invalid?.sentence.contains("UTF-8") == true)
        let claim = #"{"ssidHex":"41","security":"open","confidence":"low","password":"x"}"#
        func claims(_ count: Int) -> HelperOutcome {
            let list = Array(repeating: claim, count: count).joined(separator: ",")
            return AnswerReader.outcome(of: Array(#"{"parameters":{"annotations":[\#(list)]}}"#.utf8), to: .filterScanList)
        }
        #expect(claims(1024).fault == nil)
        #expect(claims(3000).fault?.sentence == "its answer has more than 10000 values")
        let long = String(repeating: "x", count: 17_000)
        let memory = #"{"parameters":{"confidence":"low","session":{"memory":{"a":"\#(long)"}}}}"#
        #expect(fault(memory) == HelperFault(.helperTooLong, "\"session.memory\" is larger than 16 KiB"))
    }
}
