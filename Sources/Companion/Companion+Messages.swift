import Answers
import HotspotCore

extension Companion {
    mutating func handle(_ message: Message, of session: LinkSession, on link: PeerLink) throws(CompanionError) {
        let peer = session.peer
        // Refuses messages of a peer that is not stored: another pairing finished first, or the user forgot the peer in the
        // meantime.
        guard peers.contains(where: { $0.id == peer }) else { throw .unexpected }
        switch message {
        case .began(let place): try goOn(at: place, of: session, on: link)
        case .granted(let place): try grant(place, again: false, on: link)
        case .missed(let place): try grant(place, again: true, on: link)
        case .idle: break
        case .question(let question): show(question, from: peer)
        case .answer(let id, let values): accept(values, for: id, from: peer)
        case .withdrawn(let id): hide(id, from: peer)
        case .offer(let offer): show(offer, from: peer, on: link)
        case .taken(let id): finish(id, with: peer, nil)
        case .refused(let id, let reason): finish(id, with: peer, reason)
        }
        guard link.outbox.count <= PeerLink.outboxLimit else { throw .tooLarge }
    }

    // MARK: Bulk

    /// Handles the peer's first message: continues a message that a lost link interrupted, and repeats waiting questions and offers.
    private mutating func goOn(at place: BulkPosition, of session: LinkSession, on link: PeerLink) throws(CompanionError) {
        guard !link.hasBegun else { throw .unexpected }
        link.hasBegun = true
        link.bulkNumber = place.number
        var waiting = standing(for: session.peer)
        if var sender = suspended.removeValue(forKey: session.peer)?.sender, isStanding(sender.message, waiting),
            sender.resume(at: place)
        {
            waiting.removeAll { $0 == sender.message }
            link.sender = sender
            link.sent = now
        }
        // Drops waiting questions and offers, because `standing(for:)` has returned those that are still valid.
        link.outbox =
            waiting
            + link.outbox.filter { message in
                switch message {
                case .question, .offer, .withdrawn: false
                case .began, .granted, .missed, .idle, .answer, .taken, .refused: !waiting.contains(message)
                }
            }
    }

    /// The messages that a peer gets at the beginning of each session.
    private func standing(for peer: PeerID) -> [Message] {
        endings.filter { $0.peer == nil || $0.peer == peer }.map(\.message) + questions.map { .question($0) }
            + made.filter { $0.peer == peer }.map { .offer($0.offer) }
    }

    private func isStanding(_ message: Message, _ standing: [Message]) -> Bool {
        switch message {
        case .question, .offer: standing.contains(message)
        case .began, .granted, .missed, .idle, .answer, .withdrawn, .taken, .refused: true
        }
    }

    private mutating func grant(_ place: BulkPosition, again: Bool, on link: PeerLink) throws(CompanionError) {
        guard try link.sender?.grant(place, again: again) == true else { return }
        link.bulkNumber = link.sender?.nextNumber ?? 0
        link.sender = nil
    }

    /// Sends a message to a peer. Returns whether the peer is connected.
    @discardableResult private mutating func say(_ message: Message, to peer: PeerID) -> Bool {
        guard let link = links.values.first(where: { $0.session?.peer == peer && $0.session?.isProven == true }) else {
            return false
        }
        link.outbox.append(message)
        if link.outbox.count > PeerLink.outboxLimit { close(link) }
        return true
    }

    private func isSendable(_ message: Message) -> Bool { (try? message.encoded()) != nil }

    // MARK: Questions

    mutating func ask(_ question: PeerQuestion) {
        let question = question.limited
        questions.removeAll { $0.id == question.id }
        guard question.isValid, questions.count < Self.questionLimit, isSendable(.question(question)) else {
            return actions.append(.notify(.notSent))
        }
        questions.append(question)
        for peer in peers { say(.question(question), to: peer.id) }
    }

    mutating func withdraw(_ id: String, except answering: PeerID? = nil) {
        guard questions.contains(where: { $0.id == id }) else { return }
        questions.removeAll { $0.id == id }
        end(.withdrawn(id: id), for: nil)
        for peer in peers where peer.id != answering { say(.withdrawn(id: id), to: peer.id) }
    }

    /// Keeps the message that ends a question or an offer, to repeat it in later sessions: the peer may be away now. `nil` means
    /// all peers.
    private mutating func end(_ message: Message, for peer: PeerID?) {
        endings = (endings + [Ending(message: message, peer: peer)]).suffix(Self.decisionLimit)
    }

    private mutating func show(_ question: PeerQuestion, from peer: PeerID) {
        var shown = shown[peer] ?? []
        // The question is already shown: after a lost link, the peer sends it again.
        guard !shown.contains(question) else { return }
        shown.removeAll { $0.id == question.id }
        guard shown.count < Self.questionLimit else { return }
        self.shown[peer] = shown + [question]
        actions.append(.showQuestion(question, from: peer))
    }

    private mutating func hide(_ id: String, from peer: PeerID) {
        guard let index = shown[peer]?.firstIndex(where: { $0.id == id }) else { return }
        shown[peer]?.remove(at: index)
        actions.append(.hideQuestion(id: id, from: peer))
    }

