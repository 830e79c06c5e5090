import HotspotCore
import Testing

@testable import HotspotMachine

/// The machine's words that are printed or stored.
@Suite("Name tables of the machine") struct MachineNameTableTests {
    func table<Word: RawRepresentable & CaseIterable & Hashable>(_ type: Word.Type, _ words: String)
    where Word.RawValue == String {
        #expect(Word.allCases.map(\.rawValue) == words.split(separator: " ").map(String.init))
        for word in Word.allCases { #expect(Word(rawValue: word.rawValue) == word) }
        #expect(Word(rawValue: "nonsense") == nil)
    }

    @Test func words() {
        table(
            AttemptOutcome.self,
            "online open opened found unknown unclaimedCaptive temporaryFailure failure expired left loggedOff dismissed superseded"
        )
        table(HoldReason.self, "loggedOff dismissed autoJoinOff disabled")
        table(TimerPurpose.self, "command lowGrace probe proof late maintain recheck watch retry pause hold leave")
        table(Policy.Rules.self, "default strict")
        table(Policy.Timeout.self, "temporary fatal")
        table(Policy.FailureRule.self, "keep disconnect")
        table(ScanClaims.Source.self, "manifest filter remembered")
    }

    @Test("Constants at a glance") func constants() {
        let policy = Policy()
        #expect(
            policy.commandTimeout == .seconds(45) && policy.maintainInterval == .seconds(300) && policy.lowGrace == .seconds(5))
        #expect(policy.holdTime == .seconds(12 * 3600) && policy.furtherPrompts == 8 && policy.quarantineAfter == 2)
        #expect(HelperSpec.displayNameLimit == 15)
    }
}
