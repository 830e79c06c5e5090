import PortalAnnouncement
import TestSupport
import Testing

/// Messages as servers and routers send them, built octet by octet.
enum Message {
    static let url = "https://portal.example/api"
    static let transaction: UInt32 = 0xA1B2_C3D4

    static func dhcp4(_ options: [[UInt8]], kind: UInt8 = 5, operation: UInt8 = 2) -> [UInt8] {
        var octets: [UInt8] = [operation, 1, 6, 0, 0xA1, 0xB2, 0xC3, 0xD4] + [UInt8](repeating: 0, count: 228)
        octets += [0x63, 0x82, 0x53, 0x63, 53, 1, kind]
        return octets + options.flatMap { $0 } + [255]
    }

    static func option4(_ code: UInt8, _ value: some Collection<UInt8>) -> [UInt8] { [code, UInt8(value.count)] + value }

    static func dhcp6(_ options: [[UInt8]], kind: UInt8 = 7) -> [UInt8] { [kind, 0xB2, 0xC3, 0xD4] + options.flatMap { $0 } }

    static func option6(_ code: UInt8, _ value: some Collection<UInt8>) -> [UInt8] {
        [0, code, UInt8(value.count >> 8), UInt8(value.count & 0xFF)] + value
    }

    static let serverID = option6(2, [0, 3, 0, 1, 2, 0, 0, 0, 0, 1])

    static func advertisement(_ options: [[UInt8]], flags: UInt8 = 0) -> [UInt8] {
        [134, 0, 0, 0, 64, flags, 7, 8] + [UInt8](repeating: 0, count: 8) + options.flatMap { $0 }
    }

    /// Returns an option with zeros up to a multiple of eight octets.
    static func optionRA(_ code: UInt8, _ value: some Collection<UInt8>) -> [UInt8] {
        let units = (value.count + 2 + 7) / 8
        return [code, UInt8(units)] + value + [UInt8](repeating: 0, count: units * 8 - 2 - value.count)
    }

    /// Wraps a datagram in a packet from 10.9.0.1.
    static func ipv4(_ datagram: UDPDatagram) -> [UInt8] {
        let length = 20 + datagram.octets.count
        return [0x45, 0, UInt8(length >> 8), UInt8(length & 0xFF), 0, 0, 0, 0, 64, 17, 0, 0, 10, 9, 0, 1, 255, 255, 255, 255]
            + datagram.octets
    }

    /// Wraps octets in a packet from ``router``.
    static func ipv6(_ kind: UInt8, _ octets: [UInt8]) -> [UInt8] {
        [0x60, 0, 0, 0, UInt8(octets.count >> 8), UInt8(octets.count & 0xFF), kind, 255] + router
            + [0xFF, 2] + [UInt8](repeating: 0, count: 13) + [1] + octets
    }

    static let router: [UInt8] = [0xFE, 0x80] + [UInt8](repeating: 0, count: 13) + [1]
}

@Suite struct MessageTests {
    private func advertisement(_ octets: [UInt8], from source: [UInt8] = Message.router, hops: Int = 255) -> RouterAdvertisement?
    {
        RouterAdvertisement(octets, from: source, hopLimit: hops)
    }

    // MARK: DHCPv4

    @Test func anAcknowledgementOfDHCP() throws {
        let packet = try #require(DHCPPacket(Message.dhcp4([Message.option4(114, Message.url.utf8)])))
        #expect(packet.transaction == Message.transaction && packet.isAcknowledgement)
        #expect(packet.portalAPI == .url(Message.url) && packet.server == nil)
        #expect(DHCPPacket(Message.dhcp4([Message.option4(54, [10, 9, 0, 1])]))?.server == "10.9.0.1")
        #expect(DHCPPacket(Message.dhcp4([Message.option4(54, [10, 9, 0])]))?.server == nil)
        let offer = try #require(DHCPPacket(Message.dhcp4([], kind: 2)))
        #expect(!offer.isAcknowledgement && offer.portalAPI == nil)
        #expect(DHCPPacket(Message.dhcp4([], operation: 1)) == nil, "a question")
        // RFC 3396: an option in two parts.
        let parts = [Message.url.utf8.prefix(9), Message.url.utf8.dropFirst(9)].map { Message.option4(114, Array($0)) }
        #expect(DHCPPacket(Message.dhcp4(parts))?.portalAPI == .url(Message.url))
    }

    @Test func aQuestionOfDHCP() {
        let octets = DHCPPacket.inform(Message.transaction, from: [10, 9, 0, 55], [2, 0, 0, 0, 0, 7])
        #expect(octets.count == 300 && octets.starts(with: [1, 1, 6, 0, 0xA1, 0xB2, 0xC3, 0xD4, 0, 0, 0, 0, 10, 9, 0, 55]))
        #expect(Array(octets[28..<34]) == [2, 0, 0, 0, 0, 7])
        #expect(Array(octets[236..<247]) == [0x63, 0x82, 0x53, 0x63, 53, 1, 8, 55, 1, 114, 255])
        #expect(DHCPPacket(octets) == nil, "our own question, which the socket may see")
    }

