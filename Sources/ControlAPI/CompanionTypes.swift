import HotspotCore

// The types of org.hotspotd.Companion; the `.varlink` file explains each member.

/// `Peer` of the contract.
public struct PeerStatus: Codable, Hashable, Sendable {
    public var name: String
    /// The public key in lower-case hexadecimal.
    public var id: String

    public init(name: String, id: String) { (self.name, self.id) = (name, id) }
}

/// `Question` of the contract: a question that a peer sent, in that laptop's words.
public struct QuestionStatus: Codable, Hashable, Sendable {
    public var id: String
    public var peer: PeerStatus
    public var ssid: String?
    public var portal: String?
    public var title: String
    public var message: String?
    public var fields: [Field]
    public var termsURL: String?
    public var terms: String?

    public init(id: String, peer: PeerStatus, ssid: String?, portal: String?, hearsay: Prompt) {
        (self.id, self.peer, self.ssid, self.portal) = (id, peer, ssid, portal)
        (title, message, fields) = (hearsay.title, hearsay.message, hearsay.fields)
        (termsURL, terms) = (hearsay.termsURL, hearsay.terms)
    }
}

/// `Offer` of the contract.
public struct OfferStatus: Codable, Hashable, Sendable {
    public var id: String
    public var peer: PeerStatus
    public var ssid: String
    public var portal: String
    /// The names of the fields, never their values.
    public var fields: [String]
    /// Whether the offer is for the current network and portal.
    public var fits: Bool
    /// Whether the offer has a portal file: `true` or absent.
    public var portalFile: Bool?
    public var secondsRemaining: Int

    public init(
        id: String, peer: PeerStatus, ssid: String, portal: String, fields: [String], fits: Bool, portalFile: Bool?,
        secondsRemaining: Int
    ) {
        (self.id, self.peer, self.ssid, self.portal) = (id, peer, ssid, portal)
        (self.fields, self.fits, self.portalFile, self.secondsRemaining) = (fields, fits, portalFile, secondsRemaining)
    }
}

/// `Made` of the contract.
public struct MadeStatus: Codable, Hashable, Sendable {
    public var id: String
    public var peer: PeerStatus
    public var ssid: String
    public var portal: String

    public init(id: String, peer: PeerStatus, ssid: String, portal: String) {
        (self.id, self.peer, self.ssid, self.portal) = (id, peer, ssid, portal)
    }
}

/// `Notice` of the contract.
public struct NoticeStatus: Codable, Hashable, Sendable {
    /// When the notice was made: Unix time in milliseconds.
    public var at: Int
    public var message: String

    public init(at: Int, message: String) { (self.at, self.message) = (at, message) }
}

/// The reply of `Status`.
public struct CompanionStatus: Codable, Hashable, Sendable {
    /// `ready`, `noService`, `noAdapter` or `adapterOff`.
    public var state: String
    public var message: String?
    public var name: String
    public var daemon: Bool
    public var pairing: Bool
    public var peers: [PeerStatus]
    public var questions: [QuestionStatus]
    public var offers: [OfferStatus]
    public var made: [MadeStatus]
    public var notices: [NoticeStatus]

    public init(
        state: String, message: String?, name: String, daemon: Bool, pairing: Bool, peers: [PeerStatus],
        questions: [QuestionStatus], offers: [OfferStatus], made: [MadeStatus], notices: [NoticeStatus]
    ) {
        (self.state, self.message, self.name, self.daemon, self.pairing) = (state, message, name, daemon, pairing)
        (self.peers, self.questions, self.offers, self.made, self.notices) = (peers, questions, offers, made, notices)
    }
}

extension CompanionStatus {
    /// This status without questions and offers whose identifiers are unsafe as words of a command line: other laptops choose these identifiers.
    public var checked: CompanionStatus {
        var status = self
        status.questions.removeAll { !Self.isWord($0.id) || !Self.isKey($0.peer.id) }
        status.offers.removeAll { !Self.isWord($0.id) || !Self.isKey($0.peer.id) }
        return status
    }

    /// Returns whether a text can be a word of a command line: it is not an option, and a shell need not quote it.
    private static func isWord(_ text: String) -> Bool {
        (1...64).contains(text.utf8.count) && !text.hasPrefix("-")
            && text.utf8.allSatisfy { octet in
                octet == UInt8(ascii: "-") || octet == UInt8(ascii: "_")
                    || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(octet)
                    || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(octet | 0x20)
            }
    }

    private static func isKey(_ text: String) -> Bool {
        text.utf8.count == 64
            && text.utf8.allSatisfy { octet in
                (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(octet) || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(octet)
            }
    }
}

public struct CompanionStatusParameters: Codable, Sendable {
    public var awaitsOffers: Bool?
    public var awaitsQuestions: Bool?

