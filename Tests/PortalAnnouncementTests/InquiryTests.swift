import PortalAnnouncement
import Testing

@Suite struct InquiryTests {
    private static let api = PortalAPIAddress(Message.url.utf8)!

    private func dhcp4(_ api: Bool = true, kind: UInt8 = 5) -> Inquiry.Reply {
        .dhcp4(DHCPPacket(Message.dhcp4(api ? [Message.option4(114, Message.url.utf8)] : [], kind: kind))!)
    }

    private func dhcp6(_ api: Bool = true) -> Inquiry.Reply {
        .dhcp6(DHCPv6Reply(Message.dhcp6([Message.serverID] + (api ? [Message.option6(103, Message.url.utf8)] : [])))!)
    }

    private func router(_ api: Bool = true, flags: UInt8 = 0) -> Inquiry.Reply {
        let octets = Message.advertisement(api ? [Message.optionRA(37, Message.url.utf8)] : [], flags: flags)
        return .ra(RouterAdvertisement(octets, from: Message.router, hopLimit: 255)!)
    }

    @Test func silenceIsAskedAgainAndDHCPv6FromTheSecondRoundOn() {
        let inquiry = Inquiry(transaction: Message.transaction)
        #expect(inquiry.actions(inRound: 0) == [.ask(.inform), .ask(.solicitation)])
        #expect(inquiry.actions(inRound: 1) == [.ask(.inform), .ask(.solicitation), .ask(.informationRequest)])
        #expect(!inquiry.isComplete)
    }

    @Test func eachIsToldOnceAndNotAskedAgain() {
        var inquiry = Inquiry(transaction: Message.transaction)
        #expect(inquiry.handle(dhcp4()) == [.tell(.dhcp4, Self.api)])
        #expect(inquiry.handle(dhcp4()) == [])
        #expect(inquiry.handle(router(flags: 0xC0)) == [.tell(.ra, Self.api)], "DHCPv6 is not needed")
        #expect(inquiry.isComplete && inquiry.actions(inRound: 1) == [])
    }

    @Test func aRouterThatNamesDHCPv6HasItAskedAtOnce() {
        var inquiry = Inquiry(transaction: Message.transaction)
        #expect(inquiry.handle(router(false)) == [])
        inquiry = Inquiry(transaction: Message.transaction)
        #expect(inquiry.handle(router(false, flags: 0x40)) == [.ask(.informationRequest)])
        #expect(inquiry.handle(router(false, flags: 0x40)) == [], "once")
        #expect(inquiry.handle(dhcp6()) == [.tell(.dhcp6, Self.api)])
        #expect(inquiry.actions(inRound: 1) == [.ask(.inform)])
        // A second router may have what the first one has not.
        #expect(inquiry.handle(router()) == [.tell(.ra, Self.api)])
    }

    @Test func answersToOtherQuestionsAreIgnored() {
        var inquiry = Inquiry(transaction: Message.transaction ^ 1)
        #expect(inquiry.handle(dhcp4()) == [] && inquiry.handle(dhcp6()) == [])
        #expect(inquiry.actions(inRound: 1).count == 3)
        inquiry = Inquiry(transaction: Message.transaction)
        #expect(inquiry.handle(dhcp4(kind: 2)) == [], "an offer")
        #expect(inquiry.actions(inRound: 0).contains(.ask(.inform)))
    }

    @Test func answersWithoutAnAddressEndTheQuestions() {
        var inquiry = Inquiry(transaction: Message.transaction)
        _ = inquiry.handle(dhcp4(false))
        _ = inquiry.handle(dhcp6(false))
        #expect(inquiry.isComplete)
    }
}
