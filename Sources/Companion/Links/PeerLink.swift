import HotspotCore

/// A Bluetooth LE connection, or a fake in tests: two channels of chunks with their queues.
final class PeerLink {
    enum Phase {
        /// Nothing is agreed yet.
        case greeting
        case pairing(PairingRun)
        /// The central has sent its hello.
        case opening(OpeningRun)
        case session(LinkSession)
        /// The session is an hour old, and the central has begun another.
        case renewing(LinkSession, OpeningRun)
    }

    /// The L2CAP channel beside the two channels of GATT.
    enum L2CAP: Hashable {
        case none
        /// The other laptop, the peripheral, accepts an L2CAP channel.
        case offered
        /// The channel is being opened, or its first packet has not come: any program of the other laptop may have opened it.
        case opening(until: Instant)
        /// The first packet has proven that the session's peer has the channel.
        case open
        /// The channel has failed or ended. A link never opens a second channel.
        case over
    }

    /// The time for a handshake.
    static let handshakeTime = Duration.seconds(20)
    /// The time without a grant after which chunks are sent again.
    static let repeatTime = Duration.seconds(5)
    /// The time until the first packet of an L2CAP channel. The kernel's own time-out, for the opening alone, is 40 s.
    static let l2capTime = Duration.seconds(5)
    static let clearLimit = 16
    static let queueLimit = 64
    static let outboxLimit = 32

    let id: PeerLinkID
    let role: Role
    var limit: Int
    var phase = Phase.greeting
    var opened: Instant
    /// The number of messages that came unencrypted: a stranger may send only a few.
    var clearCount = 0

    var control = ChunkReader(limit: Frame.window * (Frame.chunkLimit - 1))
    private var controlNumber: UInt8 = 0
    /// Chunks that wait for the one before them to be written.
    private(set) var queue: ArraySlice<[UInt8]> = []
    private(set) var isWriting = false

    /// Messages that wait for the session, or for the bulk message before them.
    var outbox: [Message] = []
    /// Whether the peer has said which part of the earlier session's message it holds.
    var hasBegun = false
    var sender: BulkSender?
    var l2cap = L2CAP.none
    /// The time at which ``sender`` last sent a chunk or received a grant.
    var sent: Instant
    var receiver = BulkReceiver()
    /// ``receiver`` at the last position that the peer knows. ``goBack()`` restores it when an L2CAP channel fails.
    private var granted = BulkReceiver()
    /// The number of the next chunk in bulk, while there is no ``sender``.
    var bulkNumber: UInt8 = 0
    /// The session of the frame in ``receiver``, if that is an earlier session.
    var earlier: LinkSession?

    init(_ id: PeerLinkID, role: Role, mtu: Int, at now: Instant) {
        (self.id, self.role, limit) = (id, role, Frame.chunkLimit(mtu: mtu))
        (opened, sent) = (now, now)
    }

    var session: LinkSession? {
        switch phase {
        case .greeting, .pairing, .opening: nil
        case .session(let session), .renewing(let session, _): session
        }
    }

    /// Cuts a frame into chunks for the control channel. Throws ``CompanionError/tooLarge`` if the peer requests more answers than it reads.
    func enqueue(_ frame: Frame) throws(CompanionError) {
        let chunks = frame.chunks(limit: limit, first: controlNumber)
        guard queue.count + chunks.count <= Self.queueLimit else { throw .tooLarge }
        controlNumber = UInt8((Int(controlNumber) + chunks.count) % Int(Frame.numbers))
        queue += chunks
    }

    /// Returns the next chunk, if the one before it was written.
    func next() -> [UInt8]? {
        guard !isWriting, let chunk = queue.popFirst() else { return nil }
        isWriting = true
        return chunk
    }

    func written() { isWriting = false }

    func l2capOffered() { if role == .central, l2cap == .none { l2cap = .offered } }

    /// Whether a part of a bulk message has come.
    var hasPart: Bool { receiver.reader.key != nil }

    /// Whether the control channel's queue has space for further messages, besides the protocol's own.
    var hasSpace: Bool { queue.count <= Self.queueLimit - 3 * Frame.window }

    /// The result of a chunk that came in bulk.
    enum Part {
        case nothing
        /// Move the peer's window.
        case grant
        /// Ask for a lost chunk and the ones after it.
        case again
        /// A message's octets, and the position after it.
        case message([UInt8], BulkPosition)
    }

    /// Reads a chunk, and opens the message that it completes. If this throws, ``receiver`` has changed, but no key has.
    func readBulk(_ chunk: [UInt8]) throws(CompanionError) -> Part {
        switch try receiver.read(chunk) {
        case .nothing: return .nothing
        case .grant: return .grant
        case .again: return .again
        case .whole(let frame):
            guard let holder = holder(of: frame.key) else { throw .notOpened }
            let place = BulkPosition(
                key: frame.key, message: holder.bulkIndex, offset: frame.octets.count, number: receiver.reader.number)
            let plain = try holder.openBulk(frame.data)
            (earlier, granted) = (nil, receiver)
            return .message(plain, place)
        }
    }

    /// Forgets the octets after the last position that the peer knows.
    func goBack() { receiver = granted }

    /// Returns the position up to which the peer's bulk data has arrived: within a message, or before the next one.
    func grant(in session: LinkSession) -> BulkPosition {
        granted = receiver
        granted.interrupt()
        let (reader, key) = (receiver.reader, receiver.reader.key)
        let holder = holder(of: key) ?? session
        return BulkPosition(
            key: holder.key, message: holder.bulkIndex, offset: holder.key == key ? reader.octets.count : 0,
            number: reader.number)
    }

    /// Returns the session that can open messages sealed with a key.
    func holder(of key: KeyID?) -> LinkSession? { [earlier, session].compactMap(\.self).first { $0.key == key } }

    /// The next time at which there is work to do.
    var deadline: Instant {
        var deadline: Instant
        switch phase {
        case .greeting, .pairing, .opening, .renewing: deadline = opened + Self.handshakeTime
        case .session(let session):
            let end = session.began + LinkSession.lifetime
            deadline = min(role == .central ? end : end + LinkSession.grace, session.keyed + LinkSession.rekeyInterval)
            // Until the peer has proven its identity, the handshake's time-out applies.
            if !session.isProven { deadline = min(deadline, opened + Self.handshakeTime) }
        }
        if case .opening(let end) = l2cap { return min(deadline, end) }
        return sender == nil ? deadline : min(deadline, sent + Self.repeatTime)
    }
}

/// The bulk messages of both directions that a lost link interrupted, kept until the peer is back.
struct Suspended {
    static let time = Duration.seconds(600)

    var sender: BulkSender?
    var receiver: BulkReceiver
    /// The session that opens the received part.
    var session: LinkSession
    var ends: Instant
}