    mutating func answer(_ id: String, of peer: PeerID, _ values: [String: SecretText]) {
        guard let question = shown[peer]?.first(where: { $0.id == id }), let known = peers.first(where: { $0.id == peer }) else {
            return
        }
        guard Limits.areAnswers(values.texts), Self.areAnswers(values, to: question) else {
            return actions.append(.notify(.notSent))
        }
        // Answers are not kept for a peer that has gone away: it asks again when it returns.
        guard say(.answer(id: id, values), to: peer) else { return actions.append(.notify(.notConnected(known))) }
        hide(id, from: peer)
    }

    /// Returns whether each answer is for a field of the question.
    private static func areAnswers(_ values: [String: SecretText], to question: PeerQuestion) -> Bool {
        Set(values.keys).isSubset(of: question.hearsay.fields.map(\.name))
    }

    private mutating func accept(_ values: [String: SecretText], for id: String, from peer: PeerID) {
        // Ignores answers if the question has just been answered on this machine or by another peer.
        guard let question = questions.first(where: { $0.id == id }), Self.areAnswers(values, to: question) else { return }
        withdraw(id, except: peer)
        actions.append(.answerPrompt(id: id, values, from: peer))
    }

    // MARK: Offers

    mutating func make(_ offer: Offer, for peer: PeerID) {
        cancelOffer(offer.id)
        guard peers.contains(where: { $0.id == peer }), offer.isValid, made.count < Self.offerLimit, isSendable(.offer(offer))
        else {
            return actions.append(.notify(.notSent))
        }
        made.append(StandingOffer(offer: offer, peer: peer, ends: now + .seconds(offer.seconds)))
        say(.offer(offer), to: peer)
    }

    /// Ends one of our own offers, and tells the peer that received it.
    mutating func cancelOffer(_ id: String) {
        guard let index = made.firstIndex(where: { $0.offer.id == id }) else { return }
        let peer = made.remove(at: index).peer
        end(.refused(id: id, .expired), for: peer)
        say(.refused(id: id, .expired), to: peer)
    }

    private mutating func show(_ offer: Offer, from peer: PeerID, on link: PeerLink) {
        if let decision = decisions.last(where: { $0.peer == peer && $0.id == offer.id }) {
            return link.outbox.append(decision.message)
        }
        if received.contains(where: { $0.peer == peer && $0.offer == offer }) { return }
        // Ignores the repetition of an offer that the user has accepted; the outcome follows.
        if storing.contains(where: { $0.peer == peer && $0.offer.id == offer.id }) { return }
        // Each peer may have one waiting offer; a newer offer replaces it.
        for old in received where old.peer == peer { actions.append(.hideOffer(id: old.offer.id, from: peer)) }
        received.removeAll { $0.peer == peer }
        received.append(StandingOffer(offer: offer, peer: peer, ends: now + .seconds(offer.seconds)))
        actions.append(.showOffer(offer, from: peer))
    }

    mutating func decide(_ offer: Offer, of peer: PeerID, isAccepted: Bool) {
        guard let index = received.firstIndex(where: { $0.peer == peer && $0.offer == offer }),
            let known = peers.first(where: { $0.id == peer })
        else { return }
        let entry = received.remove(at: index)
        if !isAccepted {
            conclude(.refused(id: offer.id, .declined), about: offer.id, with: peer)
        } else if let place, offer.isFor(place) {
            storing.append(entry)
            actions.append(.storeOffer(offer, from: peer))
        } else {
            conclude(.refused(id: offer.id, .otherPortal), about: offer.id, with: peer)
            actions.append(.notify(.otherPortal(known)))
        }
    }

    mutating func finishStoring(_ id: String, of peer: PeerID, isStored: Bool) {
        guard let index = storing.firstIndex(where: { $0.peer == peer && $0.offer.id == id }) else { return }
        storing.remove(at: index)
        conclude(isStored ? .taken(id: id) : .refused(id: id, .notStored), about: id, with: peer)
    }

    /// Tells the peer the outcome of its offer, now and each time that the peer sends the offer again.
    private mutating func conclude(_ message: Message, about id: String, with peer: PeerID) {
        decisions = (decisions + [Decision(id: id, peer: peer, message: message)]).suffix(Self.decisionLimit)
        say(message, to: peer)
    }

    /// Handles the peer's decision on one of our offers, or the end of one of the peer's own offers.
    private mutating func finish(_ id: String, with peer: PeerID, _ refusal: OfferRefusal?) {
        guard let known = peers.first(where: { $0.id == peer }) else { return }
        if let index = received.firstIndex(where: { $0.peer == peer && $0.offer.id == id }), refusal != nil {
            received.remove(at: index)
            return actions.append(.hideOffer(id: id, from: peer))
        }
        guard let index = made.firstIndex(where: { $0.peer == peer && $0.offer.id == id }) else { return }
        made.remove(at: index)
        actions.append(.notify(refusal.map { .offerRefused(known, $0) } ?? .offerTaken(known)))
    }
}
