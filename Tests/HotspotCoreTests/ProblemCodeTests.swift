import FoundationEssentials
import HotspotCore
import Testing

@Suite struct ProblemCodeTests {
    /// The words on the wire, which scripts compare.
    private static let words = """
        addressConflict addressOverlap alreadyOnline badPIN busy clockWrong disabled disconnect displayNameTooLong expectedMore forgotten gate held helperCrashed helperError
        helperFileInvalid helperFileMissing helperFolderUnreadable helperFoldersNotWatched helperMalformed helperMasked
        helperNoRoom helperNotStarted helperNotTrusted helperPathMissing helperPathRefused
        helperProgramMissing helperProgramNotExecutable helperQuarantined helperRepeatsSecret helperShadowed helperTimeout
        helperTooLong helperUnknownValue httpsBlocked interfaceGone internetLimited joinFailed joinNotPermitted linkKept loginDelayed loginFailed
        loginPaused logoffOn logoffUnconfirmed macChanged managerGone memoryTooLarge moreProblems noAddress noAttempt noInterface noNameservers
        noPIN noPortal noWireless notCandidate notJoined notSaved passwordNeeded proberMissing sandboxUnavailable scan settings severalInterfaces stillCaptive storeDamaged storeNewer storeNotSaving storeReplaced
        unclaimedCaptive unrecognized vault vaultLocked vpnBlocksProbe wrongPassword
        """.split(whereSeparator: \.isWhitespace).map(String.init)

    @Test func everyCodeHasItsWord() { #expect(ProblemCode.allCases.map(\.rawValue).sorted() == Self.words.sorted()) }

    @Test func everyProblemSurvivesTheWire() throws {
        for code in ProblemCode.allCases {
            let octets = try JSONEncoder().encode(Problem(code, "m", hint: "h"))
            let problem = try JSONDecoder().decode(Problem.self, from: octets)
            #expect(problem == Problem(code, "m", hint: "h"))
            #expect(try JSONDecoder().decode([String: String].self, from: octets)["code"] == code.rawValue)
        }
    }

    @Test func aWordOfANewerDaemonIsReadable() throws {
        let octets = Data(#"{"code":"novel","message":"m"}"#.utf8)
        #expect(try JSONDecoder().decode(Problem.self, from: octets) == Problem(.unrecognized, "m"))
    }
}
