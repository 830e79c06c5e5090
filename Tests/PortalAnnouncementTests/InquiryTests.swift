import PortalAnnouncement
import Testing

@Suite struct InquiryTests {
    private static let api = PortalAPIAddress(Message.url.utf8)!
    private static let server = LinkHost("10.9.0.1/02:00:00:00:00:01")!
    private static let router = LinkHost("fe80::1/02:00:00:00:00:01")!
    private static let announcers = Announcers([server, router], leaseServer: "10.9.0.1")

    private func inquiry(_ announcers: Announcers = announcers, transaction: UInt32 = Message.transaction) -> Inquiry {
        Inquiry(transaction: transaction, announcers: announcers)
    }

    private func dhcp4(_ api: Bool = true, kind: UInt8 = 5, from server: [UInt8]? = [10, 9, 0, 1]) -> Inquiry.Reply {
        let identifier = server.map { [Message.option4(54, $0)] } ?? []
        return .dhcp4(DHCPPacket(Message.dhcp4(identifier + (api ? [Message.option4(114, Message.url.utf8)] : []), kind: kind))!)
    }

    private func dhcp6(_ api: Bool = true) -> Inquiry.Reply {
        .dhcp6(DHCPv6Reply(Message.dhcp6([Message.serverID] + (api ? [Message.option6(103, Message.url.utf8)] : [])))!)
    }

    private func router(_ api: Bool = true, flags: UInt8 = 0) -> Inquiry.Reply {
        let octets = Message.advertisement(api ? [Message.optionRA(37, Message.url.utf8)] : [], flags: flags)
        return .ra(RouterAdvertisement(octets, from: Message.router, hopLimit: 255)!)
    }

    @Test func silenceIsAskedAgainAndDHCPv6FromTheSecondRoundOn() {
        let inquiry = inquiry()
        #expect(inquiry.actions(inRound: 0) == [.ask(.inform), .ask(.solicitation)])
        #expect(inquiry.actions(inRound: 1) == [.ask(.inform), .ask(.solicitation), .ask(.informationRequest)])
        #expect(!inquiry.isComplete)
    }

    @Test func eachIsToldOnceAndNotAskedAgain() {
        var inquiry = inquiry()
        #expect(inquiry.handle(dhcp4(), from: Self.server) == [.tell(.dhcp4, Self.api)])
        #expect(inquiry.handle(dhcp4(), from: Self.server) == [])
        #expect(inquiry.handle(router(flags: 0xC0), from: Self.router) == [.tell(.ra, Self.api)], "DHCPv6 is not needed")
        #expect(inquiry.isComplete && inquiry.actions(inRound: 1) == [])
    }

    @Test func aRouterThatNamesDHCPv6HasItAskedAtOnce() {
        var inquiry = inquiry()
        #expect(inquiry.handle(router(false), from: Self.router) == [])
        inquiry = self.inquiry()
        #expect(inquiry.handle(router(false, flags: 0x40), from: Self.router) == [.ask(.informationRequest)])
        #expect(inquiry.handle(router(false, flags: 0x40), from: Self.router) == [], "once")
        #expect(inquiry.handle(dhcp6(), from: Self.router) == [.tell(.dhcp6, Self.api)])
        #expect(inquiry.actions(inRound: 1) == [.ask(.inform)])
        // A second router may announce what the first router does not.
        #expect(inquiry.handle(router(), from: Self.router) == [.tell(.ra, Self.api)])
    }

    @Test func answersToOtherQuestionsAreIgnored() {
        var inquiry = inquiry(transaction: Message.transaction ^ 1)
        #expect(inquiry.handle(dhcp4(), from: Self.server) == [] && inquiry.handle(dhcp6(), from: Self.router) == [])
        #expect(inquiry.actions(inRound: 1).count == 3)
        inquiry = self.inquiry()
        #expect(inquiry.handle(dhcp4(kind: 2), from: Self.server) == [], "an offer")
        #expect(inquiry.actions(inRound: 0).contains(.ask(.inform)))
    }

    @Test func answersWithoutAnAddressEndTheQuestions() {
        var inquiry = inquiry()
        _ = inquiry.handle(dhcp4(false), from: Self.server)
        _ = inquiry.handle(dhcp6(false), from: Self.router)
        #expect(inquiry.isComplete)
    }

    // MARK: Whose answers count

