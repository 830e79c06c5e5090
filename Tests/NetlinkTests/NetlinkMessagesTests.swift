import CNetlink
import Netlink
import Testing

@Suite struct NetlinkMessagesTests {
    private func message(_ payload: [UInt8], type: UInt16 = 27) -> [UInt8] {
        NetlinkMessage(type: type, flags: 0, sequence: 1, port: 2, payload: payload[...]).octets
    }

    @Test func aDatagramHoldsSeveralMessages() {
        let datagram = message([1, 2, 3, 4]) + message([5, 6, 7, 8], type: 28) + message([])
        let messages = Array(NetlinkMessages(datagram: datagram))
        #expect(messages.map(\.type) == [27, 28, 27])
        #expect(messages.map { Array($0.payload) } == [[1, 2, 3, 4], [5, 6, 7, 8], []])
        #expect(messages[0].sequence == 1 && messages[0].port == 2)
    }

    @Test(arguments: [0, 1, 15, 21, 0xFFFF_FFFF] as [UInt32])
    func aLengthThatCannotBeEndsTheWalk(length: UInt32) {
        var datagram = message([1, 2, 3, 4]) + message([5, 6, 7, 8])
        withUnsafeBytes(of: length) { datagram.replaceSubrange(20..<24, with: $0) }
        var messages = NetlinkMessages(datagram: datagram)
        #expect(messages.next()?.payload.first == 1)
        #expect(messages.next() == nil)
        #expect(messages.isMalformed)
        #expect(messages.next() == nil)
    }

    @Test func theLastMessageMayLackItsPadding() {
        let datagram = message([1, 2, 3, 4, 5])
        #expect(Array(NetlinkMessages(datagram: datagram)).map { Array($0.payload) } == [[1, 2, 3, 4, 5]])
    }

    @Test func errorsCarryThePositiveErrno() {
        var code: [UInt8] = []
        code.appendHost(Int32(-1))
        let error = Array(NetlinkMessages(datagram: message(code, type: UInt16(NLMSG_ERROR))))[0]
        #expect(error.errorCode == 1)
        var least: [UInt8] = []
        least.appendHost(Int32.min)
        #expect(Array(NetlinkMessages(datagram: message(least, type: UInt16(NLMSG_ERROR))))[0].errorCode == 5)
        #expect(Array(NetlinkMessages(datagram: message([], type: UInt16(NLMSG_DONE))))[0].errorCode == 0)
        #expect(Array(NetlinkMessages(datagram: message([], type: UInt16(NLMSG_ERROR))))[0].errorCode == 5)
        #expect(Array(NetlinkMessages(datagram: message(code)))[0].errorCode == nil)
    }
}

@Suite struct AttributeReaderTests {
    private func built(_ build: (inout PayloadBuilder) -> Void) -> ArraySlice<UInt8> {
        var payload = PayloadBuilder(header: [])
        build(&payload)
        return payload.octets[...]
    }

    @Test func valuesComeBack() throws {
        let reader = try AttributeReader(
            built {
                $0.append(1, integer: UInt32(2412))
                $0.append(2, Array("wlan0".utf8) + [0])
                $0.append(3) { $0.append(7, integer: Int16(-3)) }
                $0.append(4, [])
            })
        #expect(try reader.integer(1, as: UInt32.self) == 2412)
        #expect(try reader.string(2, limit: 15) == "wlan0")
        #expect(try reader.nested(3)?.integer(7, as: Int16.self) == -3)
        #expect(try reader.flag(4))
        #expect(try !reader.flag(5))
        #expect(try reader.integer(9, as: UInt8.self) == nil)
    }

    @Test func wrongSizesThrow() throws {
        let reader = try AttributeReader(
            built {
                $0.append(1, [1, 2, 3])
                $0.append(2, Array("a name that is too long".utf8))
                $0.append(3, [0xFF, 0xFE])
                $0.append(4, [1, 2, 3, 4, 5])
            })
        #expect(throws: MalformedMessage.self) { try reader.integer(1, as: UInt32.self) }
        #expect(throws: MalformedMessage.self) { try reader.string(2, limit: 15) }
        #expect(throws: MalformedMessage.self) { try reader.string(3, limit: 15) }
        #expect(throws: MalformedMessage.self) { try reader.nested(4) }
    }

    @Test func anAttributeThatIsThereTwiceThrows() throws {
        let reader = try AttributeReader(
            built {
                $0.append(1, integer: UInt8(1))
                $0.append(1, integer: UInt8(2))
            })
        #expect(throws: MalformedMessage.self) { try reader.integer(1, as: UInt8.self) }
    }

    @Test(arguments: [0, 3, 9, 0xFFFF] as [UInt16])
    func aLengthThatCannotBeThrows(length: UInt16) {
        var octets = Array(built { $0.append(1, [1, 2, 3, 4]) })
        withUnsafeBytes(of: length) { octets.replaceSubrange(0..<2, with: $0) }
        #expect(throws: MalformedMessage.self) { try AttributeReader(octets[...]) }
    }

    @Test func sixtyFourNestsAreTooMany() throws {
        var octets: [UInt8] = []
        for _ in 0..<64 { octets = Array(built { $0.append(1, octets) }) }
        var reader: AttributeReader? = try AttributeReader(octets[...])
        #expect(throws: MalformedMessage.self) {
            while let inner = try reader?.nested(1) { reader = inner }
        }
    }
}
