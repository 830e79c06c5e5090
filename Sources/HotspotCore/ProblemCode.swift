/// The code of a problem or of a failed call: `code` of org.hotspotd.Control. Scripts may compare these codes, so they never change.
public enum ProblemCode: String, Codable, Hashable, Sendable, CaseIterable {
    // The network and the login.
    case noAddress, noNameservers, addressConflict, addressOverlap, vpnBlocksProbe, held, unclaimedCaptive, stillCaptive,
        internetLimited, httpsBlocked,
        clockWrong, macChanged,
        loginFailed, loginDelayed
    case loginPaused, logoffUnconfirmed, linkKept, memoryTooLarge, interfaceGone, forgotten

    // A helper that does not answer as it should.
    /// The process or the connection ended before an answer.
    case helperCrashed
    /// The helper could not be started or reached.
    case helperNotStarted
    /// The helper could not be started for lack of processes, memory or descriptors, even after some time.
    case helperNoRoom
    case helperTimeout
    /// The answer does not follow the contract.
    case helperMalformed
    /// The answer contains a value that the contract does not define.
    case helperUnknownValue
    /// The helper replied with a Varlink error.
    case helperError
    /// The answer is longer than the contract allows.
    case helperTooLong
    /// The answer repeats a secret in a part that cannot be masked, because the daemon sends that part back to the helper.
    case helperRepeatsSecret
    case helperQuarantined

    // Helper files and programs.
    /// Another user may own or change the file, program or socket.
    case helperNotTrusted
    case helperFileInvalid, helperFileMissing, helperProgramMissing, helperProgramNotExecutable, helperPathMissing,
        helperPathRefused
    case helperFolderUnreadable, helperFoldersNotWatched, helperMasked, helperShadowed
    case displayNameTooLong, sandboxUnavailable

    // The daemon.
    case settings, noWireless, scan, disconnect, gate, proberMissing, vault, vaultLocked, logoffOn
    case storeDamaged, storeNewer, storeNotSaving, storeReplaced
    /// Not all problems are shown.
    case moreProblems

    // Calls that failed.
    case alreadyOnline, badPIN, busy, disabled, expectedMore, noAttempt, noInterface, noPIN, noPortal, notCandidate, notSaved
    case severalInterfaces
    case joinFailed, joinNotPermitted, managerGone, notJoined, passwordNeeded, wrongPassword

    /// A code that only a newer daemon defines.
    case unrecognized

    public init(from decoder: any Decoder) throws {
        self = Self(rawValue: try decoder.singleValueContainer().decode(String.self)) ?? .unrecognized
    }
}
