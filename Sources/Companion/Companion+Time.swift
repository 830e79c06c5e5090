import HotspotCore

extension Companion {
    /// Does all work whose time has come. A timer that fires late or without work does no harm.
    mutating func expire() {
        if let pairing, now >= pairing.ends { endPairing(.codeExpired) }
        for (peer, kept) in suspended where now >= kept.ends { suspended[peer] = nil }
        for old in made where now >= old.ends {
            made.removeAll { $0 == old }
            notifyOfEnd(old)
        }
        for old in received where now >= old.ends {
            received.removeAll { $0 == old }
            actions.append(.hideOffer(id: old.offer.id, from: old.peer))
            notifyOfEnd(old)
        }
        for link in links.values.sorted(by: { $0.id.number < $1.id.number }) where now >= link.deadline {
            attempt(on: link) { companion throws(CompanionError) in try companion.expire(link) }
        }
    }

    private mutating func notifyOfEnd(_ old: StandingOffer) {
        if let peer = peers.first(where: { $0.id == old.peer }) { actions.append(.notify(.offerExpired(peer))) }
    }

    private mutating func expire(_ link: PeerLink) throws(CompanionError) {
        switch link.phase {
        case .greeting, .pairing, .opening, .renewing:
            if now >= link.opened + PeerLink.handshakeTime { return close(link) }
        case .session(let session):
            if !session.isProven, now >= link.opened + PeerLink.handshakeTime { return close(link) }
            let end = session.began + LinkSession.lifetime
            switch link.role {
            case .central: if now >= end { return try renew(session, on: link) }
            case .peripheral: if now >= end + LinkSession.grace { return close(link) }
            }
            // Any sealed message can announce the next key, so an empty message is enough.
            if now >= session.keyed + LinkSession.rekeyInterval { try sendControl(.idle, on: link, session) }
        }
        if case .opening(let end) = link.l2cap {
            if now >= end { endL2CAP(of: link) }
        } else if link.sender != nil, now >= link.sent + PeerLink.repeatTime {
            // Ends a channel without progress, because BlueZ's own channel may receive its packets: see `L2CAP.isSound`.
            if link.l2cap == .open, link.sender?.isLong == true { return endL2CAP(of: link) }
            try link.sender?.repeatChunks()
            link.sent = now
        }
    }

    /// The time of the next ``Action/setTimer(_:)``.
    var nextDeadline: Instant? {
        var deadlines = links.values.map(\.deadline) + suspended.values.map(\.ends)
        deadlines += made.map(\.ends) + received.map(\.ends)
        if let pairing { deadlines.append(pairing.ends) }
        return deadlines.min()
    }
}
