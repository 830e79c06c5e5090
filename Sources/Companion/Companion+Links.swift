import HotspotCore
import Vault

extension Companion {
    mutating func open(_ id: PeerLinkID, _ role: Role, mtu: Int) {
        guard links[id] == nil, links.count < Self.linkLimit else { return actions.append(.close(id)) }
        let link = PeerLink(id, role: role, mtu: mtu, at: now)
        links[id] = link
        guard role == .central else { return }
        attempt(on: link) { companion throws(CompanionError) in
            if companion.pairing?.side == .entered {
                try companion.beginPairing(on: link)
            } else {
                try companion.openSession(on: link, tried: [])
            }
        }
    }

    /// Runs `work` on a link, and closes the link if the peer broke the rules or the radio lost data.
    mutating func attempt(on link: PeerLink, _ work: (inout Self) throws(CompanionError) -> Void) {
        do throws(CompanionError) { try work(&self) } catch { close(link) }
    }

    /// Ends a link from this side. Unfinished messages wait for the peer's return.
    mutating func close(_ link: PeerLink) {
        guard links[link.id] === link else { return }
        actions.append(.close(link.id))
        drop(link.id)
    }

    mutating func drop(_ id: PeerLinkID) {
        guard let link = links.removeValue(forKey: id), let session = link.session, session.isProven else { return }
        suspend(link, session)
    }

    /// Keeps the unfinished bulk messages of a session that ends.
    private mutating func suspend(_ link: PeerLink, _ session: LinkSession) {
        guard peers.contains(where: { $0.id == session.peer }) else { return }
        guard link.sender != nil || link.hasPart else { return }
        link.receiver.interrupt()
        suspended[session.peer] = Suspended(
            sender: link.sender, receiver: link.receiver, session: link.holder(of: link.receiver.reader.key) ?? session,
            ends: now + Suspended.time)
    }

    // MARK: Chunks and frames

    mutating func receive(_ chunk: [UInt8], on channel: Channel, of id: PeerLinkID) {
        guard let link = links[id] else { return }
        attempt(on: link) { companion throws(CompanionError) in
            switch channel {
            case .control: try companion.receiveControl(chunk, on: link)
            case .bulk: try companion.receiveBulk(chunk, over: .bulk, on: link)
            case .l2cap: try companion.receiveL2CAP(chunk, on: link)
            }
        }
    }

    private mutating func receiveControl(_ chunk: [UInt8], on link: PeerLink) throws(CompanionError) {
        switch link.control.read(chunk) {
        case .more, .doubled: break
        // The link layer normally keeps the order of chunks. After a lost chunk, only another session helps, so this closes the
        // link.
        case .lost: throw .chunkLost
        case .malformed: throw .malformed
        case .whole(let frame) where frame.key == .clear: try receiveClear(frame.data, on: link)
        case .whole(let frame):
            // Ignores a frame under another key, which belongs to a session that has ended.
            guard let session = link.session, frame.key == session.key else { return }
            let message = try session.open(frame.data)
            try prove(session, on: link)
            if let message { try handle(message, of: session, on: link) }
        }
    }

    private mutating func receiveClear(_ data: [UInt8], on link: PeerLink) throws(CompanionError) {
        link.clearCount += 1
        guard let kind = data.first.flatMap(ClearMessage.init), link.clearCount <= PeerLink.clearLimit else { throw .malformed }
        let body = Array(data.dropFirst())
        switch kind {
        case .pairHello: try answerPairing(body, on: link)
        case .pairShare, .pairKey, .pairReply, .pairFinish, .pairRefused: try pair(kind, body, on: link)
        case .sessionHello: try answerSession(body, on: link)
        case .sessionReply: try finishOpening(body, on: link)
        case .unknownPeer: try tryNext(on: link)
        }
    }

    private mutating func receiveBulk(_ chunk: [UInt8], over channel: Channel, on link: PeerLink) throws(CompanionError) {
        // Ignores messages in bulk before the session is proven: only paired peers may use memory.
        guard let session = link.session, session.isProven else { return }
        let part: PeerLink.Part
        do throws(CompanionError) { part = try link.readBulk(chunk) } catch {
            guard channel == .l2cap, error == .malformed || error == .notOpened else { throw error }
            endL2CAP(of: link)
            link.goBack()
            return try sendControl(.missed(link.grant(in: session)), on: link, session)
        }
        switch part {
        case .nothing: break
        case .grant: try sendControl(.granted(link.grant(in: session)), on: link, session)
        case .again: try sendControl(.missed(link.grant(in: session)), on: link, session)
        case .message(let octets, let place):
            let message = try Message.read(octets)
            try sendControl(.granted(place), on: link, session)
            if let message { try handle(message, of: session, on: link) }
        }
    }

