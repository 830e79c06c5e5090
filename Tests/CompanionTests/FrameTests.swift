import Testing

@testable import Companion

/// Chunks of one channel, without companions.
@Suite struct FrameTests {
    private func frame(_ count: Int) -> Frame {
        Frame(key: KeyID(octets: [1, 2, 3, 4]), data: (0..<count).map { UInt8(truncatingIfNeeded: $0) })
    }

    private final class Reader {
        private(set) var reader: ChunkReader
        init(limit: Int, number: UInt8 = 0) { reader = ChunkReader(limit: limit, number: number) }
        func read(_ chunks: some Sequence<[UInt8]>) -> [ChunkReader.Outcome] { chunks.map { reader.read($0) } }
        var count: Int { reader.octets.count }
    }

    @Test(arguments: [23, 185, 517, 1, 65535]) func limits(mtu: Int) {
        let limit = Frame.chunkLimit(mtu: mtu)
        #expect(limit == [23: 20, 185: 182, 517: 500, 1: 20, 65535: 500][mtu])
        for count in [0, 1, 13, 14, 15, 16, 500, 1000, Frame.dataLimit] {
            let reader = Reader(limit: Frame.headLength + Frame.dataLimit, number: 60)
            let chunks = frame(count).chunks(limit: limit, first: 60)
            let outcomes = reader.read(chunks)
            #expect(chunks.allSatisfy { $0.count <= limit } && outcomes.last == .whole(frame(count)))
            #expect(outcomes.dropLast().allSatisfy { $0 == .more } && reader.count == 0)
        }
    }

    @Test func headIsOneOctet() {
        let chunks = frame(30).chunks(limit: 20, first: 63)
        #expect(chunks.map { $0[0] } == [0x80 | 63, 0x40 | 0])
        #expect(chunks[0].prefix(6).dropFirst() == [1, 1, 2, 3, 4])
    }

