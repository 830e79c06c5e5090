import ControlAPI
import HotspotCore

/// The layers between this computer and the Internet, in the order in which a packet needs them.
enum LayerName: String, Codable, CaseIterable {
    case radio, rfkill, association, address, gateway, resolvers, names, vpn = "VPN", firewall, daemon, probe, portal, helper
    case sandbox, login, internet = "Internet", desktop
}

/// One layer and its state.
struct Layer: Codable, Equatable {
    /// A layer in the state `attention` lets packets through; a layer in the state `broken` does not.
    enum State: String, Codable { case ok, attention, broken, unknown }

    var name: LayerName
    var state: State
    /// A sentence of hotspotd and, after a line feed, the words of a helper or portal.
    var sentence: String
    /// The command that helps.
    var command: String?
}

/// All layers, and the command that helps with the first broken one.
struct Diagnosis: Codable, Equatable {
    /// The examined interface; absent if there is none.
    var interface: String?
    var verdict: String
    var command: String?
    var layers: [Layer]

    init(_ facts: DoctorFacts) {
        interface = facts.subject
        layers = LayerName.allCases.map(facts.layer)
        let broken = layers.first { $0.state == .broken }
        let waiting = layers.filter { $0.state == .attention }
        if let worst = broken ?? waiting.first(where: { $0.name == .login }) ?? waiting.first {
            verdict = worst.sentence
            command = worst.command
        } else if facts.isOnline {
            let isSeen = layers.contains { $0.name == .names && $0.state == .ok }
            verdict =
                isSeen
                ? "Online; nothing needs attention."
                : facts.isHidden
                    ? "Online; nothing needs attention, but you may not see everything."
                    : "Online; name resolution was not tested."
        } else {
            verdict = "hotspotctl finds nothing wrong."
            command = "hotspotctl status"
        }
    }

    var needsAttention: Bool { layers.contains { $0.state == .attention || $0.state == .broken } }
}

extension ProblemCode {
    /// The layer to which the problem belongs.
    var layer: LayerName {
        switch self {
        case .noWireless, .scan: .radio
        case .linkKept, .interfaceGone, .disconnect, .joinFailed, .joinNotPermitted, .managerGone, .notJoined, .passwordNeeded,
            .wrongPassword, .macChanged:
            .association
        case .noAddress, .addressConflict, .addressOverlap: .address
        case .noNameservers: .resolvers
        case .gate, .vpnBlocksProbe: .firewall
        case .proberMissing: .probe
        case .unclaimedCaptive, .disabled, .memoryTooLarge, .helperCrashed, .helperNotStarted, .helperNoRoom, .helperTimeout,
            .helperMalformed, .helperUnknownValue, .helperError, .helperTooLong, .helperRepeatsSecret, .helperQuarantined,
            .helperNotTrusted, .helperFileInvalid, .helperFileMissing, .helperProgramMissing, .helperProgramNotExecutable,
            .helperPathMissing, .helperPathRefused, .helperFolderUnreadable, .helperFoldersNotWatched, .helperMasked,
            .helperShadowed, .displayNameTooLong:
            .helper
        case .sandboxUnavailable: .sandbox
        case .held, .stillCaptive, .loginFailed, .loginDelayed, .loginPaused, .logoffUnconfirmed, .forgotten: .login
        case .internetLimited, .httpsBlocked, .clockWrong: .internet
        case .settings, .vault, .vaultLocked, .logoffOn, .storeDamaged, .storeNewer, .storeNotSaving, .storeReplaced,
            .moreProblems, .unrecognized,
            .alreadyOnline, .badPIN, .busy, .expectedMore, .noAttempt, .noInterface, .noPIN, .noPortal, .notCandidate, .notSaved,
            .severalInterfaces:
            .daemon
        }
    }

    /// The problems that break their layer, so that packets get no further, unless the probe has shown otherwise.
    static let fatal: Set = [
        noWireless, noAddress, addressConflict, noNameservers, proberMissing, unclaimedCaptive, sandboxUnavailable, loginFailed,
        held,
        internetLimited, vpnBlocksProbe,
    ]
}
