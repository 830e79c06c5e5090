import HotspotCore

/// A prompt that waits for the user.
public struct ShownPrompt: Sendable, CustomStringConvertible {
    /// The machine's number of the prompt.
    public let number: UInt64
    /// The name of the prompt in the control interface.
    public internal(set) var token: String
    public let helper: String
    public let network: NetworkID
    /// The portal that asks.
    public let portal: Portal?
    /// The prompt as the helper sent it.
    let asked: Prompt
    /// The prompt with stored answers as values. Answers of secret kinds are left out.
    public internal(set) var prompt: Prompt
    /// Unix time in milliseconds.
    public let since: Int
    /// The names of the fields for which an answer is stored.
    public internal(set) var stored: [String] = []
    /// The sealed octets of the stored answers that the prompt offers.
    var offered: [UInt8]?
    /// Whether stored answers wait for the PIN.
    public internal(set) var isLocked = false
    public internal(set) var warning: String?
    /// Why hotspotd asks for answers that are stored, or a step that the user can take before answering.
    public internal(set) var note: String?
    /// Why the prompt is about to end.
    var ending: AnswerRuling?

    public init(
        number: UInt64, token: String, helper: String, network: NetworkID, portal: Portal?, prompt: Prompt, since: Int
    ) {
        (self.number, self.token, self.helper, self.network) = (number, token, helper, network)
        (self.portal, asked, self.prompt, self.since) = (portal, prompt, prompt, since)
    }

    public var description: String { "prompt \(token) of \(helper)" }
}
