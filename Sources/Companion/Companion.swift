import Answers
import ForeignText
import HotspotCore
import Vault

/// Decides what this laptop says to laptops nearby: takes events and returns actions. It has no clock, socket or timer; random octets come from
/// libsodium. It is not copyable, because its keys count their messages.
///
/// A separate transport advertises, scans and connects, carries chunks, and keeps peers and keys.
public struct Companion: ~Copyable {
    public enum Event: Sendable {
        // The transport.
        /// - Parameter mtu: the MTU of the attribute protocol.
        case linkOpened(PeerLinkID, Role, mtu: Int)
        case mtuChanged(PeerLinkID, Int)
        case chunkReceived(PeerLinkID, Channel, [UInt8])
        /// The last chunk on the control channel was accepted; the next chunk may follow.
        case chunkWritten(PeerLinkID)
        case linkClosed(PeerLinkID)
        /// The other laptop accepts an L2CAP channel. Only the central gets this event.
        case l2capOffered(PeerLinkID)
        case l2capOpened(PeerLinkID)
        /// The L2CAP channel could not be opened, or was lost together with the chunks on their way; the link stays open.
        case l2capClosed(PeerLinkID)
        /// The time of ``Action/setTimer(_:)`` came.
        case timerFired

        // The user.
        /// The user wants to show a code on this laptop.
        case pairingBegan
        /// The user entered the other laptop's code.
        case codeEntered(SecretText)
        case pairingCancelled
        case forgotten(PeerID)
        /// The user begins or stops answering the questions of paired laptops.
        case listeningChanged(Bool)
        /// The user begins or stops waiting for an offer.
        case offerAwaited(Bool)
        case questionAnswered(id: String, of: PeerID, [String: SecretText])
        case offerMade(Offer, to: PeerID)
        case offerCancelled(id: String)
        /// The decision applies to the offer as it was shown: the peer may have changed it since.
        case offerDecided(Offer, of: PeerID, isAccepted: Bool)
        /// The result of ``Action/storeOffer(_:from:)``. Only after this event does the peer get its answer.
        case offerStored(id: String, of: PeerID, isStored: Bool)

        // The daemon.
        case questionAsked(PeerQuestion)
        /// The question was answered on this laptop, or has ended.
        case questionWithdrawn(id: String)
        case placeChanged(Place?)
    }

    public enum Action: Hashable, Sendable {
        case send(PeerLinkID, Channel, [UInt8])
        case close(PeerLinkID)
        /// Open the link's L2CAP channel, or close it.
        case wantL2CAP(PeerLinkID, Bool)
        /// Log that the peer has proven the link's L2CAP channel, or that this channel has ended.
        case logL2CAP(PeerLinkID, isOpen: Bool)
        case advertise(Bool)
        case scan(Bool)
        /// Set the only timer; `nil` stops it.
        case setTimer(Instant?)
        case showCode(SecretText)
        case storePeer(Peer)
        case removePeer(PeerID)
        case showQuestion(PeerQuestion, from: PeerID)
        case hideQuestion(id: String, from: PeerID)
        /// Answer the daemon's prompt.
        case answerPrompt(id: String, [String: SecretText], from: PeerID)
        case showOffer(Offer, from: PeerID)
        case hideOffer(id: String, from: PeerID)
        /// The user accepted the offer, and this laptop is at the offer's network: store the offer for that network alone, and report
        /// ``Event/offerStored(id:of:isStored:)``.
        case storeOffer(Offer, from: PeerID)
        case notify(Notice)
    }

    static let (peerLimit, linkLimit, questionLimit, decisionLimit) = (8, 4, 4, 16)
    /// The largest number of own offers that wait: one for each laptop that can be connected at a time.
    public static let offerLimit = linkLimit

    let keys: KeyPair
    /// The name that peers show for this laptop.
    public let name: String
    /// The paired laptops, in the order of pairing.
    public internal(set) var peers: [Peer]
    var links: [PeerLinkID: PeerLink] = [:]
    var pairing: PairingCode?
    var suspended: [PeerID: Suspended] = [:]
    /// The peers for which the user has already seen the notice that a laptop nearby did not recognise this laptop.
    var unknown: Set<PeerID> = []

    /// This laptop's waiting questions.
    var questions: [PeerQuestion] = []
    /// The peers' questions that are shown on this laptop.
    var shown: [PeerID: [PeerQuestion]] = [:]
    /// This laptop's waiting offers.
    var made: [StandingOffer] = []
    /// The peers' offers on which the user has not decided yet.
    var received: [StandingOffer] = []
    /// The accepted offers that are not stored yet.
    var storing: [StandingOffer] = []
    /// The last messages that end a question or an offer, for peers that were away.
    var endings: [Ending] = []
    /// The last decisions on peers' offers, for a peer that has not received them.
    var decisions: [Decision] = []
    var place: Place?
    var isListening = false
    var awaitsOffer = false

