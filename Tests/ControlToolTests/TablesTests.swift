import HotspotCore
import TestSupport
import Testing

@testable import ControlAPI
@testable import hotspotctl

/// Tables on narrow terminals, with the longest names.
@Suite struct TablesTests {
    private static let ssid = "The Grand Hotel at the River 214"

    private func renderer(_ columns: Int) -> Renderer {
        var renderer = Renderer(style: .plain, now: 1_000_000_000_000)
        renderer.columns = columns
        return renderer
    }

    /// The columns that fit, by their headings.
    private func headings(_ lines: [String]) -> [String] { lines[0].split(separator: "  ").map { $0.trimmed } }

    @Test(arguments: [
        (60, ["WHEN", "NETWORK", "OUTCOME"]), (80, ["WHEN", "NETWORK", "HELPER", "OUTCOME"]),
        (200, ["WHEN", "INTERFACE", "NETWORK", "HELPER", "OUTCOME", "TOOK", "ATTEMPT"]),
    ]) func historyKeepsNetworkAndOutcome(_ columns: Int, _ shown: [String]) {
        let renderer = renderer(columns)
        let attempts = ["form", String(repeating: "helper-", count: 9)].map {
            AttemptStatus(
                id: "d0b31811c7979ab1-12", interface: "enx020000000001", ssid: Self.ssid, began: renderer.now - 720_000, ended: 9,
                helper: $0, outcome: "unclaimedCaptive")
        }
        let lines = renderer.lines(HistoryReply(attempts: attempts))
        #expect(headings(lines) == shown)
        for line in lines[1...2] {
            #expect(line.contains(Self.ssid) && line.contains("not logged in"), "\(line)")
            #expect(Renderer.width(line) <= columns, "\(line)")
        }
        #expect(lines.count == (columns == 200 ? 3 : 4))
    }

