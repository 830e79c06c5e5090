import Glibc
import HotspotCore
import Testing

@testable import AuthorTools
@testable import PortalCatalogue

/// Every portal file that comes with hotspotd is read and plays its fixtures; Tests/Portals plays all of them against emulators.
@Suite struct ReplayTests {
    private static let folder = "/" + #filePath.split(separator: "/").dropLast(3).joined(separator: "/") + "/Portals"

    private static func names(_ folder: String, _ ending: String) -> [String] {
        guard let directory = opendir(folder) else { return [] }
        defer { closedir(directory) }
        var names: [String] = []
        while let entry = readdir(directory) {
            names.append(withUnsafeBytes(of: entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) })
        }
        return names.filter { $0.hasSuffix(ending) }.sorted()
    }

    @Test(arguments: names(folder, ".portal")) func plays(_ name: String) throws {
        let portal = try #require(try PortalCatalogue.read("\(Self.folder)/\(name)"))
        let fixtures = Replay.fixtures(of: "\(Self.folder)/\(name)")
        #expect(!fixtures.isEmpty, "\(name) has no recorded login: Tests/Portals/table --record")
        for fixture in fixtures {
            let octets = try #require(PortalCatalogue.octets(of: fixture, limit: RecordedLogin.limit))
            let mistakes = Replay(portal, try RecordedLogin(octets, file: fixture)).run()
            #expect(mistakes.isEmpty, "\(mistakes.map(\.description).joined(separator: "\n"))")
        }
    }

    @Test func everyFixtureHasItsFile() {
        let used = Set(Self.names(Self.folder, ".portal").flatMap { Replay.fixtures(of: "\(Self.folder)/\($0)") })
        #expect(Set(Self.names(Self.folder + "/tests", ".exchange").map { "\(Self.folder)/tests/\($0)" }) == used)
    }

    // MARK: - Differences

    private static let portal = """
        [Match]
        Host=portal.example
        Path=/in
        [Portal]
        Name=A
        Ask=room text Room
        [Step]
        Post=/login
        Field=room=${answer:room}
        [Failure]
        When=${json:ok} is false
        Means=refused
        Text=${json:why}
        """
    private static let exchange = """
        answer room=214
        > GET http://probe.example/
        < 302 Found
        < Location: http://portal.example/in
        > GET http://portal.example/in
        < 200 OK
        <| <p>Welcome</p>
        > POST http://portal.example/login
        >| room=214
        < 200 OK
        <| {"ok": true}
        = success
        """

    private func play(_ portal: String = portal, _ exchange: String = exchange) throws -> [Keyfile.Error] {
        let file = try #require(try PortalFileParser.parse(Array(portal.utf8), file: "a.portal"))
        return Replay(file, try RecordedLogin(Array(exchange.utf8), file: "a.exchange")).run()
    }

    @Test func playsAsRecorded() throws { #expect(try play() == []) }

    /// A text in the fixture and its replacement; the line number and a part of the sentence that reports it.
    @Test(arguments: [
        ("room=214\n<", "room=215\n<", 8, "sends the body room=214"),
        ("/login", "/enter", 8, "not POST http://portal.example/enter"),
        ("= success", "= failure", 8, "ends with success"),
        ("{\"ok\": true}", "{\"ok\": false, \"why\": \"no\"}", 8, "ends with uiRequired"),
        ("= success", "= success\n= claims low", 2, "claims high (recorded: low)"),
        ("/in\n<", "/else\n<", 5, "sends GET http://portal.example/in"),
        ("= success", "> GET http://portal.example/more\n< 200 OK\n= success", 12, "does not send GET"),
        ("> POST", "> X-Token: 7\n> POST", 5, "sends x-token: nothing, not 7"),
    ]) func tellsTheDifference(_ old: String, _ new: String, _ line: Int, _ words: String) throws {
        let mistakes = try play(Self.portal, Self.exchange.replacing(old, with: new))
        #expect(mistakes.contains { $0.line == line && $0.message.contains(words) }, "\(mistakes)")
    }

    @Test func tellsWhatWouldMakeAClaimHigh() throws {
        let mistakes = try play(
            Self.portal.replacing("Path=/in\n", with: ""), Self.exchange.replacing("= success", with: "= success\n= claims high"))
        #expect(mistakes.first?.message.hasPrefix("claims low (recorded: high)") == true)
        #expect(mistakes.first?.message.hasSuffix("Add a second kind of evidence.") == true, "\(mistakes)")
    }

    @Test func tellsThatNoRecordedLoginSucceeds() throws {
        let folder = "/tmp/replay-tests-\(getpid())"
        let tests = folder + "/tests"
        mkdir(folder, 0o755)
        mkdir(tests, 0o755)
        func write(_ path: String, _ text: String) throws {
            let file = try #require(fopen(path, "w"))
            fputs(text, file)
            fclose(file)
        }
        let names = [folder + "/a.portal", tests + "/a-no.exchange", tests + "/a.exchange"]
        defer { for name in names.reversed() + [tests, folder] { remove(name) } }
        try write(names[0], Self.portal)
        try write(
            names[1], Self.exchange.replacing("true", with: "false, \"why\": \"no\"").replacing("= success", with: "= uiRequired")
        )
        #expect(try Replay.check(names[0]).summary.hasSuffix("1 recorded logins were played, but no recorded login succeeds."))
        try write(names[2], Self.exchange)
        #expect(try Replay.check(names[0]).summary == "contains no mistakes; 2 recorded logins were played.")
        #expect(Replay.portal(of: names[1]) == names[0] && Replay.portal(of: folder + "/a.exchange") == nil)
    }

    @Test(arguments: ["hello", "> PUT http://a/", "= perhaps", "answer room", "< 200", ">| x\n= success"])
    func refusesOtherLines(_ line: String) {
        #expect(throws: Keyfile.Error.self) { try RecordedLogin(Array(line.utf8), file: "a") }
    }
}