    /// The values of the last `advertise`, `scan` and `setTimer` actions.
    private var (advertises, scans, timer): (Bool, Bool, Instant?) = (false, false, nil)
    var now = Instant(nanoseconds: 0)
    var actions: [Action] = []

    struct StandingOffer: Hashable {
        var offer: Offer
        /// The receiver of our own offer, or the sender of a received offer.
        var peer: PeerID
        var ends: Instant
    }

    struct Ending: Hashable {
        var message: Message
        /// The peer; `nil` for all peers.
        var peer: PeerID?
    }

    struct Decision: Hashable {
        var id: String
        var peer: PeerID
        var message: Message
    }

    /// - Parameters:
    ///   - keys: this machine's long-term keys, for all peers.
    ///   - name: the laptop's name, which is cut to 64 printable octets.
    ///   - peers: the stored peers; only the first eight are used.
    public init(keys: consuming KeyPair, name: String, peers: [Peer]) {
        self.keys = keys
        let shown = Printable.shown(Printable.beginning(of: name, limit: Limits.name) ?? name, limit: Limits.name)
        self.name = Limits.isPrintable(shown, Limits.name) ? Peer.name(shown) : "laptop"
        self.peers = Array(peers.prefix(Self.peerLimit))
    }

    public var id: PeerID { PeerID(octets: keys.publicKey) }

    /// Handles an event.
    ///
    /// - Parameter now: the present time; if it is earlier than in a previous call, that call's time counts.
    public mutating func handle(_ event: Event, at now: Instant) -> [Action] {
        self.now = max(now, self.now)
        expire()
        switch event {
        case .linkOpened(let id, let role, let mtu): open(id, role, mtu: mtu)
        case .mtuChanged(let id, let mtu): links[id]?.limit = Frame.chunkLimit(mtu: mtu)
        case .chunkReceived(let id, let channel, let chunk): receive(chunk, on: channel, of: id)
        case .chunkWritten(let id): links[id]?.written()
        case .linkClosed(let id): drop(id)
        case .l2capOffered(let id): links[id]?.l2capOffered()
        case .l2capOpened(let id): l2capOpened(id)
        case .l2capClosed(let id): l2capClosed(id)
        case .timerFired: break
        case .pairingBegan: showCode()
        case .codeEntered(let code): enter(code)
        case .pairingCancelled: endPairing()
        case .forgotten(let peer): forget(peer)
        case .listeningChanged(let isListening): self.isListening = isListening
        case .offerAwaited(let awaits): awaitsOffer = awaits
        case .questionAnswered(let id, let peer, let values): answer(id, of: peer, values)
        case .offerMade(let offer, let peer): make(offer, for: peer)
        case .offerCancelled(let id): cancelOffer(id)
        case .offerDecided(let offer, let peer, let isAccepted): decide(offer, of: peer, isAccepted: isAccepted)
        case .offerStored(let id, let peer, let isStored): finishStoring(id, of: peer, isStored: isStored)
        case .questionAsked(let question): ask(question)
        case .questionWithdrawn(let id): withdraw(id)
        case .placeChanged(let place): self.place = place
        }
        write()
        reportWishes()
        defer { actions = [] }
        return actions
    }

    /// Sends waiting chunks on each link, the oldest link first.
    private mutating func write() {
        for link in links.values.sorted(by: { $0.id.number < $1.id.number }) {
            attempt(on: link) { companion throws(CompanionError) in try companion.flush(link) }
            while links[link.id] === link, let chunk = link.next() { actions.append(.send(link.id, .control, chunk)) }
        }
    }

    /// Whether other laptops must be able to find this laptop: it shows a code, waits for an answer or an offer, or has received an offer that
    /// is not decided or not stored yet.
    var wantsAdvertising: Bool {
        if links.count >= Self.linkLimit { return false }
        if pairing?.side == .shown { return true }
        return !peers.isEmpty && (!questions.isEmpty || awaitsOffer || !received.isEmpty || !storing.isEmpty)
    }

    /// The paired peers that may turn out to be a laptop nearby, whose key is not known yet.
    var candidates: [PeerID] {
        let here = Set(links.values.compactMap { $0.session?.peer })
        let targets = Set(made.map(\.peer))
        let away = peers.map(\.id).filter { !here.contains($0) }
        return away.filter(targets.contains) + (isListening ? away.filter { !targets.contains($0) } : [])
    }

    var wantsScan: Bool { links.count < Self.linkLimit && (pairing?.side == .entered || !candidates.isEmpty) }

    private mutating func reportWishes() {
        if wantsAdvertising != advertises {
            advertises.toggle()
            actions.append(.advertise(advertises))
        }
        if wantsScan != scans {
            scans.toggle()
            actions.append(.scan(scans))
        }
        let next = nextDeadline
        if next != timer {
            timer = next
            actions.append(.setTimer(next))
        }
    }
}
