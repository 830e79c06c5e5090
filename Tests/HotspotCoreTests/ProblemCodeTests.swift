import FoundationEssentials
import HotspotCore
import Testing

@Suite struct ProblemCodeTests {
    /// The words on the wire, which scripts compare.
    private static let words = """
        alreadyOnline badPIN busy disabled disconnect displayNameTooLong expectedMore forgotten gate held helperCrashed helperError
        helperFileInvalid helperFileMissing helperFolderUnreadable helperFoldersNotWatched helperMalformed helperMasked
        helperNoRoom helperNotStarted helperNotTrusted helperPathMissing helperPathRefused
        helperProgramMissing helperProgramNotExecutable helperQuarantined helperRepeatsSecret helperShadowed helperTimeout
        helperTooLong helperUnknownValue httpsBlocked interfaceGone internetLimited linkKept links loginDelayed loginFailed
        loginPaused logoffOn logoffUnconfirmed memoryTooLarge moreProblems noAddress noAttempt noInterface noNameservers noPIN noPortal noWireless notCandidate notSaved
        proberMissing sandboxUnavailable scan settings severalInterfaces stillCaptive storeDamaged storeNewer storeNotSaving
        unclaimedCaptive unrecognized vault vaultLocked vpnBlocksProbe wireless
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
