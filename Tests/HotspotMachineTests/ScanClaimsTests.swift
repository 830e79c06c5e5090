import HotspotCore
import Testing

@testable import HotspotMachine

@Suite("Conformance: labels of the list") struct ScanClaimsTests {
    func bss(_ name: String, _ security: Security = .open, signal: Int = -60, id: UInt8 = 1, seen: Int = 0) -> ScannedBSS {
        ScannedBSS(
            ssid: SSID(printable: name)!, bssid: BSSID(octets: [2, 0, 0, 0, 0, id])!, frequency: 2412, signal: signal,
            security: security, lastSeen: seen, interface: "wlan0")
    }

    func helper(_ name: String, ssids: String = "", security: Set<Security> = [], scanList: Bool = false, enabled: Bool = true)
        -> HelperSpec
    {
        HelperSpec(
            name: name, displayName: "The \(name)", activation: .stdio(exec: ["/bin/true"]), ssids: try! SSIDPattern.list(ssids),
            security: security, enabled: enabled, scanList: scanList)
    }

    func note(_ name: String, _ security: Security? = nil, _ confidence: Confidence = .low, password: String? = nil) -> Annotation
    {
        Annotation(ssidHex: SSID(printable: name)!.hex, security: security, confidence: confidence, password: password)
    }

    func claims(
        _ group: ScanClaims.Group, _ helpers: [HelperSpec], _ answers: [String: [Annotation]] = [:], remembered: String? = nil,
        credentials: Set<String> = [], disabled: Set<String> = []
    ) -> [ScanClaims.NetworkClaim] {
        // The answers are to a question about this network.
        var coverage = ScanClaims.Coverage()
        coverage.add([group], for: helpers)
        return coverage.claims(
            for: group, labels: answers.mapValues { ScanClaims.Labels($0, asked: [group]) }, remembered: remembered,
            credentials: credentials, isDisabled: disabled.contains)
    }

    /// Returns the part of a list that one helper may see.
    func visible(_ helper: HelperSpec, _ groups: [ScanClaims.Group], isDisabled: (ScanClaims.Group) -> Bool = { _ in false })
        -> [ScanClaims.Group]
    {
        var coverage = ScanClaims.Coverage()
        coverage.add(groups, for: [helper])
        return coverage.visible(in: groups) { isDisabled($1) }[0]
    }

    func group(_ name: String, _ security: Security = .open) -> ScanClaims.Group { ScanClaims.groups([bss(name, security)])[0] }

    @Test func theStrongestSpeaksForItsNetwork() {
        let groups = ScanClaims.groups([
            bss("Cafe", signal: -70, id: 1, seen: 9), bss("Cafe", .psk, signal: -50, id: 2),
            bss("Cafe", signal: -40, id: 3, seen: 5),
            bss("Bar", signal: -50, id: 4), bss("cafe", signal: -90, id: 5),
        ])
        #expect(groups.map(\.ssid.description) == ["Cafe", "Bar", "Cafe", "cafe"])
        #expect(groups.map(\.security) == [.open, .open, .psk, .open])
        #expect(groups[0].stations == 2 && groups[0].strongest.bssid.octets[5] == 3 && groups[0].lastSeen == 9)
    }

    @Test func theOrderOfAScanDoesNotMatter() {
        var random = Walker.Random(seed: 3)
        let scan = (0..<40).map { bss("N\($0 % 7)", $0.isMultiple(of: 3) ? .psk : .open, signal: -40 - $0 % 5, id: UInt8($0)) }
        let groups = ScanClaims.groups(scan)
        for _ in 0..<50 { #expect(ScanClaims.groups(scan.shuffled(using: &random)) == groups) }
    }

    @Test func aListClaimsLow() {
        let claim = claims(
            group("Cafe Aroma 5"), [helper("aroma", ssids: "Cafe Aroma*;Aroma Guest"), helper("other", ssids: "Bar")])
        #expect(
            claim == [
                ScanClaims.NetworkClaim(
                    helper: "aroma", displayName: "The aroma", confidence: .low, source: .manifest, ready: false)
            ])
    }

    @Test func withoutAListOnlyWhereItClaimedOrWasChosen() {
        let form = helper("form", scanList: true)
        #expect(claims(group("Cafe"), [form]).isEmpty)
        #expect(claims(group("Cafe"), [form], ["form": [note("Cafe", .open, .high)]]).map(\.source) == [.filter])
        let remembered = claims(group("Cafe"), [form], remembered: "form", credentials: ["form"])
        #expect(remembered.map(\.source) == [.remembered] && remembered.map(\.ready) == [true])
    }