    @Test func doubledAndLost() {
        let reader = Reader(limit: 1000)
        let chunks = frame(100).chunks(limit: 20, first: 0)
        #expect(
            reader.read([chunks[0], chunks[0], chunks[2], chunks[1], chunks[0], chunks[1]]) == [
                .more, .doubled, .lost, .more, .doubled, .doubled,
            ])
        #expect(reader.count == 38 && reader.reader.number == 2)
        #expect(reader.read(chunks[2...]).last == .whole(frame(100)))
    }

    @Test func nothingIsHalfAccepted() {
        let reader = Reader(limit: 1000)
        let chunks = frame(100).chunks(limit: 20, first: 0)
        _ = reader.read(chunks[..<3])
        // Another frame begins: the first one is dropped.
        let other = frame(3).chunks(limit: 20, first: 3)
        #expect(reader.read(other) == [.whole(frame(3))])
        // A chunk that continues a frame without a beginning.
        #expect(reader.read([[4, 1, 2, 3]]) == [.malformed] && reader.count == 0)
    }

    @Test func malformed() {
        let reader = Reader(limit: 30)
        for chunk in [[], [0x80], [UInt8](repeating: 0x80, count: 501), [0, 1], [0xC0, 1, 2, 3], [0xC0, 2, 0, 0, 0, 0, 9]]
            as [[UInt8]]
        {
            let fresh = Reader(limit: 30)
            #expect(fresh.read([chunk]) == [.malformed] && fresh.count == 0, "\(chunk.prefix(8))")
        }
        // A frame that is longer than the limit.
        #expect(reader.read([[0x80] + [UInt8](repeating: 1, count: 20)]) == [.more])
        #expect(reader.read([[1] + [UInt8](repeating: 1, count: 11)]) == [.malformed] && reader.count == 0)
    }

    // MARK: The window

    private final class Sender {
        private var sender: BulkSender
        init(_ frame: Frame) { sender = BulkSender(.idle, frame: frame, index: 7, number: 5) }
        func numbers(limit: Int = 20) -> [UInt8] { sender.chunks(limit: limit).map { $0[0] & 63 } }
        func grant(_ place: BulkPosition, again: Bool = false) throws -> Bool { try sender.grant(place, again: again) }
        func goBack() { sender.goBack() }
        func repeatChunks() throws { try sender.repeatChunks() }
        func resume(at place: BulkPosition) -> Bool { sender.resume(at: place) }
    }

    private func place(_ offset: Int, _ number: UInt8, message: UInt32 = 7) -> BulkPosition {
        BulkPosition(key: KeyID(octets: [1, 2, 3, 4]), message: message, offset: offset, number: number)
    }

    @Test func theWindowIsEight() throws {
        let sender = Sender(frame(400))
        #expect(sender.numbers() == [5, 6, 7, 8, 9, 10, 11, 12] && sender.numbers().isEmpty)
        #expect(try !sender.grant(place(4 * 19, 9)))
        #expect(sender.numbers() == [13, 14, 15, 16])
        // A grant for the message before.
        #expect(try !sender.grant(place(0, 13, message: 6), again: true))
        #expect(sender.numbers().isEmpty)
        #expect(try !sender.grant(place(10 * 19, 15), again: true))
        #expect(sender.numbers() == [15, 16, 17, 18, 19, 20, 21, 22])
        #expect(try !sender.grant(place(18 * 19, 23)))
        #expect(sender.numbers() == [23, 24, 25, 26])
        #expect(try sender.grant(place(405, 27)), "the peer has opened it")
    }

    @Test(arguments: [(0, 14), (8 * 19 + 1, 13), (1_000_000, 6), (19, 40)] as [(Int, UInt8)])
    func placesThatWereNotSent(_ offset: Int, _ number: UInt8) {
        let sender = Sender(frame(400))
        _ = sender.numbers()
        #expect(throws: CompanionError.malformed) { try sender.grant(place(offset, number)) }
    }

    @Test func withoutProgressTheSenderGivesUp() throws {
        let sender = Sender(frame(400))
        for _ in 0..<BulkSender.repeatLimit {
            #expect(sender.numbers().count == 8)
            try sender.repeatChunks()
        }
        #expect(throws: CompanionError.chunkLost) { try sender.repeatChunks() }
    }

    /// A grant for chunks of a lost channel comes before they are sent again. Changing the channel does not count as a repetition.
    @Test func aGrantAfterGoingBack() throws {
        let sender = Sender(frame(400))
        for _ in 0...BulkSender.repeatLimit {
            #expect(sender.numbers().count == 8)
            sender.goBack()
        }
        #expect(try !sender.grant(place(4 * 19, 9)))
        #expect(sender.numbers() == [9, 10, 11, 12, 13, 14, 15, 16])
    }

    @Test func resumed() throws {
        let sender = Sender(frame(400))
        _ = sender.numbers()
        #expect(!sender.resume(at: place(0, 0, message: 8)) && !sender.resume(at: place(1_000, 0)))
        #expect(sender.resume(at: place(57, 8)))
        // Another link, with longer chunks.
        #expect(sender.numbers(limit: 182) == [8, 9])
    }

    // MARK: The receiver

    private func reads(_ receiver: inout BulkReceiver, _ chunks: [[UInt8]]) throws -> [BulkReceiver.Outcome] {
        try chunks.map { try receiver.read($0) }
    }

    @Test func chunksOfSeveralBearersAreSorted() throws {
        let frame = frame(130), chunks = frame.chunks(limit: 20, first: 62)
        try #require(chunks.count == 8)
        var receiver = BulkReceiver(ChunkReader(limit: 500, number: 62))
        let order = [1, 0, 3, 2, 7, 6, 4].map { chunks[$0] }
        #expect(try reads(&receiver, order) == [.nothing, .nothing, .nothing, .grant, .nothing, .nothing, .nothing])
        #expect(try receiver.read(chunks[5]) == .whole(frame))
        // One chunk is lost. It is requested once, after as many further chunks as lie between two grants.
        receiver = BulkReceiver(ChunkReader(limit: 500, number: 62))
        #expect(try reads(&receiver, Array(chunks[1...6])) == [.nothing, .nothing, .nothing, .again, .nothing, .nothing])
        #expect(try reads(&receiver, [chunks[0], chunks[7]]) == [.grant, .whole(frame)])
    }

    @Test func anotherLinkBeginsAtThePlace() throws {
        let frame = frame(130), chunks = frame.chunks(limit: 20, first: 0)
        var receiver = BulkReceiver(ChunkReader(limit: 500))
        #expect(try reads(&receiver, [chunks[0], chunks[2]]) == [.nothing, .nothing])
        receiver.interrupt()
        // The rest of the same octets, in longer chunks.
        let rest = Frame.chunk(of: frame.octets, from: 19, number: 1, limit: 100)
        let last = Frame.chunk(of: frame.octets, from: 19 + 99, number: 2, limit: 100)
        #expect(try reads(&receiver, [rest, last]) == [.nothing, .whole(frame)])
    }

    @Test func placesOnTheAir() {
        let place = place(70_000, 63)
        #expect(place.octets.count == 13 && BulkPosition(octets: place.octets) == place)
        for count in [0, 12, 14] { #expect(BulkPosition(octets: [UInt8](repeating: 0, count: count)) == nil) }
        #expect(BulkPosition(octets: place.octets.dropLast() + [64]) == nil)
    }
}
