import Glibc
import HotspotCore
import TestSupport
import Testing

@testable import hotspotctl

/// `doctor` and `report` as users run them.
@Suite struct DoctorToolTests {
    private static let status = """
        {"interfaces":[{"interface":"wlan0","state":"presentingUI","since":5,"ssid":"Cafe Aroma","helper":"form","prompt":"p1",
        "portal":"https://portal.aroma.example","captive":true,"reason":"Welcome Erika, which room?","problems":[]}],
        "off":[{"ssid":"Hotel Adler"}],"version":"\(hotspotdVersion)"}
        """
    private static let helpers = """
        {"helpers":[{"name":"form","displayName":"Portal form","enabled":true,"disabledFor":["Bakery"],"priority":0,"ssids":["Museum"],
        "activation":"stdio","running":true,"strikes":0,"quarantined":false,"problems":[],"file":"/f","containment":["sandboxed"],
        "given":[{"networks":["Neighbour 7"],"count":1,"scanList":true,"credential":false,"at":5}]}]}
        """
    private static let check =
        #"{"verdict":"captive","interface":"wlan0","detail":"portal https://portal.aroma.example","requests":["GET http://nmcheck.gnome.org/check_network_status.txt → 302 in 9 ms"]}"#
    private static let story = #"""
        {"steps":[{"at":0,"time":5,"kind":"disclosed","detail":"Cafe Aroma, 02:00:5e:10:00:01 to form"},
        {"at":7,"kind":"trace","helper":"form","detail":"GET https://portal.aroma.example/l?sid=9f86d081884c7d65 → 200"},
        {"at":8,"kind":"trace","helper":"form","detail":"next to Adler Lounge, session 9f86d081884c7d65, laptop-17.home.example"},
        {"at":9,"kind":"answer","helper":"form","detail":"uiRequired: Welcome Erika, which room?"},
        {"at":9,"kind":"prompt","helper":"form","detail":"Dear Erika asks"}],
        "verdict":"The portal waits for you.\nWelcome Erika, which room?"}
        """#
    private static let history =
        #"{"attempts":[{"id":"a1","interface":"wlan0","ssid":"Adler Lounge","began":1,"outcome":"left"}]}"#
    private static let list = #"""
        {"networks":[{"ssid":"Station 9","ssidHex":"","bssid":"02:00:00:00:00:09","interface":"wlan0","frequency":2412,"signal":-50,
        "signalStrength":1,"security":"open","stations":1,"lastSeen":1,"joined":false,"disabled":false,"claims":[]}]}
        """#

    private static let script = FakeDaemon.Script(replies: [
        "Status": [status], "Helpers": [helpers], "Check": [check], "Explain": [story], "History": [history], "List": [list],
    ])

    private func run(_ words: [String], _ script: FakeDaemon.Script = script, path: String = "/usr/bin:/bin") throws -> Tool.Exit
    {
        let daemon = try FakeDaemon(script)
        defer { daemon.stop() }
        return try Tool.run(
            words + ["--socket", daemon.path],
            environment: [
                "LANG=C.UTF-8", "TZ=UTC", "PATH=\(path)", "USER=erika", "DBUS_SYSTEM_BUS_ADDRESS=unix:path=/nonexistent",
            ])
    }

    @Test func theVerdictComesLastWithOneCommand() throws {
        let ended = try run(["doctor"])
        #expect(ended.status == 1 && ended.errors.isEmpty)
        #expect(ended.output.hasSuffix("\nThe portal waits for your answer.\n  try: hotspotctl answer\n"), "\(ended.output)")
        let names = ended.output.split(separator: "\n").filter { !$0.hasPrefix(" ") }.dropLast().map {
            $0.split(separator: " ")[1]
        }
        #expect(names.map(String.init) == LayerName.allCases.map(\.rawValue))
    }

    @Test func jsonIsTheSameModel() throws {
        let ended = try run(["doctor", "--json=short"])
        let reply = FakeDaemon.value(ended.output)
        #expect(ended.status == 1 && reply["command"] == "hotspotctl answer" && reply["interface"] == "wlan0")
        #expect(reply["layers"]?.array?.map { $0["name"]?.string } == LayerName.allCases.map(\.rawValue))
        let states = reply["layers"]?.array?.compactMap { $0["state"]?.string } ?? []
        #expect(states.contains("ok") && states.allSatisfy { Layer.State(rawValue: $0) != nil }, "\(states)")
    }

    @Test func withoutTheDaemonItSaysSo() throws {
        let ended = try Tool.run(["doctor", "--socket", "/nonexistent/socket"])
        #expect(ended.status == 1 && ended.output.contains("radio") && ended.output.contains("Internet"), "\(ended.output)")
        // A machine without a network has another problem to fix first.
        if !ended.output.split(separator: "\n").contains(where: { $0.hasPrefix("×") && !$0.contains(" daemon ") }) {
            #expect(ended.output.contains("The daemon hotspotd is not running"), "\(ended.output)")
        }
    }

    @Test func aReportHasNothingPrivate() throws {
        let folder = TemporaryFolder()
        let home = TemporaryFolder()
        folder.write(
            "journalctl",
            "#!/bin/sh\necho 'Nov 22 10:00:00 hotspotd[7]: wlan0: joined Station 9 by 02:00:5e:10:00:01 as 10.21.1.7'\n",
            mode: 0o755)
        let settings = home.write(
            "hotspotd.conf", "[Policy]\nTrustedNetworks=Grandmother\n[Probe]\nURL=http://probe.home.example/x\n#Expect=1\n")
        let status = Self.status.replacing("{\"interfaces\"", with: "{\"settings\":\"\(settings)\",\"interfaces\"")
        let script = FakeDaemon.Script(replies: Self.script.replies.merging(["Status": [status]]) { $1 })
        let ended = try run(["report", "-"], script, path: "\(folder.path):/usr/bin:/bin")
        #expect(ended.status == 0, "\(ended.errors)")
        for part in [
            "Versions", "Doctor", "Changed settings", "Helpers", "The last attempt",
            "The end of the log of hotspotd.service",
        ] {
            #expect(ended.output.contains("== \(part) ==\n"), "\(part)")
        }
        for kept in [
            "kernel ", "glibc 2.", "URL=http://<host ", "TrustedNetworks=<names>", "wlan0: joined <network ",
            "GET https://<host ",
            "→ 200", "answer  form", "uiRequired: <words of the helper or portal>", "nmcheck.gnome.org/check_network_status.txt",
        ] { #expect(ended.output.contains(kept), "\(kept) in \(ended.output)") }
        #expect(!ended.output.contains("Expect="))
        for canary in [
            "Aroma", "Adler", "Bakery", "Museum", "Neighbour", "Station 9", "Erika", "erika", "Grandmother", "9f86d081884c7d65",
            "example",
            "10.21.1.7", "02:00:5e", "02:00:00", "laptop-17",
        ] { #expect(!ended.output.contains(canary), "\(canary) in \(ended.output)") }
    }

    @Test func aReportWithoutTheDaemonSaysWhatIsNotKnown() throws {
        let ended = try Tool.run(["report", "-", "--socket", "/nonexistent/socket"])
        let silent = "hotspotd does not answer, so"
        #expect(ended.output.contains("== Helpers ==\n\(silent) its helpers are unknown.\n"), "\(ended.output)")
        let head = "== Changed settings ==\n"
        let path = "/etc/hotspotd/hotspotd.conf"
        #expect(
            ended.output.contains("\(head)\(silent) these settings are from \(path); the daemon may use another file:\n"),
            "\(ended.output)")
        let named = try Tool.run(["report", "-", "--socket", "/nonexistent/socket", "--settings", "/nonexistent/file"])
        #expect(named.output.contains("\(head)–\n"), "\(named.output)")
    }

    @Test func aReportIsAFileOfItsOwnerThatReplacesNone() throws {
        let folder = TemporaryFolder()
        let file = folder.path + "/report.txt"
        let ended = try run(["report", file])
        #expect(ended.status == 0 && ended.output.contains("Wrote \(file). Read it before you send it"))
        var found = stat()
        #expect(stat(file, &found) == 0 && found.st_mode & 0o777 == 0o600)
        #expect(try folder.read("report.txt").contains("== Doctor =="))
        let again = try run(["report", file])
        #expect(again.status == 1 && again.errors.contains("File exists"))
    }
}

@Suite struct FactsReaderTests {
    @Test func theFilesOfTheKernelAreRead() throws {
        let folder = TemporaryFolder()
        func write(_ path: String, _ text: String) throws {
            var place = folder.path
            for part in path.split(separator: "/").dropLast() {
                place += "/\(part)"
                mkdir(place, 0o755)
            }
            folder.write(path, text)
        }
        for (name, type, state) in [
            ("lo", "772", "unknown"), ("wlan0", "1", "up"), ("eth0", "1", "down"), ("wg0", "65534", "unknown"),
        ] {
            try write("sys/class/net/\(name)/type", type + "\n")
            try write("sys/class/net/\(name)/operstate", state + "\n")
        }
        try write("sys/class/net/wg0/carrier", "1\n")
        try write("sys/class/net/wlan0/phy80211/name", "phy0\n")
        try write(
            "proc/net/route",
            """
            Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT
            wg0\t00000000\t00000000\t0001\t0\t0\t0\t00000080\t0\t0\t0
            wlan0\t00000000\t0101150A\t0003\t0\t0\t600\t00000000\t0\t0\t0

