extension Companion {
    /// Something that the user should know.
    public enum Notice: Hashable, Sendable {
        case paired(Peer)
        /// The code was wrong; another try may follow.
        case wrongCode
        /// Three tries were wrong.
        case codeSpent
        case codeExpired
        case codeInvalid
        case peersFull
        /// The laptop nearby does not know this laptop, or has a new key.
        case unknownPeer(Peer)
        /// A laptop nearby does not know this laptop. The laptop nearby may be any of several peers.
        case noneRecognised
        /// The typed answers cannot be sent, because the laptop went away.
        case notConnected(Peer)
        /// The question or the offer exceeds the limits, or too many are waiting.
        case notSent
        case offerTaken(Peer)
        case offerRefused(Peer, OfferRefusal)
        case offerExpired(Peer)
        /// The user accepted, but this laptop is not at the offer's network or portal.
        case otherPortal(Peer)

        /// One sentence for the user, with advice. Names are printable.
        public var message: String {
            switch self {
            case .paired(let peer): "Paired with \"\(peer.name)\"."
            case .wrongCode: "The code was wrong."
            case .codeSpent: "The code is no longer valid after three wrong tries. Pair again."
            case .codeExpired: "The code has expired after two minutes. Pair again."
            case .codeInvalid: "A code has eight digits."
            case .peersFull: "Eight laptops are paired already. Forget one first."
            case .unknownPeer(let peer): "\"\(peer.name)\" is no longer paired. Pair again."
            case .noneRecognised: "A laptop nearby does not know this laptop. Pair the two laptops again."
            case .notConnected(let peer): "\"\(peer.name)\" is no longer nearby. Nothing was sent."
            case .notSent: "The message is too large to send, or too many messages are already waiting."
            case .offerTaken(let peer): "\"\(peer.name)\" has the login now."
            case .offerRefused(let peer, .declined): "The user of \"\(peer.name)\" declined the login."
            case .offerRefused(let peer, .otherPortal): "\"\(peer.name)\" is at another network or portal."
            case .offerRefused(let peer, .notStored): "\"\(peer.name)\" accepted the login, but could not store it."
            case .offerRefused(let peer, .expired), .offerExpired(let peer):
                "The offer between this laptop and \"\(peer.name)\" has ended."
            case .otherPortal(let peer): "The login of \"\(peer.name)\" is for another network or portal. Nothing was stored."
            }
        }
    }
}
