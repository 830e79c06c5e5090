/// A position in a bulk message, as it is sent on the control channel.
struct BulkPosition: Hashable, Sendable {
    static let length = 13

    /// The key of the session that sealed the message.
    var key: KeyID
    /// The message's number under its key; 32 bits are enough.
    var message: UInt32
    /// The number of octets of the frame before this position.
    var offset: Int
    /// The number of the next chunk.
    var number: UInt8

    var octets: [UInt8] { key.octets + Self.octets(message) + Self.octets(UInt32(offset)) + [number] }

    init(key: KeyID, message: UInt32 = 0, offset: Int = 0, number: UInt8 = 0) {
        (self.key, self.message, self.offset, self.number) = (key, message, offset, number)
    }

    /// Returns `nil` for octets that do not encode a position.
    init?(octets: [UInt8]) {
        guard octets.count == Self.length, octets[12] < Frame.numbers else { return nil }
        func number(_ start: Int) -> UInt32 { KeyID(octets: octets[start..<start + 4]).number }
        key = KeyID(octets: octets[..<4])
        message = number(4)
        offset = Int(number(8))
        self.number = octets[12]
    }

    private static func octets(_ number: UInt32) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: number >> (24 - 8 * $0)) } }
}

/// A sealed bulk message that is being sent. It is kept until the peer has opened it, because octets that Bluetooth accepted may
/// still be lost.
struct BulkSender: Hashable, Sendable {
    /// The largest number of times that the same chunks are sent without progress.
    static let repeatLimit = 8
    /// The longest message that never uses an L2CAP channel, in octets.
    static let l2capThreshold = 16 * 1024

    let message: Message
    /// Whether the message may use an L2CAP channel.
    let isLong: Bool
    private let octets: [UInt8]
    /// The position up to which the peer has received everything.
    private var granted: BulkPosition
    /// The number of octets before the next chunk, and that chunk's number.
    private var (offset, number): (Int, UInt8)
    /// The number of octets that were sent at least once.
    private var furthest = 0
    private var repeats = 0

    init(_ message: Message, frame: Frame, index: UInt32, number: UInt8) {
        (self.message, octets) = (message, frame.octets)
        isLong = frame.data.count - CipherState.tagLength > Self.l2capThreshold
        granted = BulkPosition(key: frame.key, message: index, offset: 0, number: number)
        (offset, self.number) = (0, number)
    }

    var nextNumber: UInt8 { number }

    private var underWay: UInt8 { (number &- granted.number) & (Frame.numbers - 1) }

    /// Returns the chunks that the window allows.
    mutating func chunks(limit: Int) -> [[UInt8]] {
        var chunks: [[UInt8]] = []
        while underWay < Frame.window, offset < octets.count {
            chunks.append(Frame.chunk(of: octets, from: offset, number: number, limit: limit))
            offset = min(octets.count, offset + limit - 1)
            number = (number + 1) % Frame.numbers
        }
        furthest = max(furthest, offset)
        return chunks
    }

    /// Moves the window. Returns whether the peer has opened the whole message.
    ///
    /// - Parameter again: whether to send the octets after the position again.
    /// - Throws: ``CompanionError/malformed`` for a position that was not sent, ``CompanionError/chunkLost`` without progress.
    mutating func grant(_ place: BulkPosition, again: Bool) throws(CompanionError) -> Bool {
        // Ignores a late grant for an earlier message.
        guard place.key == granted.key, place.message == granted.message else { return false }
        let chunks = (place.number &- granted.number) & (Frame.numbers - 1)
        guard (granted.offset...furthest).contains(place.offset), chunks <= Frame.window else { throw .malformed }
        repeats = place.offset > granted.offset ? 0 : repeats + 1
        guard repeats <= Self.repeatLimit else { throw .chunkLost }
        granted = place
        // If the grant covers chunks that were about to be sent again, skips these chunks.
        if again || place.offset > offset { (offset, number) = (place.offset, place.number) }
        return place.offset == octets.count
    }

    /// Sends everything after the granted position again, because the peer was silent for a while.
    mutating func repeatChunks() throws(CompanionError) { _ = try grant(granted, again: true) }

    /// Goes back to the granted position, to send everything after it over another channel. Does not count as a repetition, because the peer did
    /// not fail.
    mutating func goBack() { (offset, number) = (granted.offset, granted.number) }

    /// Continues after a lost link, or returns `false` if the peer holds no part of this message.
    mutating func resume(at place: BulkPosition) -> Bool {
        guard place.key == granted.key, place.message == granted.message, (granted.offset...octets.count).contains(place.offset)
        else { return false }
        granted = place
        (offset, number, repeats) = (place.offset, place.number, 0)
        furthest = max(furthest, offset)
        return true
    }
}

/// The receiving side of a link's bulk channel.
struct BulkReceiver: Hashable, Sendable {
    /// A grant follows this number of chunks.
    static let step = Frame.window / 2

    private(set) var reader: ChunkReader
    private var chunks = 0
    private var hasAsked = false
    /// Chunks that arrived out of order, by number, within the window: BlueZ gives one connection several bearers (Bluetooth Core 5.4, volume 3, part
    /// F, 3.2.11), and the order between bearers is not guaranteed.
    private var ahead: [UInt8: [UInt8]] = [:]

    init(_ reader: ChunkReader = ChunkReader(limit: Frame.headLength + Frame.dataLimit)) { self.reader = reader }

    enum Outcome: Hashable, Sendable {
        case nothing
        /// Move the peer's window.
        case grant
        /// A chunk was lost: ask the peer to send it and the following ones again.
        case again
        case whole(Frame)
    }

    /// Notes that the link is lost: the peer repeats everything after the last complete part, perhaps in chunks of another size.
    mutating func interrupt() { (chunks, hasAsked, ahead) = (0, false, [:]) }

    /// Reads a chunk, and then the chunks after it that had arrived too early.
    mutating func read(_ chunk: [UInt8]) throws(CompanionError) -> Outcome {
        var outcome = try step(chunk)
        while let next = ahead.removeValue(forKey: reader.number) {
            switch (outcome, try step(next)) {
            case (_, .whole(let frame)): outcome = .whole(frame)
            case (_, .grant): outcome = .grant
            case (_, .nothing), (_, .again): break
            }
        }
        return outcome
    }

    private mutating func step(_ chunk: [UInt8]) throws(CompanionError) -> Outcome {
        switch reader.read(chunk) {
        case .more:
            hasAsked = false
            chunks += 1
            guard chunks >= Self.step else { return .nothing }
            chunks = 0
            return .grant
        case .whole(let frame):
            (chunks, hasAsked, ahead) = (0, false, [:])
            return .whole(frame)
        case .doubled: return .nothing
        case .lost:
            let number = chunk[0] & (Frame.numbers - 1)
            if (number &- reader.number) & (Frame.numbers - 1) < Frame.window { ahead[number] = chunk }
            // Asks only once for each gap, because more chunks after the gap are already on their way.
            guard ahead.count >= Self.step, !hasAsked else { return .nothing }
            hasAsked = true
            return .again
        case .malformed: throw .malformed
        }
    }
}
