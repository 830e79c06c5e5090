import HotspotCore
import HotspotMachine
import Store
import Vault

/// A prompt that waits for the user.
struct ShownPrompt {
    let id: PromptID
    /// The name of the prompt in the control interface.
    var token: String
    let helper: String
    let network: NetworkID
    /// The portal that asks.
    let portal: Portal?
    /// As the helper asks.
    let asked: Prompt
    /// With stored answers as values, except those of secret kinds.
    var prompt: Prompt
    /// Unix time in milliseconds.
    let since: Int
    /// The names of the fields for which an answer is stored.
    var stored: [String] = []
    /// The credential that they are from, as it is sealed.
    var offered: [UInt8]?
    /// Stored answers wait for the PIN.
    var isLocked = false
    var warning: String?
    /// Why it asks for what is stored.
    var note: String?
}

extension ShownPrompt {
    /// It asks for something that may be stored.
    var asksForKeepable: Bool { asked.fields.contains { $0.kind != .code && $0.kind != .checkbox } }
}

extension CredentialOwner {
    /// The owner for which a credential was stored.
    init(_ stored: StoredCredential, in network: NetworkID) {
        self.init(
            network: network, helper: stored.helper, origin: stored.origin, pin: stored.pin, program: stored.program)
    }
}

extension ShownPrompt {
    /// Returns why a prompt goes without an answer, by the actions of the same turn.
    static func ending(in turn: [Action], _ departure: Departure) -> String {
        for case .endAttempt(_, let outcome) in turn {
            switch outcome {
            case .online: return "The network opened, by the login from before."
            case .open, .opened, .found: return "The network opened, perhaps by a login in a browser."
            case .left: return departure.sentence
            case .superseded: return "Another login was begun."
            case .unknown, .unclaimedCaptive, .temporaryFailure, .failure, .expired, .loggedOff, .dismissed: break
            }
        }
        return "It is not needed any more."
    }
}