    @Test("19 A helper that is switched off, in its file or by the user, labels nothing and is not asked") func disabled() {
        let answers = ["a": [note("Cafe")]]
        #expect(claims(group("Cafe"), [helper("a", ssids: "*")], answers, remembered: "a", disabled: ["a"]).isEmpty)
        #expect(claims(group("Cafe"), [helper("a", ssids: "*", enabled: false)], answers, remembered: "a").isEmpty)
        let groups = ScanClaims.groups([bss("Cafe"), bss("Bar", id: 2)])
        #expect(visible(helper("a", ssids: "*", enabled: false), groups).isEmpty)
        let seen = visible(helper("a", ssids: "*"), groups) { $0.ssid.description == "Cafe" }
        #expect(seen.map(\.ssid.description) == ["Bar"])
    }

    @Test("23 A helper sees the list as it is now: its own part of it, or the whole where its file asks") func seen() {
        let groups = ScanClaims.groups([
            bss("Cafe"), bss("Cafe", .psk, id: 2), bss("Bar", id: 3), bss("", id: 4), bss("\\x00\\x00", id: 5),
        ])
        func names(_ helper: HelperSpec) -> [String] {
            visible(helper, groups).map(\.ssid.description).sorted()
        }
        #expect(names(helper("a", ssids: "Caf?")) == ["Cafe", "Cafe"])
        #expect(names(helper("a", ssids: "Caf?", security: [.psk])) == ["Cafe"])
        #expect(names(helper("a", ssids: "Caf?", scanList: true)) == ["Cafe", "Cafe"], "ScanList= does not widen a list")
        #expect(names(helper("a")) == [])
        #expect(names(helper("a", scanList: true)) == ["Bar", "Cafe", "Cafe"])
        #expect(names(helper("a", ssids: "*")) == ["Bar", "Cafe", "Cafe"], "hidden networks match nothing")
    }

    @Test("24 An open network that was returned gets the label") func open() {
        let claims = claims(group("Cafe"), [helper("a", scanList: true)], ["a": [note("Cafe", nil, .high)]])
        #expect(claims.map(\.displayName) == ["The a"] && claims[0].confidence == .high && !claims[0].ready)
    }

    @Test("25, 26 A secured network gets it with a password that fits, and is ready then") func secured() {
        let helpers = [helper("a", scanList: true)]
        func labels(_ password: String?, _ security: Security = .psk) -> [Bool] {
            claims(group("Cafe", security), helpers, ["a": [note("Cafe", password: password)]]).map(\.ready)
        }
        #expect(labels(nil) == [])
        #expect(labels("1234567") == [] && labels("12345678") == [true])
        #expect(labels(String(repeating: "x", count: 63)) == [true] && labels(String(repeating: "x", count: 64)) == [])
        #expect(labels(String(repeating: "aF", count: 32)) == [true] && labels(String(repeating: "a", count: 65)) == [])
        #expect(labels("pässwörter") == [] && labels("12345678\n") == [] && labels("") == [])
        #expect(labels("12345678", .sae) == [true] && labels("12345678", .enterprise) == [])
        #expect(labels("12345", .wep) == [true] && labels("0123456789", .wep) == [true] && labels("123456", .wep) == [])
        #expect(labels(nil, .owe) == [false], "an enhanced open network needs no password")
    }

    @Test("27 No list, an empty list and no answer mean no labels") func nothing() {
        let helpers = [helper("a", scanList: true)]
        #expect(claims(group("Cafe"), helpers).isEmpty)
        #expect(claims(group("Cafe"), helpers, ["a": []]).isEmpty)
        #expect(claims(group("Cafe"), helpers, ["a": [note("Cafe", nil, .none)]]).isEmpty, "no confidence, no label")
    }

    @Test("28 Two helpers give two labels, one each") func two() {
        let answers = ["a": [note("Cafe"), note("Cafe", nil, .high)], "b": [note("Cafe", nil, .high)]]
        let claims = claims(group("Cafe"), [helper("a", scanList: true), helper("b", ssids: "Cafe")], answers)
        #expect(claims.map(\.helper) == ["a", "b"] && claims.map(\.confidence) == [.low, .high])
    }

    @Test("29 A helper cannot label what it may not see, nor another security, nor what is not there") func bounds() {
        let confined = [helper("a", ssids: "Bar")]
        #expect(claims(group("Cafe"), confined, ["a": [note("Cafe", nil, .high)]], remembered: "a").isEmpty)
        let free = [helper("a", scanList: true)]
        #expect(claims(group("Cafe"), free, ["a": [note("Cafe", .psk, password: "12345678")]]).isEmpty)
        #expect(claims(group("Cafe"), free, ["a": [note("Elsewhere")]]).isEmpty)
        #expect(claims(group("Cafe"), [], ["a": [note("Cafe")]]).isEmpty, "an answer of no helper")
        var broken = note("Cafe")
        broken.ssidHex = "43616665\0"
        #expect(claims(group("Cafe"), free, ["a": [broken]]).isEmpty)
    }

