import Answers
import Companion
import ControlAPI
import EventLoop
import ForeignText
import HotspotCore
import Varlink

/// The user's calls.
extension CompanionService {
    // MARK: Status

    var status: CompanionStatus {
        let now = clock()
        return CompanionStatus(
            state: state.word, message: state.message, name: name, daemon: hasDaemon, pairing: pairingCall != nil,
            peers: peers.map(PeerStatus.init),
            questions: questions.compactMap { entry in
                peer(entry.key.peer).map { peer in
                    QuestionStatus(
                        id: entry.key.id, peer: peer, ssid: entry.question.network.flatMap(NetworkID.init(key:))?.label,
                        portal: entry.question.portal?.origin, hearsay: entry.question.hearsay)
                }
            },
            offers: offers.compactMap { entry in
                peer(entry.key.peer).map { peer in
                    OfferStatus(
                        id: entry.shown.name, peer: peer, ssid: entry.shown.offer.network.label,
                        portal: entry.shown.offer.portal.origin, fields: entry.shown.offer.answers.keys.sorted(),
                        fits: place(for: entry.shown.offer) != nil,
                        portalFile: entry.shown.offer.portalFile == nil ? nil : true,
                        secondsRemaining: max(0, Int((entry.shown.ends - now).components.seconds)))
                }
            },
            made: made.map(\.status), notices: notices)
    }

    private func peer(_ id: PeerID) -> PeerStatus? { peers.first { $0.id == id }.map(PeerStatus.init) }

    func show(_ call: ServerCall, _ wishes: CompanionStatusParameters) {
        guard call.wantsMore else { return call.reply(status) }
        let id = ObjectIdentifier(call)
        statusWatchers[id] = (call, wishes)
        call.onCancel = { [weak self] in
            self?.statusWatchers[id] = nil
            self?.wishesChanged()
        }
        call.replyMore(status)
        wishesChanged()
    }

    private func wishesChanged() {
        handle(.offerAwaited(statusWatchers.values.contains { $0.wishes.awaitsOffers == true }))
        handle(.listeningChanged(statusWatchers.values.contains { $0.wishes.awaitsQuestions == true }))
    }

    /// Sends the status to the clients that watch it.
    func changed() {
        guard !statusWatchers.isEmpty else { return }
        let octets = Coding.encode(status)
        for (call, _) in statusWatchers.values { call.replyMore(encoded: octets) }
    }

    // MARK: Peers

    private func find(_ text: String) throws(CompanionFault) -> Peer { try Self.find(text, among: peers) }

    /// Returns the peer with this identifier or name, or the peer whose identifier begins with the text. Looks for a whole identifier before
    /// names, because peers choose their names.
    nonisolated static func find(_ text: String, among peers: [Peer]) throws(CompanionFault) -> Peer {
        if let peer = peers.first(where: { $0.id.description == text.lowercased() }) { return peer }
        let named = peers.filter { $0.name == text }
        let found =
            named.isEmpty && text.utf8.count >= 4 ? peers.filter { $0.id.description.hasPrefix(text.lowercased()) } : named
        guard found.count < 2 else { throw .severalPeers(Printable.text(text, limit: 64)) }
        guard let peer = found.first else { throw .noSuchPeer(Printable.text(text, limit: 64)) }
        return peer
    }

    /// Throws while nothing can be sent or received.
    private func requireRadio() throws(CompanionFault) {
        if let message = state.message { throw .failed("\(message).") }
    }

    func pair(_ call: ServerCall, code: String?) throws(CompanionFault) {
        try requireRadio()
        guard call.wantsMore else { throw .failed("Pairing sends several replies: call it with more.") }
        // Expires an old code first, because its notice belongs to the earlier call.
        let now = catchUp()
        pairingCall?.fail(.failed("Another pairing began."))
        pairingCall = call
        call.onCancel = { [weak self, weak call] in
            guard let self, let call, pairingCall === call else { return }
            pairingCall = nil
            handle(.pairingCancelled)
            changed()
        }
        handle(code.map { .codeEntered(SecretText($0)) } ?? .pairingBegan, at: now)
        if pairingCall === call { changed() }
    }

