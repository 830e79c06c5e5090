import Testing

@testable import hotspotctl

@Suite struct JoinVerbTests {
    private func run(
        _ replies: [String: [String]], _ arguments: [String], input: String = "", check: (FakeDaemon) -> Void = { _ in }
    ) throws -> Tool.Exit {
        let daemon = try FakeDaemon(.init(replies: replies))
        defer { daemon.stop() }
        let ended = try Tool.run(arguments + ["--socket", daemon.path], input: input)
        check(daemon)
        #expect(!(ended.output + ended.errors).contains("canary"))
        return ended
    }

    private static let done = #"{"interface":"wlan0","manager":"NetworkManager"}"#
    private static let needed = #"!Failed {"code":"passwordNeeded","message":"This network requires a password."}"#

    @Test func aNetworkIsJoinedAndLeft() throws {
        let joined = try run(["Join": [Self.done]], ["join", "Cafe Aroma", "--once", "--interface", "wlan0"]) {
            #expect($0.parameters("Join") == ["ssid": "Cafe Aroma", "interface": "wlan0", "once": true])
        }
        #expect(
            joined.output
                == "Joined \"Cafe Aroma\" on wlan0 through NetworkManager; to see the login: hotspotctl login --wait wlan0\n")
        let left = try run(["Leave": [#"{"interface":"wlan0"}"#]], ["leave"]) { #expect($0.parameters("Leave") == [:]) }
        #expect(left.output == "Left the network on wlan0; to join one: hotspotctl join SSID\n")
    }

    @Test func aPasswordIsReadFromTheInputAndNeverFromTheArguments() throws {
        let joined = try run(["Join": [Self.done]], ["join", "--password", "Home"], input: "canary beans\n") {
            #expect($0.parameters("Join") == ["ssid": "Home", "password": "canary beans", "once": false])
        }
        #expect(joined.status == 0)
        let wrong = try run(["Join": [Self.done]], ["join", "Home", "--password=secret beans"]) { #expect($0.calls.isEmpty) }
        #expect(wrong.status == 2)
    }

    @Test func aMissingPasswordIsNeededWhereNoTerminalIs() throws {
        let ended = try run(["Join": [Self.needed]], ["join", "Home"])
        #expect(ended.status == 4 && ended.errors.hasSuffix("  try: hotspotctl join --password Home\n"), "\(ended.errors)")
    }

    @Test func refusalsAreSentences() throws {
        let ended = try run(
            ["Join": [#"!Failed {"code":"wrongPassword","message":"The network does not accept this password."}"#]],
            ["join", "Home", "--password"], input: "canary beans\n")
        #expect(ended.status == 1 && ended.errors == "hotspotctl: The network does not accept this password.\n")
        let unknown = try run(["Join": [#"!NoSuchNetwork {"ssid":"Cafe","nearest":"Cafe Aroma"}"#]], ["join", "Cafe"])
        #expect(unknown.status == 10 && unknown.errors.contains("did you mean \"Cafe Aroma\""), "\(unknown.errors)")
    }
}
