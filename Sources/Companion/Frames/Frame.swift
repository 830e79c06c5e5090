/// The name in frames of a handshake and of the keys of its session. ``clear`` stands for no key.
struct KeyID: Hashable, Sendable {
    let number: UInt32

    /// The name of unencrypted frames.
    static let clear = KeyID(octets: [0, 0, 0, 0])

    /// - Parameter octets: four octets.
    init(octets: some Collection<UInt8>) { number = octets.reduce(0) { $0 << 8 | UInt32($1) } }

    var octets: [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: number >> (24 - 8 * $0)) } }
}

/// A message as it is sent: a version, the name of its key, and the data, which end with the tag.
///
/// A frame is cut into chunks. Each chunk begins with one octet: bit 7 marks the first chunk, bit 6 the last chunk, and six bits hold the chunk's
/// number, which continues from frame to frame.
struct Frame: Hashable, Sendable {
    /// Version 1: CPace by revision 21 of its draft, Noise by revision 34.
    static let version: UInt8 = 1
    static let headLength = 5
    /// The largest amount of data, including the tag, in octets: the limit of one Noise message.
    static let dataLimit = 65_535
    /// The largest number of octets in one chunk. BlueZ 5.66 accepts 510 in one write.
    static let chunkLimit = 500
    /// The largest number of bulk chunks on their way. Frames of at most this many chunks use the control channel.
    static let window = 8
    /// Chunks are counted modulo this number.
    static let numbers: UInt8 = 64

    var key: KeyID
    var data: [UInt8]

    var octets: [UInt8] { [Self.version] + key.octets + data }

    /// Returns the largest number of octets in a chunk.
    ///
    /// - Parameter mtu: the MTU of the attribute protocol, at least 23 (Bluetooth Core 5.4, volume 3, part F, 3.2.8).
    static func chunkLimit(mtu: Int) -> Int { min(max(mtu, 23) - 3, chunkLimit) }

    /// Returns the chunk that begins at an octet of a frame.
    static func chunk(of octets: [UInt8], from start: Int, number: UInt8, limit: Int) -> [UInt8] {
        let end = min(octets.count, start + limit - 1)
        let head = (start == 0 ? 0x80 : 0) | (end == octets.count ? 0x40 : 0) | (number % numbers)
        return [head] + octets[start..<end]
    }

    /// Returns the frame's chunks.
    ///
    /// - Parameter first: the number of the first chunk.
    func chunks(limit: Int, first: UInt8) -> [[UInt8]] {
        let octets = octets
        return stride(from: 0, to: octets.count, by: limit - 1).enumerated().map { index, start in
            Self.chunk(of: octets, from: start, number: UInt8((Int(first) + index) % Int(Self.numbers)), limit: limit)
        }
    }
}

/// Reassembles the chunks of one direction of one channel, within limits.
struct ChunkReader: Hashable, Sendable {
    enum Outcome: Hashable, Sendable {
        /// The frame has more chunks.
        case more
        case whole(Frame)
        /// The chunk was already read.
        case doubled
        /// A chunk before this one is missing.
        case lost
        /// The octets are not a chunk of this protocol; the frame is dropped.
        case malformed
    }

    /// The largest size of a frame, in octets.
    private let limit: Int
    /// The number of the next chunk.
    private(set) var number: UInt8
    /// The part of the frame that has come so far.
    private(set) var octets: [UInt8] = []

    init(limit: Int, number: UInt8 = 0) { (self.limit, self.number) = (limit, number) }

    /// The name of the frame's key, once its head has come.
    var key: KeyID? { octets.count >= Frame.headLength ? KeyID(octets: octets[1..<Frame.headLength]) : nil }

    mutating func read(_ chunk: [UInt8]) -> Outcome {
        guard let head = chunk.first, chunk.count > 1, chunk.count <= Frame.chunkLimit else { return .malformed }
        let behind = (number &- head) & (Frame.numbers - 1)
        guard behind == 0 else { return behind <= Frame.numbers / 2 ? .doubled : .lost }
        let (isFirst, isLast) = (head & 0x80 != 0, head & 0x40 != 0)
        if isFirst { octets = [] }
        guard isFirst == octets.isEmpty, octets.count + chunk.count - 1 <= limit else {
            octets = []
            return .malformed
        }
        octets += chunk.dropFirst()
        number = (number + 1) % Frame.numbers
        guard isLast else { return .more }
        defer { octets = [] }
        guard let key, octets[0] == Frame.version else { return .malformed }
        return .whole(Frame(key: key, data: Array(octets[Frame.headLength...])))
    }
}
