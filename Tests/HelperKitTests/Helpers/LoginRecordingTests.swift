import Glibc
import HotspotCore
import TestSupport
import Testing

@testable import HelperKit
@testable import AuthorTools
@testable import PortalCatalogue
@testable import PortalPages

/// Logins that are recorded at a server: what is written, and what is not.
@Suite struct LoginRecordingTests {
    private static let file = """
        [Match]
        Path=/linde
        Body=Welcome
        [Portal]
        Name=Linde
        Ask=code text Code
        [Step]
        Post=/login
        Field=code=${answer:code}
        [Failure]
        When=${json:why} is wrong code
        Means=refused
        Text=${json:why}
        [Session]
        Open=/left
        Seconds=${json:left}
        [Logoff]
        Open=/out
        """

    /// A portal that opens for `LINDE-4711`.
    private func linde(_ refusal: String = #"{"ok":false,"why":"used up"}"#, status: Int = 200) -> ScriptedServer {
        let isOpen = Locked(false)
        return ScriptedServer(host: 2) { request in
            switch request.path {
            case "/": return .send(octets(isOpen.with { $0 } ? "HTTP/1.1 204 No Content\r\n\r\n" : redirect("/linde")))
            case "/linde": return .page("<title>Linde</title>Welcome")
            case "/login":
                guard request.body == "code=LINDE-4711" else { return .send(octets(http(status, refusal))) }
                isOpen.with { $0 = true }
                return .page(#"{"ok":true}"#)
            case "/left": return .page(#"{"left":3590}"#)
            default:
                isOpen.with { $0 = false }
                return .page("{}")
            }
        }
    }

    /// Records a login with these answers, one for each question.
    private func record(
        _ server: ScriptedServer, _ text: String = file, _ answers: [String] = ["LINDE-4711"]
    ) throws -> LoginRecording.Recorded {
        let portal = try #require(try PortalFileParser.parse(Array(text.utf8), file: "linde.portal"))
        var recording = LoginRecording(link: loopback(probe: server.url + "/"), portals: [portal], isNamed: true, machine: "")
        recording.patience = 1
        var rest = answers[...]
        return try recording.run { prompt, isRefused in
            #expect(isRefused == (rest.count < answers.count))
            return rest.popFirst().map { [prompt.fields[0].name: $0] }
        }
    }

    private func fault(_ server: ScriptedServer, _ text: String = file, _ answers: [String] = ["LINDE-4712"]) throws -> String {
        try #require(throws: LoginRecording.NotRecorded.self) { try record(server, text, answers) }.description
    }

    /// The answer contains a word of the file's `Path=`. The path stays as it is.
    @Test func triesTheSessionAndLogsOff() throws {
        let server = linde()
        let recorded = try record(server)
        #expect(recorded.exchange.result == .success && recorded.isWanted)
        #expect(recorded.notes == ["59 min left", "logged off"])
        #expect(recorded.exchange.text.contains("/linde") && !recorded.exchange.text.contains("4711"))
        #expect(server.requests.suffix(2).map(\.path) == ["/out", "/"])
    }

    @Test func theProbeAloneProvesALogin() throws {
        let fault = try fault(linde())
        #expect(fault.contains("The portal file reports success, but the network is still closed; the portal answered: 200"))
        #expect(fault.contains("used up") && fault.contains("Nothing was written"))
    }

    @Test func aFailedLoginIsNotWritten() throws {
        let fault = try fault(linde("Database down", status: 500))
        #expect(fault.contains("temporaryFailure: The portal answered with status 500"))
        #expect(fault.contains("500 Text Database down") && fault.contains("Nothing was written"))
    }

    /// Without a portal file, the recording shows the portal; nothing was typed.
    @Test func aLoginForABrowserIsWrittenWithoutAFile() throws {
        let page = "<form action=/p><input name=card placeholder='Card number'><button>Go</button></form>"
        let server = ScriptedServer(host: 2, ["/": redirect("/inn"), "/inn": http(200, page)])
        let recording = LoginRecording(link: loopback(probe: server.url + "/"), portals: [], machine: "")
        let recorded = try recording.run { _, _ in nil }
        #expect(!recorded.isWanted && recorded.exchange.result == .uiRequired)
        #expect(
            recorded.summary(of: "inn.exchange") == """
                inn.exchange has 2 requests, by the forms on the portal's pages, and ends with uiRequired; The page asks for a payment or names a price; hotspotd never pays.
                This machine's addresses and tokens were replaced. Read the file before you share it.
                """)
    }

    @Test func theQuestionNamesTheHost() throws {
        let server = ScriptedServer(
            host: 2, ["/": redirect("/inn"), "/inn": http(200, "<title>Inn</title><form><input name=room></form>")])
        let recording = LoginRecording(link: loopback(probe: server.url + "/"), portals: [], machine: "")
        var titles: [String] = []
        _ = try recording.run { prompt, _ in
            titles.append(prompt.title)
            return nil
        }
        #expect(titles == ["Inn (\(server.url))"])
    }

    @Test func aRefusalIsWrittenIfNothingMoreIsAnswered() throws {
        let recorded = try record(linde(#"{"why":"wrong code"}"#), Self.file, ["LINDE-4712"])
        #expect(recorded.exchange.result == .uiRequired && recorded.exchange.reason == "wrong code" && recorded.isWanted)
        #expect(try record(linde(#"{"why":"wrong code"}"#), Self.file, ["LINDE-4712", "LINDE-4711"]).exchange.result == .success)
    }

    @Test func anAnswerThatIsThePortalsWordIsNotSent() throws {
        let server = linde()
        let fault = try fault(server, Self.file, ["linde"])
        #expect(fault.contains("one of the portal's own words") && !server.requests.contains { $0.method == "POST" })
    }

    @Test func aNamedFileMustMatch() throws {
        let fault = try fault(linde(), Self.file.replacing("Path=/linde", with: "Path=/lind"))
        #expect(fault == "linde.portal: Path=/lind does not match /linde")
    }

    @Test func anOpenNetworkShowsNothing() throws {
        let server = ScriptedServer(host: 2) { _ in .send(octets("HTTP/1.1 204 No Content\r\n\r\n")) }
        #expect(try fault(server).contains("on the portal's page or with: hotspotctl logoff"))
    }

    @Test func anAddressThatIsNotAskedHasAdvice() {
        #expect(
            TransferError(.refusedAddress, "10.0.0.1 is this machine's own").advice.contains(
                "a portal on this computer, use --interface lo"))
        #expect(TransferError(.timeout).advice == TransferError(.timeout).description)
    }

    // MARK: - The tool

    /// A trial sends nothing, so it must not turn into a recording.
    @Test func aTrialOfWhatIsNoAddressEndsThere() throws {
        let told = try Program.run(Program.authorTools + ["portals", "try", "portal.example"])
        #expect(told.status == 2 && told.output.contains("is not a web address"), "\(told.output)")
        #expect(try Program.run(Program.authorTools + ["portals", "record"]).status == 2)
    }

    @Test func aMissingFolderIsToldBeforeAnythingIsSent() throws {
        let told = try Program.run(Program.authorTools + ["portals", "record", "--interface=lo", "/nowhere/a.exchange"])
        #expect(told.status == 1 && told.output == "/nowhere/: No such file or directory\n")
    }

    /// The file beside the fixture is used, and a mistake in it ends the recording.
    @Test func aFileWithAMistakeIsNotPassedOver() throws {
        let folder = TemporaryFolder()
        let path = folder.write("linde.portal", Self.file.replacing("Field=code", with: "Feld=code"), mode: 0o644)
        let tests = path.replacing("linde.portal", with: "tests")
        #expect(mkdir(tests, 0o755) == 0)
        let told = try Program.run(
            Program.authorTools + ["portals", "record", "--interface=lo", "\(tests)/linde-wrong.exchange"])
        #expect(told.status == 1 && told.output.contains("linde.portal:9:"), "\(told.output)")
    }
}