    func forget(_ call: ServerCall, _ text: String) throws(CompanionFault) {
        let peer = try find(text)
        // Ends the offers for this peer together with the pairing.
        for entry in made where entry.peer.id == peer.id { finish(entry, "\"\(peer.name)\" was forgotten.") }
        handle(.forgotten(peer.id))
        questions.removeAll { $0.key.peer == peer.id }
        offers.removeAll { $0.key.peer == peer.id }
        changed()
        call.reply(ForgottenReply(peer: PeerStatus(peer)))
    }

    // MARK: Own offers

    func share(_ call: ServerCall, _ parameters: ShareParameters) throws(CompanionFault) {
        try requireRadio()
        guard let network = NetworkID(key: parameters.network) else { return call.failInvalidParameter("network") }
        let receivers = try parameters.peer.map { text throws(CompanionFault) in [try find(text)] } ?? peers
        guard !receivers.isEmpty else { throw .failed("No laptop is paired. Pair one first: hotspotctl companion pair") }
        _ = catchUp()
        let others = made.filter { entry in !receivers.contains { $0.id == entry.peer.id } }
        guard others.count + receivers.count <= Companion.offerLimit else {
            throw .failed(
                "A login can be offered to \(Companion.offerLimit) laptops at a time. Name one: "
                    + "hotspotctl companion share NETWORK LAPTOP")
        }
        let portal = Portal(origin: parameters.portal, pin: parameters.portalKey, kind: parameters.kind ?? "unknown")
        var sent: [MadeOffer] = []
        for peer in receivers {
            for old in made where old.peer.id == peer.id {
                finish(old, "Another login is offered to \"\(peer.name)\".")
                handle(.offerCancelled(id: old.offer.id))
            }
            let offer = Offer(
                id: Self.newID(), network: network, portal: portal,
                answers: parameters.answers.mapValues(SecretText.init), portalFile: parameters.portalFile,
                seconds: parameters.seconds ?? 3600)
            let entry = MadeOffer(offer: offer, peer: peer, ends: clock() + .seconds(offer.seconds))
            made.append(entry)
            guard !handle(.offerMade(offer, to: peer.id)).contains(.notify(.notSent)) else {
                made.removeAll { $0.offer.id == offer.id }
                throw .failed(Companion.Notice.notSent.message)
            }
            sent.append(entry)
        }
        changed()
        let reply = ShareReply(offers: sent.map(\.status))
        guard call.wantsMore else { return call.reply(reply) }
        let id = ObjectIdentifier(call)
        sharing[id] = (call, Set(sent.map(\.offer.id)))
        // Withdraws the offers when the client ends the call.
        call.onCancel = { [weak self] in
            guard let self, let ids = sharing.removeValue(forKey: id)?.ids else { return }
            for offer in ids { withdraw(offer) }
        }
        call.replyMore(reply)
    }

    private func withdraw(_ id: String) {
        made.removeAll { $0.offer.id == id }
        handle(.offerCancelled(id: id))
        changed()
    }

    func withdraw(_ call: ServerCall, _ id: String) throws(CompanionFault) {
        guard let entry = made.first(where: { $0.offer.id == id }) else { throw .noSuchOffer(Printable.text(id, limit: 64)) }
        finish(entry, "The offer was withdrawn.")
        withdraw(id)
        call.reply()
    }

    /// Ends one of our own offers.
    private func finish(_ entry: MadeOffer, _ message: String, isTaken: Bool = false) {
        made.removeAll { $0.offer.id == entry.offer.id }
        for (id, waiting) in sharing where waiting.ids.contains(entry.offer.id) {
            let rest = waiting.ids.subtracting([entry.offer.id])
            let reply = ShareReply(offers: [entry.status], notice: message, taken: isTaken ? true : nil)
            sharing[id] = rest.isEmpty ? nil : (waiting.call, rest)
            rest.isEmpty ? waiting.call.reply(reply) : waiting.call.replyMore(reply)
        }
    }