    // MARK: Sessions

    /// Sends the hello, as the central, to the next candidate among the paired peers.
    private mutating func openSession(on link: PeerLink, tried: [PeerID]) throws(CompanionError) {
        guard let peer = candidates.first(where: { !tried.contains($0) }) else {
            reportUnknown(tried)
            return close(link)
        }
        let run = try OpeningRun(peer: peer, tried: tried, own: keys)
        link.phase = .opening(run)
        try send(.sessionHello, try run.hello(own: keys), on: link)
    }

    private mutating func tryNext(on link: PeerLink) throws(CompanionError) {
        switch link.phase {
        case .opening(let run): try openSession(on: link, tried: run.tried + [run.peer])
        // The peer has forgotten this machine since the session began.
        case .renewing(_, let run):
            reportUnknown([run.peer])
            close(link)
        // Ignores the message, because anyone can send it.
        case .greeting, .pairing, .session: break
        }
    }

    /// Reports only once that a laptop nearby did not recognise this laptop: the transport may find the same laptop again and
    /// again.
    private mutating func reportUnknown(_ tried: [PeerID]) {
        let known = peers.filter { tried.contains($0.id) }
        guard let peer = known.first(where: { !unknown.contains($0.id) }) else { return }
        unknown.formUnion(tried)
        actions.append(.notify(known.count == 1 ? .unknownPeer(peer) : .noneRecognised))
    }

    private mutating func answerSession(_ data: [UInt8], on link: PeerLink) throws(CompanionError) {
        guard link.role == .peripheral else { throw .unexpected }
        do throws(CompanionError) {
            var handshake = try Handshake(.session, isInitiator: false, prologue: OpeningRun.prologue, own: keys)
            guard try handshake.read(data, own: keys).isEmpty else { throw .malformed }
            let peer = PeerID(octets: handshake.remoteStatic)
            guard peers.contains(where: { $0.id == peer }) else { throw .notOpened }
            let reply = try handshake.write(own: keys)
            let key = handshake.name
            let session = try LinkSession(peer: peer, key: key, keys: try handshake.split(), at: now)
            try send(.sessionReply, reply, on: link)
            try start(session, on: link)
        } catch {
            guard error != .unavailable, error != .tooLarge else { throw error }
            try send(.unknownPeer, [], on: link)
        }
    }

    private mutating func finishOpening(_ data: [UInt8], on link: PeerLink) throws(CompanionError) {
        switch link.phase {
        case .opening(let run), .renewing(_, let run): try start(try run.session(reply: data, own: keys, at: now), on: link)
        case .greeting, .pairing, .session: throw .unexpected
        }
    }

    /// Begins another session on the same link, as the central.
    mutating func renew(_ session: LinkSession, on link: PeerLink) throws(CompanionError) {
        let run = try OpeningRun(peer: session.peer, tried: [], own: keys)
        link.phase = .renewing(session, run)
        link.opened = now
        try send(.sessionHello, try run.hello(own: keys), on: link)
    }

    /// Starts a session, which replaces the link's earlier session.
    mutating func start(_ session: LinkSession, on link: PeerLink) throws(CompanionError) {
        if let before = link.session, before.isProven { suspend(link, before) }
        link.phase = .session(session)
        link.opened = now
        (link.hasBegun, link.sender, link.earlier, link.bulkNumber) = (false, nil, nil, 0)
        link.receiver = BulkReceiver()
        if session.isProven { try begin(session, on: link) }
    }

    private mutating func prove(_ session: LinkSession, on link: PeerLink) throws(CompanionError) {
        guard !session.isProven else { return }
        session.isProven = true
        try begin(session, on: link)
        store(session)
    }

    /// Begins a session whose peer has proven that it holds the session's key: closes the peer's older link, and tells the peer which part of the
    /// earlier session's message has arrived. Only then may the peer send in bulk.
    private mutating func begin(_ session: LinkSession, on link: PeerLink) throws(CompanionError) {
        for other in links.values where other !== link && other.session?.peer == session.peer { close(other) }
        link.clearCount = 0
        unknown.remove(session.peer)
        if let kept = suspended[session.peer], kept.receiver.reader.key != nil {
            link.receiver = kept.receiver
            link.earlier = kept.session
        }
        try sendControl(.began(link.grant(in: session)), on: link, session)
        if link.l2cap == .offered { openL2CAP(on: link) }
    }

