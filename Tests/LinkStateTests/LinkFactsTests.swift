import Testing

@testable import LinkState

@Suite struct LinkFactsTests {
    private let train = LinkSnapshot(index: 2, name: "wlan0", addresses: ["10.21.3.7/24", "fd00:3::7/64"])
    private let hotel = LinkSnapshot(index: 3, name: "wlan1", addresses: ["10.21.2.56/24"])

    @Test func aSharedFilesResolversOfOtherLinksAreIgnored() {
        let shared = LinkFacts(nameservers: ["10.21.3.1", "9.9.9.9", "fd00:3::1"], source: "resolv.conf")
        #expect(shared.without(resolversOf: [train, hotel], on: hotel).nameservers == ["9.9.9.9"])
        #expect(shared.without(resolversOf: [train, hotel], on: train) == shared)
        #expect(shared.without(resolversOf: [hotel], on: hotel) == shared, "no other link has it")
        let own = LinkFacts(nameservers: ["10.21.3.1"], source: "dhclient")
        #expect(own.without(resolversOf: [train, hotel], on: hotel) == own, "its own record knows better")
    }

    @Test(arguments: [
        ("10.21.3.1", true), ("10.21.3.255", true), ("10.21.2.1", false), ("fd00:3::1", true), ("fd00:4::1", false),
        ("nonsense", false), ("::ffff:10.21.3.1", false),
    ])
    func reaches(address: String, isOnLink: Bool) { #expect(train.reaches(address) == isOnLink) }
}