    /// A guest's answers, each with the server identifier that the guest writes, and the addresses of its packet and its frame.
    @Test(
        arguments: [
            ("its own addresses", [10, 9, 0, 66], "10.9.0.66/02:00:00:00:00:66", .stranger),
            ("the server's identifier", [10, 9, 0, 1], "10.9.0.66/02:00:00:00:00:66", .stranger),
            ("the server's IP address", [10, 9, 0, 1], "10.9.0.1/02:00:00:00:00:66", .hardware),
            ("a packet that the router sends back to the link", [10, 9, 0, 1], "10.9.0.66/02:00:00:00:00:01", .stranger),
            ("the server's addresses with another identifier", [10, 9, 0, 66], "10.9.0.1/02:00:00:00:00:01", .identifier),
            ("the server's addresses without an identifier", nil, "10.9.0.1/02:00:00:00:00:01", .identifier),
        ] as [(String, [UInt8]?, String, Announcers.Objection)])
    func aGuestsAnswerDoesNotCountAndTheServersLaterOneDoes(
        forged: String, identifier: [UInt8]?, sender: String, objection: Announcers.Objection
    ) throws {
        var inquiry = inquiry()
        let guest = try #require(LinkHost(sender))
        #expect(inquiry.handle(dhcp4(from: identifier), from: guest) == [.object(.dhcp4, objection, guest)], "\(forged)")
        #expect(inquiry.handle(dhcp4(from: identifier), from: guest) == [], "reported once")
        #expect(inquiry.actions(inRound: 1).contains(.ask(.inform)), "the question stays open")
        #expect(inquiry.handle(dhcp4(), from: Self.server) == [.tell(.dhcp4, Self.api)])
    }

    @Test(
        arguments: [
            ("fe80::66/02:00:00:00:00:66", .stranger), ("fe80::1/02:00:00:00:00:66", .hardware),
            ("fe80::66/02:00:00:00:00:01", .stranger),
        ] as [(String, Announcers.Objection)])
    func aGuestsAdvertisementDoesNotCountAndTheRoutersLaterOneDoes(sender: String, objection: Announcers.Objection) throws {
        var inquiry = inquiry()
        let guest = try #require(LinkHost(sender))
        #expect(inquiry.handle(router(flags: 0x80), from: guest) == [.object(.ra, objection, guest)], "and asks no DHCPv6")
        #expect(inquiry.handle(dhcp6(), from: guest) == [.object(.dhcp6, objection, guest)])
        #expect(inquiry.actions(inRound: 1).count == 3)
        #expect(inquiry.handle(router(), from: Self.router) == [.tell(.ra, Self.api)])
    }

    @Test func withoutALeaseTheRouterCountsWithAnyIdentifier() {
        for identifier in [[10, 9, 0, 1], [10, 9, 9, 9], nil] as [[UInt8]?] {
            var inquiry = inquiry(Announcers([Self.server]))
            #expect(inquiry.handle(dhcp4(from: identifier), from: Self.server) == [.tell(.dhcp4, Self.api)])
            #expect(inquiry.isComplete, "there is no router of IPv6")
        }
    }

    @Test func withoutHostsNobodyIsAskedAndNobodyCounts() {
        for announcers in [Announcers(), Announcers(leaseServer: "10.9.0.1")] {
            var inquiry = inquiry(announcers)
            #expect(inquiry.isComplete && inquiry.actions(inRound: 1) == [])
            #expect(inquiry.handle(dhcp4(), from: Self.server) == [.object(.dhcp4, .stranger, Self.server)])
            #expect(inquiry.handle(router(), from: Self.router) == [.object(.ra, .stranger, Self.router)])
        }
        let onlyIPv6 = inquiry(Announcers([Self.router]))
        #expect(onlyIPv6.actions(inRound: 0) == [.ask(.solicitation)])
    }

    @Test func aFloodOfGuestsIsReportedFourTimes() throws {
        var inquiry = inquiry()
        let reports = try (0..<200).flatMap { number in
            inquiry.handle(dhcp4(), from: try #require(LinkHost("10.9.1.\(number)", [2, 0, 0, 0, 1, UInt8(number)])))
        }
        #expect(reports.count == 4)
        #expect(inquiry.handle(dhcp4(), from: Self.server) == [.tell(.dhcp4, Self.api)])
    }

    // MARK: Arguments

    @Test func announcersAreTheArgumentsOfTheProgram() {
        let words = ["10.9.0.1", "10.9.0.1/02:00:00:00:00:01", "fe80::1/02:00:00:00:00:01"]
        #expect(Self.announcers.arguments == words && Announcers(arguments: words) == Self.announcers)
        #expect(Announcers(arguments: Announcers().arguments) == Announcers())
        #expect(LinkHost("FE80:0::1/02:0A:00:00:00:01")?.description == "fe80::1/02:0a:00:00:00:01")
    }

    @Test(
        arguments: [
            [], ["x"], ["fe80::1"], ["-", "10.9.0.1"], ["-", "10.9.0.1/02:00:00:00:00"], ["-", "10.9.0.1/02:00:00:00:00:0g"],
            ["-", "10.9.0.1/02:00:00:00:00:+1"], ["-", "10.9.0.1/02:00:00:00:00:001"], ["-", "10.9.0.1/02:00:00:00:00:01:02"],
            ["-", "10.9.0/02:00:00:00:00:01"], ["-", "fe80::1%hot1/02:00:00:00:00:01"], ["-", ""],
        ] as [[String]])
    func malformedArgumentsAreRefused(words: [String]) { #expect(Announcers(arguments: words) == nil) }
}