    // MARK: DHCPv6

    @Test func aReplyOfDHCPv6() throws {
        let option = Message.option6(103, Message.url.utf8)
        let reply = try #require(DHCPv6Reply(Message.dhcp6([Message.serverID, option])))
        #expect(reply.transaction == Message.transaction & 0xFF_FFFF && reply.portalAPI == .url(Message.url))
        #expect(DHCPv6Reply(Message.dhcp6([Message.serverID]))?.portalAPI == nil)
        #expect(DHCPv6Reply(Message.dhcp6([option])) == nil, "of no server")
        #expect(DHCPv6Reply(Message.dhcp6([Message.serverID, option], kind: 11)) == nil, "a question")
        #expect(DHCPv6Reply(Message.dhcp6([Message.serverID, option.dropLast()])) == nil, "an option that ends too early")
        #expect(DHCPv6Reply(Message.dhcp6([Message.serverID, [0, 103, 0]])) == nil)
    }

    @Test func aQuestionOfDHCPv6() {
        #expect(
            DHCPv6Reply.informationRequest(Message.transaction)
                == [11, 0xB2, 0xC3, 0xD4, 0, 8, 0, 2, 0, 0, 0, 6, 0, 6, 0, 32, 0, 83, 0, 103])
    }

    // MARK: Routers

    @Test func anAdvertisementOfARouter() throws {
        let option = Message.optionRA(37, Message.url.utf8)
        let found = try #require(advertisement(Message.advertisement([[1, 1, 2, 0, 0, 0, 0, 9], option])))
        #expect(found.portalAPI == .url(Message.url) && !found.namesDHCPv6)
        for (flags, names) in [(0x80, true), (0x40, true), (0x3F, false)] as [(UInt8, Bool)] {
            #expect(advertisement(Message.advertisement([], flags: flags))?.namesDHCPv6 == names)
        }
        // The first valid option counts.
        let other = Message.optionRA(37, "https://other.example".utf8)
        #expect(advertisement(Message.advertisement([Message.optionRA(37, "ftp://x".utf8), option, other])) == found)
        let word = Message.optionRA(37, "urn:ietf:params:capport:unrestricted".utf8)
        #expect(advertisement(Message.advertisement([word]))?.portalAPI == .unrestricted)
    }

    @Test func whatIsNoAdvertisementOfARouterOnTheLink() {
        let good = Message.advertisement([Message.optionRA(37, Message.url.utf8)])
        #expect(advertisement(good, hops: 254) == nil, "from beyond the link")
        #expect(advertisement(good, from: [0x20, 1] + Message.router.dropFirst(2)) == nil)
        #expect(advertisement(good, from: []) == nil)
        #expect(advertisement([133] + good.dropFirst()) == nil)
        #expect(advertisement([134, 1] + good.dropFirst(2)) == nil)
        #expect(advertisement(Message.advertisement([[37, 0, 0, 0, 0, 0, 0, 0]])) == nil, "an option without a length")
        #expect(advertisement(Array(good.dropLast())) == nil)
    }

    // MARK: Packets

    @Test func aPacketOfIPv4() {
        func packet(_ first: UInt8 = 0x45, options: Int = 0, length: Int? = nil, fragment: UInt8 = 0x40) -> [UInt8] {
            let length = length ?? 23 + options
            return [first, 0, UInt8(length >> 8), UInt8(length & 0xFF), 0, 0, fragment, 0, 64, 17, 0, 0, 10, 9, 0, 1]
                + [UInt8](repeating: 0, count: 4 + options) + [1, 2, 3]
        }
        let found = IPPacket(packet())
        #expect(found?.source == [10, 9, 0, 1] && found?.hopLimit == 64 && found?.content == 17 && found?.payload == [1, 2, 3])
        #expect(IPPacket(packet() + [0, 0]) == found, "padding of Ethernet")
        #expect(IPPacket(packet(0x46, options: 4)) == found)
        for bad in [
            packet(0x44), packet(0x65), packet(0x4F), packet(length: 24), packet(length: 19), packet(fragment: 0x20),
            packet(fragment: 1), Array(packet().dropLast()), [],
        ] { #expect(IPPacket(bad) == nil) }
    }

    @Test func aPacketOfIPv6() {
        func packet(_ first: UInt8 = 0x60, length: UInt8 = 3) -> [UInt8] {
            [first, 0, 0, 0, 0, length, 58, 255] + Message.router + [UInt8](repeating: 0, count: 16) + [1, 2, 3]
        }
        let found = IPPacket(packet())
        #expect(found?.source == Message.router && found?.hopLimit == 255 && found?.content == 58 && found?.payload == [1, 2, 3])
        for bad in [packet(0x40), packet(length: 4), Array(packet().dropLast()), Array(packet().prefix(39))] {
            #expect(IPPacket(bad) == nil)
        }
    }

    @Test func repliesComeFromThePortsOfServers() {
        let message = Message.dhcp4([])
        let advertisement = Message.advertisement([])
        func reply(_ datagram: UDPDatagram) -> Inquiry.Reply? { IPPacket(Message.ipv4(datagram)).flatMap { Inquiry.Reply($0) } }
        func reply6(_ kind: UInt8, _ octets: [UInt8]) -> Inquiry.Reply? {
            IPPacket(Message.ipv6(kind, octets)).flatMap { Inquiry.Reply($0) }
        }
        #expect(reply(UDPDatagram(from: 67, to: 68, message)) == DHCPPacket(message).map { .dhcp4($0) })
        #expect(reply(UDPDatagram(from: 68, to: 67, message)) == nil && reply(UDPDatagram(from: 67, to: 68, [2])) == nil)
        let message6 = Message.dhcp6([Message.serverID])
        let found = reply6(17, UDPDatagram(from: 547, to: 546, message6).octets)
        #expect(found == DHCPv6Reply(message6).map { .dhcp6($0) } && found != nil)
        #expect(reply6(17, UDPDatagram(from: 67, to: 68, message).octets) == nil, "DHCP over IPv6")
        #expect(reply6(58, advertisement) == self.advertisement(advertisement).map { .ra($0) })
        #expect(reply6(6, advertisement) == nil)
    }

    @Test func aDatagram() {
        let datagram = UDPDatagram(from: 67, to: 68, [1, 2, 3])
        #expect(datagram.octets == [0, 67, 0, 68, 0, 11, 0, 0, 1, 2, 3])
        #expect(UDPDatagram(datagram.octets + [9]) == datagram, "padding")
        #expect(UDPDatagram([0, 67, 0, 68, 0, 7, 0, 0]) == nil, "shorter than its header")
    }

    // MARK: Damage

    /// Reads octets in every way. Returns the announcements, each of which is a valid address.
    private func addresses(in octets: [UInt8]) -> [PortalAPIAddress] {
        let sender = LinkHost("10.9.0.1/02:00:00:00:00:01")!
        var inquiry = Inquiry(transaction: Message.transaction, announcers: Announcers([sender]))
        let whole = IPPacket(octets).flatMap { Inquiry.Reply($0) }
        return [octets, UDPDatagram(octets)?.payload ?? []].flatMap { payload in
            let replies: [Inquiry.Reply?] = [
                whole, DHCPPacket(payload).map { .dhcp4($0) }, DHCPv6Reply(payload).map { .dhcp6($0) },
                advertisement(payload).map { .ra($0) },
            ]
            return replies.compactMap { $0 }.flatMap { inquiry.handle($0, from: sender) }.compactMap { action in
                if case .tell(_, let api) = action { api } else { nil }
            }
        }
    }

    @Test(arguments: [1, 2, 3, 4] as [UInt64]) func randomAndDamagedMessagesAreReadToTheirEnd(seed: UInt64) {
        var numbers = SeededNumbers(seed: seed)
        let dhcp4 = Message.dhcp4([Message.option4(6, [10, 0, 0, 1]), Message.option4(114, Message.url.utf8)])
        let good = [
            dhcp4, Message.ipv4(UDPDatagram(from: 67, to: 68, dhcp4)),
            Message.ipv6(58, Message.advertisement([Message.optionRA(37, Message.url.utf8)])),
            Message.dhcp6([Message.serverID, Message.option6(103, Message.url.utf8)]),
            Message.advertisement([Message.optionRA(37, Message.url.utf8)], flags: 0x40),
        ]
        for message in good { #expect(addresses(in: message) == [.url(Message.url)]) }
        var told = 0
        for round in 0..<20_000 {
            var octets: [UInt8]
            if round % 4 == 0 {
                octets = (0..<Int.random(in: 0...600, using: &numbers)).map { _ in .random(in: 0...255, using: &numbers) }
                // Otherwise hardly any input gets past the first octet.
                if let first = good.randomElement(using: &numbers)?.first, !octets.isEmpty { octets[0] = first }
            } else {
                octets = good.randomElement(using: &numbers)!
                for _ in 0..<Int.random(in: 1...6, using: &numbers) where !octets.isEmpty {
                    let place = octets.indices.randomElement(using: &numbers)!
                    switch Int.random(in: 0..<4, using: &numbers) {
                    case 0: octets[place] = .random(in: 0...255, using: &numbers)
                    case 1: octets.removeSubrange(place...)
                    case 2: octets.remove(at: place)
                    default: octets.insert([0, 1, 0x7F, 0xFF].randomElement(using: &numbers)!, at: place)
                    }
                }
            }
            for api in addresses(in: octets) {
                told += 1
                #expect(PortalAPIAddress(api.text.utf8) == api && api.text.utf8.count <= 255 && !api.text.contains("\""))
            }
        }
        #expect(told > 100, "the damage leaves some addresses to be checked")
    }
}