    public init(awaitsOffers: Bool? = nil, awaitsQuestions: Bool? = nil) {
        (self.awaitsOffers, self.awaitsQuestions) = (awaitsOffers, awaitsQuestions)
    }
}

public struct PairReply: Codable, Hashable, Sendable {
    /// The code of the pairing: eight digits.
    public var code: String?
    public var seconds: Int?
    public var notice: String?
    public var peer: PeerStatus?

    public init(code: String? = nil, seconds: Int? = nil, notice: String? = nil, peer: PeerStatus? = nil) {
        (self.code, self.seconds, self.notice, self.peer) = (code, seconds, notice, peer)
    }
}

public struct ForgottenReply: Codable, Sendable {
    public var peer: PeerStatus
    public init(peer: PeerStatus) { self.peer = peer }
}

public struct ShareParameters: Codable, Sendable {
    /// The key of a ``NetworkID``.
    public var network: String
    /// The origin of the portal.
    public var portal: String
    public var portalKey: String?
    public var kind: String?
    public var answers: [String: String]
    /// The text of a portal file.
    public var portalFile: String?
    public var peer: String?
    public var seconds: Int?

    public init(
        network: String, portal: String, portalKey: String?, kind: String?, answers: [String: String],
        portalFile: String? = nil, peer: String?, seconds: Int? = nil
    ) {
        (self.network, self.portal, self.portalKey, self.kind) = (network, portal, portalKey, kind)
        (self.answers, self.portalFile, self.peer, self.seconds) = (answers, portalFile, peer, seconds)
    }
}

public struct ShareReply: Codable, Hashable, Sendable {
    public var offers: [MadeStatus]
    public var notice: String?
    /// Whether the peer accepted the offer: `true` or absent.
    public var taken: Bool?

    public init(offers: [MadeStatus], notice: String? = nil, taken: Bool? = nil) {
        (self.offers, self.notice, self.taken) = (offers, notice, taken)
    }
}

public struct PeerAnswerParameters: Codable, Sendable {
    public var id: String
    public var peer: String
    public var answers: [String: String]

    public init(id: String, peer: String, answers: [String: String]) {
        (self.id, self.peer, self.answers) = (id, peer, answers)
    }
}

public struct DecideParameters: Codable, Sendable {
    public var id: String
    public var peer: String
    public var accept: Bool

    public init(id: String, peer: String, accept: Bool) { (self.id, self.peer, self.accept) = (id, peer, accept) }
}

public struct DecideReply: Codable, Hashable, Sendable {
    public var answered: Bool?
    public var interface: String?
    /// The text of the offer's portal file.
    public var portalFile: String?

    public init(answered: Bool? = nil, interface: String? = nil, portalFile: String? = nil) {
        (self.answered, self.interface, self.portalFile) = (answered, interface, portalFile)
    }
}

/// The errors of org.hotspotd.Companion.
public enum CompanionFault: Error, Hashable, Sendable {
    case notPermitted(String)
    case noSuchPeer(String)
    case severalPeers(String)
    case noSuchOffer(String)
    case noSuchQuestion(String)
    /// One sentence for the user.
    case failed(String)

    /// The name and the parameters of the varlink error.
    public var reply: (name: String, parameters: JSONValue) {
        switch self {
        case .notPermitted(let message): ("NotPermitted", ["message": .string(message)])
        case .noSuchPeer(let peer): ("NoSuchPeer", ["peer": .string(peer)])
        case .severalPeers(let peer): ("SeveralPeers", ["peer": .string(peer)])
        case .noSuchOffer(let id): ("NoSuchOffer", ["id": .string(id)])
        case .noSuchQuestion(let id): ("NoSuchQuestion", ["id": .string(id)])
        case .failed(let message): ("Failed", ["message": .string(message)])
        }
    }

    /// Reads the error of a reply; `nil` for an error of another interface.
    public init?(name: String, parameters: JSONValue) {
        func text(_ key: String) -> String { parameters[key]?.string ?? "" }
        let prefix = CompanionContract.name + "."
        guard name.hasPrefix(prefix) else { return nil }
        switch name.dropFirst(prefix.count) {
        case "NotPermitted": self = .notPermitted(text("message"))
        case "NoSuchPeer": self = .noSuchPeer(text("peer"))
        case "SeveralPeers": self = .severalPeers(text("peer"))
        case "NoSuchOffer": self = .noSuchOffer(text("id"))
        case "NoSuchQuestion": self = .noSuchQuestion(text("id"))
        case "Failed": self = .failed(text("message"))
        default: return nil
        }
    }
}
