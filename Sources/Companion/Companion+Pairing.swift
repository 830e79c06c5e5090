import Answers
import CSodium
import HotspotCore
import Vault

/// The code that two people read to each other, and the tries with it.
final class PairingCode {
    enum Side { case shown, entered }

    static let digits = 8
    static let time = Duration.seconds(120)
    static let tries = 3

    let side: Side
    let code: SecretBytes
    let ends: Instant
    /// On the side that shows the code, the number of wrong tries. On the other side, the number of all tries, because each try tells an impostor
    /// whether its guess is right.
    var tries = 0

    /// - Parameter digits: eight ASCII digits.
    init(_ digits: [UInt8], _ side: Side, at now: Instant) throws(CompanionError) {
        code = try .copy(of: digits)
        self.side = side
        ends = now + Self.time
    }
}

extension Companion {
    mutating func showCode() {
        endPairing()
        guard hasCapacity else { return }
        let number = String(randombytes_uniform(100_000_000))
        let digits = String(repeating: "0", count: PairingCode.digits - number.utf8.count) + number
        guard let code = try? PairingCode(Array(digits.utf8), .shown, at: now) else { return actions.append(.notify(.notSent)) }
        pairing = code
        actions.append(.showCode(SecretText(digits)))
    }

    mutating func enter(_ text: SecretText) {
        endPairing()
        guard hasCapacity else { return }
        let digits = text.text.utf8.filter { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        let others = text.text.utf8.count - digits.count
        guard digits.count == PairingCode.digits, others == text.text.utf8.filter({ $0 == 0x20 || $0 == 0x2D }).count,
            let code = try? PairingCode(digits, .entered, at: now)
        else { return actions.append(.notify(.codeInvalid)) }
        pairing = code
    }

    private var hasCapacity: Bool {
        mutating get {
            guard peers.count < Self.peerLimit else {
                actions.append(.notify(.peersFull))
                return false
            }
            return true
        }
    }

    /// Ends the code, and every pairing that has not finished yet.
    mutating func endPairing(_ notice: Notice? = nil) {
        guard pairing != nil else { return }
        pairing = nil
        if let notice { actions.append(.notify(notice)) }
        for link in links.values {
            switch link.phase {
            case .pairing: close(link)
            // Keeps a session that the pairing began: the code was right, and the peer's last message is on its way.
            case .greeting, .opening, .session, .renewing: break
            }
        }
    }

    /// Counts a try. On the side that shows the code, the third wrong try ends the code.
    private mutating func countTry() {
        guard let pairing else { return }
        pairing.tries += 1
        if pairing.tries >= PairingCode.tries, pairing.side == .shown { endPairing(.codeSpent) }
    }

    /// Begins a pairing, as the central.
    mutating func beginPairing(on link: PeerLink) throws(CompanionError) {
        guard let pairing, pairing.tries < PairingCode.tries else {
            endPairing(.codeSpent)
            return close(link)
        }
        let run = PairingRun(isInitiator: true)
        link.phase = .pairing(run)
        try send(.pairHello, run.session + Array(name.utf8), on: link)
    }

    /// Answers with this laptop's own share, if this laptop is the peripheral and shows a code.
    mutating func answerPairing(_ data: [UInt8], on link: PeerLink) throws(CompanionError) {
        guard case .greeting = link.phase, link.role == .peripheral else { throw .unexpected }
        guard let pairing, pairing.side == .shown else { return try send(.pairRefused, [], on: link) }
        let peer = try Self.partner(data, after: 16)
        let run = PairingRun(isInitiator: false)
        let share = try run.share(code: pairing.code, peer: peer, name: name)
        link.phase = .pairing(run)
        try send(.pairShare, run.session + share + Array(name.utf8), on: link)
    }

    /// Handles the messages of a pairing after the first one.
    mutating func pair(_ kind: ClearMessage, _ data: [UInt8], on link: PeerLink) throws(CompanionError) {
        guard case .pairing(let run) = link.phase, let pairing else { throw .unexpected }
        switch (kind, run.isInitiator) {
        case (.pairShare, true):
            let peer = try Self.partner(data, after: 48)
            let own = try run.share(code: pairing.code, peer: peer, name: name)
            try run.begin(with: Array(data[16..<48]), own: keys)
            let message = try run.write(own: keys)
            countTry()
            try send(.pairKey, own + message, on: link)
        case (.pairKey, false):
            guard data.count > 32, !run.hasBegun else { throw .malformed }
            do throws(CompanionError) {
                try run.begin(with: Array(data[..<32]), own: keys)
                try run.read(Array(data[32...]), own: keys)
            } catch {
                link.phase = .greeting
                try send(.pairRefused, [], on: link)
                actions.append(.notify(.wrongCode))
                return countTry()
            }
            try send(.pairReply, try run.write(own: keys), on: link)
        case (.pairReply, true):
            do throws(CompanionError) { try run.read(data, own: keys) } catch { return failEntered(on: link, pairing) }
            try send(.pairFinish, try run.write(own: keys), on: link)
            try start(try run.finish(own: keys, at: now), on: link)
        case (.pairFinish, false):
            try run.read(data, own: keys)
            let session = try run.finish(own: keys, at: now)
            session.isProven = true
            try start(session, on: link)
            store(session)
        case (.pairRefused, true):
            // Before the other laptop's share, a refusal only means that the other laptop shows no code: it is not a wrong code.
            run.hasBegun ? failEntered(on: link, pairing) : close(link)
        default: throw .unexpected
        }
    }

    private mutating func failEntered(on link: PeerLink, _ pairing: PairingCode) {
        close(link)
        actions.append(.notify(.wrongCode))
        if pairing.tries >= PairingCode.tries { endPairing(.codeSpent) }
    }

    /// Stores the peer of a pairing that has succeeded: both sides have the other's key.
    mutating func store(_ session: LinkSession) {
        guard let peer = session.pairing else { return }
        session.pairing = nil
        endPairing()
        if let index = peers.firstIndex(where: { $0.id == peer.id }) {
            peers[index] = peer
        } else {
            peers.append(peer)
        }
        actions += [.storePeer(peer), .notify(.paired(peer))]
    }

    /// Reads the other side's session identifier and name.
    private static func partner(_ data: [UInt8], after count: Int) throws(CompanionError) -> (session: [UInt8], name: String) {
        guard data.count > count, let name = String(validating: data[count...], as: UTF8.self),
            Limits.isPrintable(name, Limits.name)
        else { throw .malformed }
        return (Array(data[..<16]), name)
    }

    mutating func forget(_ peer: PeerID) {
        guard peers.contains(where: { $0.id == peer }) else { return }
        peers.removeAll { $0.id == peer }
        made.removeAll { $0.peer == peer }
        received.filter { $0.peer == peer }.forEach { actions.append(.hideOffer(id: $0.offer.id, from: peer)) }
        received.removeAll { $0.peer == peer }
        storing.removeAll { $0.peer == peer }
        decisions.removeAll { $0.peer == peer }
        shown.removeValue(forKey: peer)?.forEach { actions.append(.hideQuestion(id: $0.id, from: peer)) }
        actions.append(.removePeer(peer))
        for link in links.values where link.session?.peer == peer { close(link) }
        suspended[peer] = nil
        unknown.remove(peer)
    }
}
