import ForeignText
import HotspotCore

extension HelperOutcome {
    /// Returns the outcome as people and clients may see it: without secrets, and with a prompt that can be shown. If the prompt cannot be shown,
    /// returns a fault of the helper.
    public func presentable(without secrets: Secrets, known: KnownWords, of helper: String) -> HelperOutcome {
        guard case .reply(var reply) = self, let prompt = reply.prompt?.limited else { return masked(secrets, known: known) }
        // Check the size before masking, which takes time, and again after masking, because masks may be longer than the secrets.
        guard prompt.fits else { return .failed(Self.tooLong.of(helper)) }
        reply.prompt = prompt
        switch HelperOutcome.reply(reply).masked(secrets, known: known) {
        case .failed(let fault): return .failed(fault.of(helper))
        case .reply(let masked) where masked.prompt?.fits == false: return .failed(Self.tooLong.of(helper))
        case let outcome: return outcome
        }
    }

    private static let tooLong = HelperFault(
        .helperTooLong, "\"reply.prompt\" is longer than \(Prompt.octetLimit / 1024) KiB, too long to be shown")
}

extension HelperFault {
    /// Returns the same fault, with the name of the helper.
    fileprivate func of(_ helper: String) -> HelperFault {
        HelperFault(code, "\(helper): \(sentence)", standardError: standardError, cause: cause)
    }
}
