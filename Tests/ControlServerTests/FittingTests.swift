import ControlAPI
import HotspotCore
import Testing
import Varlink

@testable import ControlServer

/// Replies with lists are never too long for a client, and say how many elements are missing.
@Suite struct FittingTests {
    private func read(_ octets: [UInt8]) throws -> JSONValue { try Coding.decode(JSONValue.self, from: octets) }

    @Test func aListThatFitsStaysWholeAndInOrder() throws {
        let reply = ReplyBudget.reply("names", ["b", "a"], inOrder: <)
        #expect(String(decoding: reply, as: UTF8.self) == #"{"names":["b","a"]}"#)
        #expect(try read(ReplyBudget.reply("names", [String]())) == ["names": []])
        #expect(
            try read(ReplyBudget.reply("names", ["x"]) { ["left": .integer($0), "version": "1"] }) == [
                "names": ["x"], "left": 0, "version": "1",
            ])
    }

    @Test(arguments: [100, 5000, ReplyBudget.capacity]) func elementsThatDoNotFitAreCounted(length: Int) throws {
        let count = ReplyBudget.capacity / length + 10
        let all = (0..<count).map { "\($0) " + String(repeating: "x", count: length) }
        let octets = ReplyBudget.reply("names", all)
        #expect(octets.count <= ReplyBudget.capacity && octets.count + length + 16 >= ReplyBudget.capacity)
        let reply = try read(octets)
        let shown = reply["names"]?.array?.compactMap(\.string) ?? []
        #expect(shown == Array(all.prefix(shown.count)) && reply["omitted"]?.integer == count - shown.count)
    }

    @Test func theOrderDecidesWhichElementsStay() throws {
        let pad = String(repeating: "x", count: 1000)
        let all = (1000..<2000).map { "\($0)" + pad }
        let shown = try read(ReplyBudget.reply("names", all, inOrder: >))["names"]?.array?.compactMap(\.string) ?? []
        #expect(shown.count > 500 && shown == Array(all.reversed().prefix(shown.count)))
    }

    // MARK: One element

    /// Networks encode themselves; the result is the same as with the ordinary encoder.
    @Test func networksWriteThemselvesLikeOthers() {
        let odd = "a\"\\/\u{1}\n é😀"
        let claims = [true, false].map {
            ClaimStatus(helper: "a", displayName: odd, confidence: .high, source: odd, ready: $0)
        }
        var network = ScannedNetwork(
            ssid: SSID(octets: Array(odd.utf8))!, bssid: HardwareAddress(octets: [2, 0, 0, 0, 0, 1])!, interface: odd,
            frequency: 2412, signal: -48, security: .psk, stations: 2, lastSeen: 1, joined: true, claims: claims,
            disabled: false, autoJoin: nil, last: nil)
        #expect(network.json == Coding.encode(network))
        (network.autoJoin, network.lastOutcome, network.lastOutcomeTime) = (false, odd, 1)
        (network.moreClaims, network.signalStrength) = (3, 0.53125)
        #expect(network.json == Coding.encode(network))
        network.claims = []
        #expect(network.json == Coding.encode(network))
        var announced = AnnouncedAccess()
        network.announced = announced
        #expect(network.json == Coding.encode(network))
        (announced.additionalStep, announced.internet, announced.openRoaming) = (true, true, true)
        (announced.passpoint, announced.anqp, announced.networkType, announced.hessid) = (true, true, odd, odd)
        (announced.venueGroup, announced.venueType, announced.consortia) = (2, 8, [odd, odd])
        (announced.steps, announced.loginURL, announced.loginOrigin, announced.venueURL) = ([odd], odd, odd, odd)
        (announced.venueNames, announced.operators, announced.realms, announced.domains) = ([odd], [odd], [odd], [odd])
        network.announced = announced
        #expect(network.json == Coding.encode(network))
        #expect(network.json.count > 20 * odd.utf8.count)
    }

    /// The longest reply that a helper can cause: endless lists and texts, of characters that JSON writes as six.
    @Test func oneHelperAlwaysFits() throws {
        let long = String(repeating: "\u{1}", count: 5000)
        let helper = HelperStatus(
            name: "loud", displayName: long, enabled: true, disabledFor: Array(repeating: long, count: 900), priority: 1,
            ssids: (0..<1000).map { "\($0)" + long }, activation: "stdio", running: false, strikes: 0, quarantined: false,
            problems: Array(repeating: Problem(.held, long, hint: long), count: 100), file: "/f")
        let reply = try read(ReplyBudget.reply("helpers", [helper.shown]))
        let shown = try #require(reply["helpers"]?.array?.first)
        #expect(shown["ssids"]?.array?.count == 64 && shown["moreSSIDs"] == 936)
        #expect(shown["disabledFor"]?.array?.count == 64 && shown["moreDisabledFor"] == 836)
        #expect(shown["problems"]?.array?.count == 17)
        #expect(shown["problems"]?.array?.last?["message"] == "84 more problems are not shown.")
        #expect(shown["ssids"]?.array?.first?.string?.hasSuffix("…") == true)
    }

    @Test func shortElementsStayAsTheyAre() {
        let helper = HelperStatus(
            name: "a", displayName: "A", enabled: true, disabledFor: ["x"], priority: 1, ssids: ["y*"], activation: "stdio",
            running: false, strikes: 0, quarantined: false, problems: [Problem(.held, "m", hint: "h")])
        #expect(helper.shown == helper)
        let status = InterfaceStatus(interface: "wlan0", state: .inactive, since: 1)
        #expect(status.shown == status)
        let step = Step(at: 0, kind: "trace", detail: String(repeating: "x", count: 4096))
        #expect(step.shown == step)
        #expect(Step(at: 0, kind: "trace", detail: String(repeating: "x", count: 4097)).shown.detail.utf8.count == 4096 + 3)
    }

    private func network(_ claims: [ClaimStatus], joined: Bool = false, signal: Int = -50) -> ScannedNetwork {
        ScannedNetwork(
            ssid: SSID(printable: "Cafe")!, bssid: HardwareAddress("02:00:00:00:00:01")!, interface: "wlan0", frequency: 2412,
            signal: signal, security: .open, stations: 1, lastSeen: 0, joined: joined, claims: claims, disabled: false,
            autoJoin: nil,
            last: nil)
    }

    @Test func theSurestClaimsStay() {
        func claim(_ number: Int) -> ClaimStatus {
            ClaimStatus(
                helper: "h\(number)", displayName: "H", confidence: number == 150 ? .high : .low, source: "manifest", ready: false
            )
        }
        let shown = network((0..<200).map(claim)).shown
        #expect(shown.claims.map(\.helper) == ["h150"] + (0..<15).map { "h\($0)" } && shown.moreClaims == 184)
        let few = network((0..<16).map(claim))
        #expect(few.shown == few)
    }

    @Test func theJoinedNetworkAndTheStrongestComeFirst() {
        let all = [network([], signal: -90), network([], signal: -40), network([], joined: true, signal: -80)]
        #expect(all.sorted { $0.comesBefore($1) }.map(\.signal) == [-80, -40, -90])
    }
}