    @Test("29 An answer labels the networks of its question, not those that came into sight since") func question() {
        let (cafe, bar) = (group("Cafe"), group("Bar"))
        let labels = ScanClaims.Labels([note("Cafe"), note("Bar", nil, .high)], asked: [cafe])
        #expect(labels[cafe.network] == .low && labels[bar.network] == nil && labels[group("Cafe", .psk).network] == nil)
        #expect(ScanClaims.Labels([note("Cafe")], asked: []).isEmpty)
        var gone = labels
        gone.remove { $0 == cafe.network }
        #expect(gone.isEmpty)
        let flood = (0..<ScanClaims.Labels.limit).map { _ in note("Elsewhere") } + [note("Cafe")]
        #expect(ScanClaims.Labels(flood, asked: [cafe]).isEmpty, "what is beyond the limit is not read")
    }

    @Test func eachFileSaysWhichNetworksItsHelperSees() {
        var random = Walker.Random(seed: 11)
        let parts = ["Ca", "fe", "*", "?", "\\x43", "\\s", "\\*", " ", "C", "\\\\"]
        let names = ["Ca", "fe", "C", " ", "*", "\\x5c", "x"]
        for _ in 0..<300 {
            func text(_ parts: [String]) -> String {
                (0..<Int.random(in: 1...4, using: &random)).map { _ in parts.randomElement(using: &random)! }.joined()
            }
            let helpers = (0..<6).map { number in
                helper(
                    "h\(number)", ssids: number == 0 ? "" : [text(parts), text(parts)].joined(separator: ";"),
                    security: number == 1 ? [.psk] : [], scanList: true, enabled: number != 2)
            }
            let groups = ScanClaims.groups((0..<8).map { bss(text(names), $0 % 2 == 0 ? .open : .psk, id: UInt8($0)) })
            var coverage = ScanClaims.Coverage()
            coverage.add(groups, for: helpers)
            for (helper, seen) in zip(helpers, coverage.visible(in: groups)) {
                let expected = groups.filter { helper.enabled && helper.covers($0.ssid, $0.security) }
                #expect(seen == expected, "\(helper.ssids.map(\.source))")
            }
        }
    }

    @Test func coverageIsKeptUntilTheHelpersChange() {
        let groups = ScanClaims.groups([bss("Cafe"), bss("Bar", id: 2)])
        var coverage = ScanClaims.Coverage()
        func seen() -> [[String]] { coverage.visible(in: groups).map { $0.map(\.ssid.description).sorted() } }
        coverage.add(groups, for: [helper("a", ssids: "Cafe"), helper("b", scanList: true)])
        #expect(seen() == [["Cafe"], ["Bar", "Cafe"]])
        coverage.add([], for: [helper("a", ssids: "Bar")])
        #expect(seen() == [[]], "these helpers are not matched with them yet")
        coverage.add(groups, for: [helper("a", ssids: "Bar")])
        #expect(seen() == [["Bar"]])
        for number in 0..<6 {
            coverage.add((0..<1000).map { group("N\(number * 1000 + $0)") }, for: [helper("a", ssids: "Bar")])
        }
        coverage.add(groups, for: [helper("a", ssids: "Bar")])
        #expect(seen() == [["Bar"]], "after more names than are kept")
    }

    @Test("30 A label, or none, has no part in the race: both are asked, and their answers there count") func apart() {
        let helpers = [helper("H1", scanList: true), helper("H2", scanList: true)]
        let labels = claims(group("Cafe"), helpers, ["H1": [note("Cafe", nil, .high)], "H2": []])
        #expect(labels.map(\.helper) == ["H1"] && labels[0].confidence == .high)
        var bench = Bench(.default, "H1", "H2")
        bench.join()
        #expect(bench.commands.map(\.helper) == ["H1", "H2"] && bench.commands.allSatisfy { $0.command == .evaluate })
        bench.bid("H1", .none)
        bench.bid("H2", .low)
        #expect(bench.chosen == "H2")
    }

    @Test func hiddenNetworksHaveNoClaims() {
        for name in ["", "\\x00\\x00\\x00"] {
            #expect(claims(group(name), [helper("a", ssids: "*;???")], ["a": [note(name)]], remembered: "a").isEmpty)
        }
    }
}