            """)
        try write(
            "proc/net/ipv6_route",
            "00000000000000000000000000000000 00 00000000000000000000000000000000 00 fe800000000000000000000000000001 00000400 00000001 00000000 00000003     eth0\n"
        )
        for (index, (type, soft, hard)) in [("wlan", 0, 0), ("wlan", 1, 0), ("wlan", 1, 1), ("bluetooth", 1, 0)].enumerated() {
            try write("sys/class/rfkill/rfkill\(index)/type", type + "\n")
            try write("sys/class/rfkill/rfkill\(index)/soft", "\(soft)\n")
            try write("sys/class/rfkill/rfkill\(index)/hard", "\(hard)\n")
        }
        try write("etc/resolv.conf", "# nameserver 192.0.2.1\nsearch example\nnameserver 127.0.0.53\nnameserver\n")
        let reader = FactsReader(root: folder.path)
        let interfaces = reader.interfaces()
        #expect(interfaces.map(\.name) == ["eth0", "wg0", "wlan0"])
        #expect(interfaces.map(\.kind) == [.wired, .tunnel, .wireless])
        #expect(interfaces.map(\.isUp) == [false, true, true])
        // A tunnel's route for half of the Internet is not a default route.
        #expect(interfaces.map(\.hasDefaultRoute) == [true, false, true])
        #expect(reader.switches() == [.on, .offByProgram, .offByKey])
        #expect(reader.resolvers() == ["127.0.0.53"])
    }
}