    /// A login by a portal file shows the file's name. In all other cases, the helper's name is shown.
    @Test(arguments: [
        ("catalogue", "tik", "Tik hotspot"), ("form", "tik", "form"), ("catalogue", "other", "catalogue"),
        ("catalogue", nil, "catalogue"),
        ("catalogue", "nameless", "catalogue"), ("catalogue", "../tik", "catalogue"), ("catalogue", ".tik", "catalogue"),
    ]) func aPortalFilesNameStandsForItsHelper(_ helper: String, _ kind: String?, _ name: String) {
        let folder = TemporaryFolder()
        for file in ["one/tik.portal", "one/.tik.portal", "tik.portal"] { folder.write(file, "[Portal]\nName=Tik hotspot\n") }
        folder.write("one/nameless.portal", "[Match]\nHost=a\n")
        var renderer = renderer(200)
        renderer.portals.folders = [folder.path + "/none", folder.path + "/one"]
        let attempt = AttemptStatus(
            id: "d0b31811c7979ab1-12", interface: "wlan0", ssid: "Cafe", began: renderer.now - 720_000, ended: 9, helper: helper,
            portalKind: kind, outcome: "online")
        #expect(renderer.lines(HistoryReply(attempts: [attempt]))[1].contains("  \(name)  "))
        var status = InterfaceStatus(interface: "wlan0", state: .authenticated, since: 0)
        (status.ssid, status.helper, status.portalKind) = ("Cafe", helper, kind)
        #expect(renderer.lines(StatusReply(interfaces: [status]))[0].hasSuffix("via \(name)"))
        var network = ScannedNetwork(
            ssid: "Cafe", ssidHex: "", bssid: "", interface: "wlan0", frequency: 2412, signal: -70, signalStrength: 1,
            security: "open", stations: 1, lastSeen: 1, joined: true, claims: [], disabled: false)
        let kinds = kind.map { ["wlan0": $0] } ?? [:]
        #expect(
            renderer.lines(ListReply(networks: [network]), present: ["wlan0": helper], kinds: kinds)[1].contains("  \(name)  "))
        network.claims = [
            ClaimStatus(helper: helper, displayName: "", confidence: .high, source: "remembered", ready: true, portalKind: kind)
        ]
        #expect(renderer.lines(ListReply(networks: [network]))[1].contains("  \(name) (remembered)  "))
    }

    @Test func anAttemptIsWholeOrLeftOut() {
        let attempt = AttemptStatus(
            id: "d0b31811c7979ab1-12", interface: "wlan0", ssid: "Cafe Aroma", began: renderer(80).now - 720_000, ended: 9,
            helper: "form", outcome: "temporaryFailure")
        #expect(renderer(80).lines(HistoryReply(attempts: [attempt]))[1].hasSuffix("  d0b31811c7979ab1-12"))
        #expect(!renderer(60).lines(HistoryReply(attempts: [attempt]))[1].contains("d0b31811"))
    }

    @Test(arguments: [
        (60, ["SSID", "HELP…", "LAST TIME"]), (80, ["SSID", "SIGNAL", "SECURITY", "HELP…", "LAST TIME"]),
        (200, ["SSID", "SIGNAL", "SECURITY", "HELPER", "READY", "LAST TIME"]),
    ]) func theListKeepsTheNames(_ columns: Int, _ shown: [String]) {
        let renderer = renderer(columns)
        let claim = ClaimStatus(
            helper: "f", displayName: "A portal form with a long name", confidence: "low", source: "filter", ready: true)
        let network = ScannedNetwork(
            ssid: Self.ssid, ssidHex: "", bssid: "", interface: "w", frequency: 2412, signal: -70, signalStrength: 1,
            security: "open", stations: 1, lastSeen: 1, joined: true, claims: [claim, claim], disabled: false,
            lastOutcome: "temporaryFailure", lastOutcomeTime: renderer.now - 720_000)
        let lines = renderer.lines(ListReply(networks: [network]))
        #expect(headings(lines) == shown)
        #expect(lines[1].contains(Self.ssid) && lines[1].contains("failed for now"), "\(lines[1])")
        #expect(Renderer.width(lines[1]) <= columns)
    }

    @Test(arguments: [60, 80]) func helpersAndCredentialsStayWithinTheTerminal(columns: Int) {
        let renderer = renderer(columns)
        let helper = HelperStatus(
            name: "grand-hotel-keys", displayName: String(repeating: "Grand ", count: 9), enabled: true, priority: 10,
            ssids: [Self.ssid, Self.ssid, Self.ssid], activation: "stdio", running: false, strikes: 0, quarantined: false,
            file: "/f")
        let row = renderer.lines(HelpersReply(helpers: [helper]), verbose: false)[1]
        #expect(row.hasPrefix("grand-hotel-keys  ") && row.contains("  ready  ") && Renderer.width(row) <= columns, "\(row)")
        let credential = CredentialStatus(
            ssid: Self.ssid, security: "open", helper: "grand-hotel-keys", portal: "https://login.grand-hotel.example",
            fields: ["room", "name"], release: .confirm)
        let stored = renderer.lines(CredentialsReply(credentials: [credential], pin: "none"))[1]
        #expect(stored.hasPrefix(columns == 80 ? Self.ssid : "The Grand Hotel"), "\(stored)")
        #expect(Renderer.width(stored) <= columns, "\(stored)")
    }

    /// A wired network has no signal, and neither has a network that is not in sight.
    @Test func networksWithoutASignalComeAfterThoseInSight() throws {
        func network(_ ssid: String, signal: Int, joined: Bool = false) -> ScannedNetwork {
            ScannedNetwork(
                ssid: SSID(printable: ssid)!, bssid: HardwareAddress("02:00:00:00:00:01")!, interface: "w", frequency: 2412,
                signal: signal, security: .open, stations: 1, lastSeen: 1, joined: joined, claims: [], disabled: false,
                autoJoin: nil, last: nil)
        }
        func unseen(_ network: NetworkID, joined: Bool) -> ScannedNetwork {
            ScannedNetwork(
                network, interface: joined ? "eth0" : "", lastSeen: 1, joined: joined, claims: [], disabled: false, autoJoin: nil,
                last: nil)
        }
        let gateway = try #require(HardwareAddress("02:00:00:00:00:09"))
        let known = try NetworkID.wireless(#require(SSID(printable: "Home")), .psk)
        let lines = renderer(200).lines(
            ListReply(networks: [
                unseen(known, joined: false), network("Far", signal: -90), unseen(.wired(gateway), joined: true),
                network("Near", signal: -40),
            ]))
        let names = lines.dropFirst().map { $0.dropFirst(2).split(separator: "  ")[0].trimmed }
        #expect(names == ["wired:02:00:00:00:00:09", "Near", "Far", "Home"], "\(lines)")
        #expect(lines[1].hasPrefix("● ") && lines[1].contains("  –         wired "), "\(lines)")
    }
}

extension Substring {
    fileprivate var trimmed: String { String(drop { $0 == " " }.prefix { $0 != "\n" }) }
}