    // MARK: Sending

    mutating func send(_ kind: ClearMessage, _ data: [UInt8], on link: PeerLink) throws(CompanionError) {
        try link.enqueue(Frame(key: .clear, data: [kind.rawValue] + data))
    }

    /// Sends a message of the protocol itself, ahead of waiting messages.
    mutating func sendControl(_ message: Message, on link: PeerLink, _ session: LinkSession) throws(CompanionError) {
        guard let frame = try session.seal(message, limit: link.limit, at: now) else { throw .tooLarge }
        try link.enqueue(frame)
    }

    /// Sends waiting messages in order: no message overtakes a message in bulk.
    mutating func flush(_ link: PeerLink) throws(CompanionError) {
        guard case .session(let session) = link.phase, session.isProven, link.hasBegun else { return }
        while link.sender == nil, link.hasSpace, !link.outbox.isEmpty {
            let message = link.outbox.removeFirst()
            if let frame = try session.seal(message, limit: link.limit, at: now) {
                try link.enqueue(frame)
            } else {
                let (frame, index) = try session.sealBulk(message)
                link.sender = BulkSender(message, frame: frame, index: index, number: link.bulkNumber)
                link.sent = now
            }
        }
        guard link.sender != nil, let channel = bulkChannel(of: link) else { return }
        for chunk in link.sender?.chunks(limit: link.limit) ?? [] {
            link.sent = now
            actions.append(.send(link.id, channel, chunk))
        }
    }

    // MARK: L2CAP

    /// Opens the channel, as the central, as soon as the session is proven, without waiting for a long message: either side may send a
    /// long message later.
    private mutating func openL2CAP(on link: PeerLink) {
        link.l2cap = .opening(until: now + PeerLink.l2capTime)
        actions.append(.wantL2CAP(link.id, true))
    }

    /// Returns the channel for the chunks of the link's message in bulk, or `nil` while the L2CAP channel is being opened for them.
    private func bulkChannel(of link: PeerLink) -> Channel? {
        guard link.sender?.isLong == true else { return .bulk }
        return switch link.l2cap {
        case .none, .offered, .over: .bulk
        case .opening: nil
        case .open: .l2cap
        }
    }

    /// Begins the proof: the first packet in each direction proves the session. The central sends first, because the peripheral cannot know which
    /// program connected.
    mutating func l2capOpened(_ id: PeerLinkID) {
        guard let link = links[id] else { return }
        switch (link.role, link.l2cap) {
        case (.peripheral, .none): link.l2cap = .opening(until: now + PeerLink.l2capTime)
        case (.central, .opening): sendProof(on: link)
        // Closes the channel: another channel is already open, or this channel was opened too late.
        case (.peripheral, _), (.central, _): endL2CAP(of: link)
        }
    }

    private mutating func sendProof(on link: PeerLink) {
        if let session = link.session { actions.append(.send(link.id, .l2cap, session.proofs.own)) }
    }

    /// Handles a packet. A fault of the channel ends the channel, not the link.
    private mutating func receiveL2CAP(_ packet: [UInt8], on link: PeerLink) throws(CompanionError) {
        switch link.l2cap {
        // Ignores the packet, because the channel ended while the packet was on its way.
        case .none, .offered, .over: break
        case .opening:
            guard packet == link.session?.proofs.peer else { return endL2CAP(of: link) }
            if link.role == .peripheral { sendProof(on: link) }
            (link.l2cap, link.sent) = (.open, now)
            actions.append(.logL2CAP(link.id, isOpen: true))
        case .open: try receiveBulk(packet, over: .l2cap, on: link)
        }
    }

    /// Uses no L2CAP channel until the link ends: the chunks after the last grant go over GATT. A second channel is not tried, because BlueZ 5.66
    /// refuses it only after 40 s.
    mutating func l2capClosed(_ id: PeerLinkID) {
        guard let link = links[id] else { return }
        switch link.l2cap {
        case .none, .offered, .over: return
        case .opening: break
        case .open:
            actions.append(.logL2CAP(id, isOpen: false))
            if link.sender?.isLong == true { link.sender?.goBack() }
        }
        (link.l2cap, link.sent) = (.over, now)
    }

    mutating func endL2CAP(of link: PeerLink) {
        actions.append(.wantL2CAP(link.id, false))
        l2capClosed(link.id)
    }
}
