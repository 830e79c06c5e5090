import HotspotCore
import Vault

/// A session with a paired peer: the keys of its two channels, and the time of the control channel's last new key.
final class LinkSession {
    /// The longest use of one key.
    static let rekeyInterval = Duration.seconds(600)
    /// After this time the central begins a new session; the peripheral allows a little more time for that.
    static let lifetime = Duration.seconds(3600)
    static let grace = Duration.seconds(300)

    let peer: PeerID
    let key: KeyID
    let began: Instant
    private var control: CipherPair
    private var bulk: CipherPair
    /// The first packets of an L2CAP channel. Only the two laptops of the session can compute them.
    let proofs: (own: [UInt8], peer: [UInt8])
    private(set) var keyed: Instant
    /// Whether the peer has proven that it holds the session's key. Until then, the other side may be a stranger who repeats an old
    /// first message.
    var isProven = false
    /// The new peer, which is stored when its first message completes the pairing.
    var pairing: Peer?

    init(peer: PeerID, key: KeyID, keys: consuming CipherPair, at now: Instant) throws(CompanionError) {
        let purpose = "hotspotd companion bulk 1"
        bulk = CipherPair(
            sending: try keys.sending.derived(for: purpose), receiving: try keys.receiving.derived(for: purpose))
        let proof = "hotspotd companion L2CAP 1"
        var sending = try keys.sending.derived(for: proof)
        var receiving = try keys.receiving.derived(for: proof)
        proofs = (try sending.seal([]), try receiving.seal([]))
        control = keys
        (self.peer, self.key, began, keyed) = (peer, key, now, now)
    }

    /// Seals a message for the control channel, or returns `nil` if the message must go in bulk.
    ///
    /// - Parameter limit: the size of a chunk, in octets.
    func seal(_ message: Message, limit: Int, at now: Instant) throws(CompanionError) -> Frame? {
        var plain = try message.encoded()
        let length = Frame.headLength + plain.count + CipherState.tagLength
        guard length <= Frame.window * (limit - 1) else { return nil }
        let isLast = control.sending.count + 1 == CipherState.messageLimit || now - keyed >= Self.rekeyInterval
        if isLast { plain[0] |= 0x80 }
        let frame = Frame(key: key, data: try control.sending.seal(plain))
        if isLast {
            try control.sending.rekey()
            keyed = now
        }
        return frame
    }

    /// Opens a message of the control channel. Returns `nil` for a message of a later version.
    func open(_ data: [UInt8]) throws(CompanionError) -> Message? {
        var plain = try control.receiving.open(data)
        guard let type = plain.first else { throw .malformed }
        if type & 0x80 != 0 { try control.receiving.rekey() }
        plain[0] &= 0x7F
        return try Message.read(plain)
    }

    /// Seals a bulk message and returns it with its number; the bulk key changes after each message.
    func sealBulk(_ message: Message) throws(CompanionError) -> (Frame, index: UInt32) {
        let index = UInt32(truncatingIfNeeded: bulk.sending.number)
        let frame = Frame(key: key, data: try bulk.sending.seal(try message.encoded()))
        try bulk.sending.rekey()
        return (frame, index)
    }

    /// Returns the octets of a bulk message. If it throws ``CompanionError/notOpened``, the key is unchanged.
    func openBulk(_ data: [UInt8]) throws(CompanionError) -> [UInt8] {
        let plain = try bulk.receiving.open(data)
        try bulk.receiving.rekey()
        return plain
    }

    /// The number of the next bulk message.
    var bulkIndex: UInt32 { UInt32(truncatingIfNeeded: bulk.receiving.number) }
}

/// One side of a pairing on one link, from the first message to the session.
final class PairingRun {
    let isInitiator: Bool
    let session: [UInt8]
    private(set) var peerName = ""
    private var exchange: CPace?
    private var handshake: Handshake?

    init(isInitiator: Bool) {
        (self.isInitiator, session) = (isInitiator, randomOctets(16))
    }

    /// Makes our own share, now that both sides' identifiers and names are known.
    func share(code: borrowing SecretBytes, peer: (session: [UInt8], name: String), name: String) throws(CompanionError)
        -> [UInt8]
    {
        guard exchange == nil, handshake == nil else { throw .unexpected }
        peerName = peer.name
        let names = isInitiator ? [name, peer.name] : [peer.name, name]
        let pace = try CPace(
            code: code, channel: CPace.joined(names.map { Array($0.utf8) }),
            session: isInitiator ? session + peer.session : peer.session + session)
        let share = pace.share
        exchange = consume pace
        return share
    }

    /// Begins the handshake that exchanges the long-term keys; drops the code and the share.
    func begin(with share: [UInt8], own: borrowing KeyPair) throws(CompanionError) {
        guard let pace = exchange.take() else { throw .unexpected }
        let key = try pace.key(with: share, isInitiator: isInitiator)
        let prologue = Array("hotspotd companion pairing 1".utf8)
        handshake = try Handshake(
            .pairing, isInitiator: isInitiator, prologue: prologue, own: own, sharedKey: try key.hashed(for: prologue))
    }

    func write(own: borrowing KeyPair) throws(CompanionError) -> [UInt8] {
        guard handshake != nil else { throw .unexpected }
        return try handshake!.write(own: own)
    }

    func read(_ message: [UInt8], own: borrowing KeyPair) throws(CompanionError) {
        guard handshake != nil else { throw .unexpected }
        guard try handshake!.read(message, own: own).isEmpty else { throw .malformed }
    }

    /// Whether the peer has answered our share, so that the handshake has begun.
    var hasBegun: Bool { handshake != nil }

    /// Returns the session; its peer is not stored yet. Throws ``CompanionError/unexpected`` if the peer presents our own key.
    func finish(own: borrowing KeyPair, at now: Instant) throws(CompanionError) -> LinkSession {
        guard let done = handshake.take(), done.isDone else { throw .unexpected }
        let (id, key) = (PeerID(octets: done.remoteStatic), done.name)
        guard done.remoteStatic != own.publicKey else { throw .unexpected }
        let session = try LinkSession(peer: id, key: key, keys: try done.split(), at: now)
        session.pairing = Peer(id: id, name: peerName)
        return session
    }
}

/// The central's handshake with the other laptop, on the assumption that the other laptop is ``peer``.
final class OpeningRun {
    static let prologue = Array("hotspotd companion session 1".utf8)

    let peer: PeerID
    /// The peers that were tried before on this connection, without success.
    let tried: [PeerID]
    private var handshake: Handshake?

    init(peer: PeerID, tried: [PeerID], own: borrowing KeyPair) throws(CompanionError) {
        (self.peer, self.tried) = (peer, tried)
        handshake = try Handshake(
            .session, isInitiator: true, prologue: Self.prologue, own: own, remoteStatic: peer.octets)
    }

    func hello(own: borrowing KeyPair) throws(CompanionError) -> [UInt8] {
        guard handshake != nil else { throw .unexpected }
        return try handshake!.write(own: own)
    }

    func session(reply: [UInt8], own: borrowing KeyPair, at now: Instant) throws(CompanionError) -> LinkSession {
        guard var handshake = handshake.take() else { throw .unexpected }
        guard try handshake.read(reply, own: own).isEmpty else { throw .malformed }
        let name = handshake.name
        let session = try LinkSession(peer: peer, key: name, keys: try handshake.split(), at: now)
        session.isProven = true
        return session
    }
}
