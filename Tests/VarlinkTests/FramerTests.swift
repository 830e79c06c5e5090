import TestSupport
import Testing

@testable import Varlink

@Suite struct FramerTests {
    @Test func manyShortMessagesAtOnceTakeTimeInProportion() {
        let growth = ProcessorTime.growth { count in
            var framer = Framer(limit: count)
            framer.append([UInt8](repeating: 0, count: count))
            while (try? framer.next()) != nil {}
        }
        #expect(growth < 6)
    }

    @Test func octetByOctet() throws {
        var framer = Framer(limit: 16)
        var messages: [[UInt8]] = []
        for octet in Array("{\"a\":1}\0\0{}\0half".utf8) {
            framer.append([octet])
            while let message = try framer.next() { messages.append(message) }
        }
        #expect(messages == [Array("{\"a\":1}".utf8), [], Array("{}".utf8)])
        #expect(framer.isPartial)
    }

    /// Hashing such a text takes time that is quadratic in its length.
    @Test(arguments: ["\u{301}\u{323}", "\\u0301\\u0323"]) func marksWithoutEnd(_ pair: String) throws {
        var framer = Framer(limit: 1 << 20)
        framer.append(Array("{\"a\(String(repeating: pair, count: 40_000))\":1}\0".utf8))
        #expect(throws: VarlinkError.malformed("a character in it has more than 30 combining marks")) { try framer.next() }
    }

    @Test func severalAtOnce() throws {
        var framer = Framer(limit: 4)
        framer.append(Array("one\0two\0".utf8))
        #expect(try framer.next() == Array("one".utf8))
        #expect(try framer.next() == Array("two".utf8))
        #expect(try framer.next() == nil)
        #expect(!framer.isPartial)
    }

    @Test func theLimitIsExact() throws {
        var fits = Framer(limit: 4)
        fits.append(Array("abcd".utf8))
        #expect(try fits.next() == nil)
        fits.append([0])
        #expect(try fits.next() == Array("abcd".utf8))
        var open = Framer(limit: 4)
        open.append(Array("abcde".utf8))
        #expect(throws: VarlinkError.tooLong(limit: 4)) { try open.next() }
        var ended = Framer(limit: 4)
        ended.append(Array("abcde\0".utf8))
        #expect(throws: VarlinkError.tooLong(limit: 4)) { try ended.next() }
        var second = Framer(limit: 4)
        second.append(Array("ab\0abcde".utf8))
        #expect(try second.next() == Array("ab".utf8))
        #expect(throws: VarlinkError.tooLong(limit: 4)) { try second.next() }
    }

    @Test func anyCutOfAStreamGivesTheSameMessages() throws {
        let stream = Array("first\0\0second message\0x\0".utf8)
        for size in 1...stream.count {
            var framer = Framer(limit: 32)
            var messages: [[UInt8]] = []
            for start in stride(from: 0, to: stream.count, by: size) {
                framer.append(stream[start..<min(start + size, stream.count)])
                while let message = try framer.next() { messages.append(message) }
            }
            #expect(messages.map { String(decoding: $0, as: UTF8.self) } == ["first", "", "second message", "x"])
        }
    }
}
