import Answers
import HotspotCore
import Varlink

/// A message that is sent encrypted: an octet for the type, then a position or JSON. Bit 7 of the type says that the sender changes its key after
/// this message.
enum Message: Hashable, Sendable {
    /// The first message of a session: which part of the earlier session's message has arrived.
    case began(BulkPosition)
    case granted(BulkPosition)
    case missed(BulkPosition)
    /// A message without content, which brings a new key.
    case idle
    case question(PeerQuestion)
    case answer(id: String, [String: SecretText])
    case withdrawn(id: String)
    case offer(Offer)
    case taken(id: String)
    case refused(id: String, OfferRefusal)

    /// The largest size in octets: with the tag, one message of Noise.
    static let limit = Frame.dataLimit - CipherState.tagLength

    private enum Kind: UInt8, CaseIterable {
        case began = 1
        case granted, missed, idle
        case question = 16
        case answer, withdrawn, offer, taken, refused
    }

    private struct Reference: Codable { var id: String }
    private struct AnswerText: Codable { var (id, values): (String, [String: String]) }
    private struct RefusalText: Codable { var (id, reason): (String, OfferRefusal) }
    private struct OfferText: Codable {
        var id: String
        var network: String
        var portal: Portal
        var answers: [String: String]
        var portalFile: String?
        var seconds: Int
    }

    /// Returns the octets to seal. Throws ``CompanionError/tooLarge`` for a message beyond ``limit``.
    func encoded() throws(CompanionError) -> [UInt8] {
        let (kind, body): (Kind, [UInt8]) =
            switch self {
            case .began(let place): (.began, place.octets)
            case .granted(let place): (.granted, place.octets)
            case .missed(let place): (.missed, place.octets)
            case .idle: (.idle, [])
            case .question(let question): (.question, Coding.encode(question.limited))
            case .answer(let id, let values): (.answer, Coding.encode(AnswerText(id: id, values: values.texts)))
            case .withdrawn(let id): (.withdrawn, Coding.encode(Reference(id: id)))
            case .offer(let offer): (.offer, Coding.encode(Self.text(of: offer)))
            case .taken(let id): (.taken, Coding.encode(Reference(id: id)))
            case .refused(let id, let reason): (.refused, Coding.encode(RefusalText(id: id, reason: reason)))
            }
        guard body.count < Self.limit else { throw .tooLarge }
        return [kind.rawValue] + body
    }

    private static func text(of offer: Offer) -> OfferText {
        OfferText(
            id: offer.id, network: offer.network.key ?? "", portal: offer.portal, answers: offer.answers.texts,
            portalFile: offer.portalFile, seconds: offer.seconds)
    }

    /// Reads a message. Returns `nil` for a type of a later version; throws ``CompanionError/malformed`` for data beyond the
    /// limits.
    static func read(_ octets: [UInt8]) throws(CompanionError) -> Message? {
        guard let type = octets.first, octets.count <= limit else { throw .malformed }
        guard let kind = Kind(rawValue: type) else { return nil }
        let body = Array(octets.dropFirst())
        switch kind {
        case .began: return .began(try place(body))
        case .granted: return .granted(try place(body))
        case .missed: return .missed(try place(body))
        case .idle: return .idle
        case .question:
            let question = try json(PeerQuestion.self, body)
            guard question.isValid else { throw .malformed }
            return .question(question.limited)
        case .answer:
            let answer = try json(AnswerText.self, body)
            guard Limits.areAnswers(answer.values) else { throw .malformed }
            return .answer(id: try checked(answer.id), answer.values.mapValues(SecretText.init))
        case .withdrawn: return .withdrawn(id: try checked(try json(Reference.self, body).id))
        case .offer: return .offer(try offer(try json(OfferText.self, body)))
        case .taken: return .taken(id: try checked(try json(Reference.self, body).id))
        case .refused:
            let refusal = try json(RefusalText.self, body)
            return .refused(id: try checked(refusal.id), refusal.reason)
        }
    }

    private static func offer(_ text: OfferText) throws(CompanionError) -> Offer {
        guard let network = NetworkID(key: text.network) else { throw .malformed }
        let offer = Offer(
            id: text.id, network: network, portal: text.portal, answers: text.answers.mapValues(SecretText.init),
            portalFile: text.portalFile, seconds: text.seconds)
        guard offer.isValid else { throw .malformed }
        return offer
    }

    private static func place(_ octets: [UInt8]) throws(CompanionError) -> BulkPosition {
        guard let place = BulkPosition(octets: octets) else { throw .malformed }
        return place
    }

    private static func checked(_ id: String) throws(CompanionError) -> String {
        guard Limits.isIdentifier(id) else { throw .malformed }
        return id
    }

    private static func json<T: Decodable>(_ type: T.Type, _ octets: [UInt8]) throws(CompanionError) -> T {
        do throws(VarlinkError) { return try Coding.decode(type, from: octets) } catch { throw .malformed }
    }
}

/// A message that is sent unencrypted: part of a handshake, or one of two refusals that reveal nothing about this machine.
enum ClearMessage: UInt8, CaseIterable {
    /// The initiator's session identifier and name.
    case pairHello = 1
    /// The responder's session identifier, its share and name.
    case pairShare
    /// The initiator's share and the first message of the pairing handshake.
    case pairKey
    case pairReply
    case pairFinish
    /// The code is wrong, or the laptop does not show a code.
    case pairRefused
    case sessionHello
    case sessionReply
    /// The hello could not be opened, or comes from a machine that is not paired.
    case unknownPeer
}