    // MARK: Questions and offers of peers

    func answer(_ call: ServerCall, _ parameters: PeerAnswerParameters) throws(CompanionFault) {
        let peer = try find(parameters.peer)
        guard questions.contains(where: { $0.key == Key(peer: peer.id, id: parameters.id) }) else {
            throw .noSuchQuestion(Printable.text(parameters.id, limit: 64))
        }
        let values = parameters.answers.mapValues(SecretText.init)
        for case .notify(let notice) in handle(.questionAnswered(id: parameters.id, of: peer.id, values)) {
            throw .failed(notice.message)
        }
        call.reply()
    }

    func decide(_ call: ServerCall, _ parameters: DecideParameters) throws(CompanionFault) {
        // Ends offers whose time is over, so that they cannot be accepted.
        _ = catchUp()
        let peer = try find(parameters.peer)
        guard let entry = offers.first(where: { $0.key.peer == peer.id && $0.shown.name == parameters.id }) else {
            throw .noSuchOffer(Printable.text(parameters.id, limit: 64))
        }
        let key = entry.key
        // Chooses the place of the offer, because this laptop may be in several networks.
        if parameters.accept, let place = place(for: entry.shown.offer) { handle(.placeChanged(place)) }
        offers.removeAll { $0.key == key }
        deciding[key] = call
        let actions = handle(.offerDecided(entry.shown.offer, of: peer.id, isAccepted: parameters.accept))
        changed()
        let isStored = actions.contains { if case .storeOffer = $0 { true } else { false } }
        // The user's call ends later, with the daemon's reply.
        guard !isStored else { return }
        deciding[key] = nil
        for case .notify(let notice) in actions { throw .failed(notice.message) }
        call.reply(DecideReply())
    }

    // MARK: Notices

    /// Reports a notice to the calls that wait for it.
    func inform(of notice: Companion.Notice) {
        switch notice {
        case .paired(let peer):
            endPairing { $0.reply(PairReply(peer: PeerStatus(peer))) }
        case .wrongCode: pairingCall?.replyMore(PairReply(notice: notice.message))
        case .codeSpent, .codeExpired, .codeInvalid, .peersFull: endPairing { $0.fail(.failed(notice.message)) }
        case .offerTaken(let peer):
            for entry in made where entry.peer.id == peer.id { finish(entry, notice.message, isTaken: true) }
        case .offerRefused(let peer, _):
            for entry in made where entry.peer.id == peer.id { finish(entry, notice.message) }
        case .offerExpired(let peer):
            // Checks the time, because the notice may also be about an offer that the peer made.
            for entry in made where entry.peer.id == peer.id && entry.ends <= clock() { finish(entry, notice.message) }
        case .unknownPeer(let peer):
            let ids = Set(made.filter { $0.peer.id == peer.id }.map(\.offer.id))
            for (call, own) in sharing.values where !own.isDisjoint(with: ids) {
                call.replyMore(ShareReply(offers: [], notice: notice.message))
            }
        case .noneRecognised:
            for (call, _) in sharing.values { call.replyMore(ShareReply(offers: [], notice: notice.message)) }
        case .notConnected, .notSent, .otherPortal: break
        }
    }

    private func endPairing(_ tell: (ServerCall) -> Void) {
        guard let call = pairingCall else { return }
        pairingCall = nil
        tell(call)
    }
}

extension CompanionService.MadeOffer {
    fileprivate var status: MadeStatus {
        MadeStatus(id: offer.id, peer: PeerStatus(peer), ssid: offer.network.label, portal: offer.portal.origin)
    }
}

extension PeerStatus {
    init(_ peer: Peer) { self.init(name: peer.name, id: peer.id.description) }
}

extension CompanionTransportState {
    /// The contract's word for the state.
    var word: String {
        switch self {
        case .ready: "ready"
        case .noService: "noService"
        case .noAdapter: "noAdapter"
        case .adapterOff: "adapterOff"
        }
    }
}
