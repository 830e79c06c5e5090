import HotspotCore
import Testing

@testable import ControlAPI
@testable import hotspotctl

/// Names in the output where several interfaces are in a network, or several questions wait.
@Suite struct SeveralInterfacesTests {
    private let renderer = Renderer(style: .plain, now: 0)

    private func interface(_ name: String, prompt: String? = nil) -> InterfaceStatus {
        var status = InterfaceStatus(interface: name, state: prompt == nil ? .failure : .presentingUI, since: 1)
        (status.ssid, status.prompt) = ("Cafe", prompt)
        if prompt == nil { status.problems = [Problem(.loginFailed, "It failed.", hint: "hotspotctl login")] }
        return status
    }

    private func lines(_ interfaces: InterfaceStatus...) -> [String] { renderer.lines(StatusReply(interfaces: interfaces)) }

    @Test func theHintsOfTheStatusNameThem() {
        #expect(lines(interface("net1")).last == "    try: hotspotctl login")
        let failed = lines(interface("net1"), interface("net2"))
        #expect(failed.contains("    try: hotspotctl login net1") && failed.contains("    try: hotspotctl login net2"))
        #expect(lines(interface("net1", prompt: "p1"), interface("net2")).contains("  to answer: hotspotctl answer net1"))
        let asking = lines(interface("net1", prompt: "p1"), interface("net2", prompt: "p2"))
        #expect(asking.contains("  to answer: hotspotctl answer net1") && asking.contains("  to answer: hotspotctl answer net2"))
        let (one, other) = (interface("net1"), interface("net2"))
        for verb in ["answer", "login", "login --wait", "logoff", "browse", "check", "check --verbose", "explain"] {
            #expect(renderer.command("hotspotctl \(verb)", for: one, among: [one, other]) == "hotspotctl \(verb) net1")
        }
    }

    /// A question can also be named by its interface; the next question on that interface may be a different one.
    @Test(arguments: [("p1", "net1"), (nil, "net1")] as [(String?, String)]) func aQuestionIsNamedByItsInterface(
        prompt: String?, name: String
    ) throws {
        let asked =
            #"{"prompts":[{"id":"p1","interface":"net1","ssid":"Cafe","helper":"form","title":"","since":1,"fields":[]}]}"#
        let state = prompt.map { #""presentingUI","prompt":"\#($0)""# } ?? #""failure""#
        let status = #"{"version":"1","interfaces":[{"interface":"net1","state":\#(state),"since":1,"problems":[]}]}"#
        let script = FakeDaemon.Script(
            replies: ["Prompts": [#"{"prompts":[]}"#, asked], "Status": [status], "Dismiss": ["{}"]])
        let ended = try run(script, ["answer", "--dismiss", name])
        let said =
            prompt == nil
            ? "hotspotctl: No question waits on net1.\n  try: hotspotctl status\n"
            : "Dismissed; your answers were not kept. To start over: hotspotctl login net1\n"
        #expect(ended.status == (prompt == nil ? 10 : 0) && ended.output + ended.errors == said, "\(ended)")
    }

    @Test func theDaemonMayWantAName() throws {
        let refusal = #"!Failed {"code":"severalInterfaces","message":"Name one: net1, net2."}"#
        let ended = try run(.init(replies: ["Logoff": [refusal]]), ["logoff"])
        #expect(ended.status == 2 && ended.errors == "hotspotctl: Name one: net1, net2.\n  try: hotspotctl status\n")
    }

    private func run(_ script: FakeDaemon.Script, _ arguments: [String]) throws -> Tool.Exit {
        let daemon = try FakeDaemon(script)
        defer { daemon.stop() }
        return try Tool.run(arguments + ["--socket", daemon.path])
    }

    @Test func loginAndLogoffSayWhichOneTheDaemonChose() throws {
        let chosen = #"{"interface":"net1"}"#
        #expect(
            try run(.init(replies: ["Login": [chosen]]), ["login"]).output
                == "Started on net1; to see the result: hotspotctl\n")
        func state(_ name: String, _ problems: String = "") -> String {
            #"{"version":"1","interfaces":[{"interface":"net1","state":"\#(name)","since":1,"problems":[\#(problems)]}]}"#
        }
        let way = [state("authenticated"), state("loggingOff"), state("inactive")]
        #expect(
            try run(.init(replies: ["Logoff": [chosen], "Status": way]), ["logoff"]).output
                == "Logged off on net1; to log in again: hotspotctl login net1\n")
        let problem = #"{"code":"logoffUnconfirmed","message":"The portal is dead.","hint":"hotspotctl logoff"}"#
        let left = try run(.init(replies: ["Logoff": [chosen], "Status": [state("inactive", problem)]]), ["logoff"])
        #expect(left.status == 1 && left.output.isEmpty && left.errors.hasPrefix("hotspotctl: The portal is dead.\n"), "\(left)")
        // net2 changes first, but the command waits for net1.
        func status(_ first: String, _ second: String) -> String {
            func one(_ name: String, _ state: String) -> String {
                #"{"interface":"\#(name)","state":"\#(state)","since":1,"ssid":"Cafe","captive":false,"problems":[]}"#
            }
            return #"{"version":"1","interfaces":[\#(one("net1", first)),\#(one("net2", second))]}"#
        }
        let ended = try run(
            .init(
                replies: ["Login": [chosen]],
                status: [
                    [
                        status("evaluating", "evaluating"), status("evaluating", "failure"), status("authenticated", "failure"),
                    ]
                ]), ["login", "--wait"])
        #expect(
            ended.status == 0 && ended.output.hasPrefix("Waiting for the outcome on net1.\nOnline"), "\(ended)"
        )
        let failed = try run(
            .init(
                replies: ["Login": [chosen]],
                status: [[status("evaluating", "authenticated"), status("failure", "authenticated")]]), ["login", "--wait"])
        #expect(failed.status == 1 && failed.errors.hasSuffix("  try: hotspotctl explain net1\n"), "\(failed)")
    }

    @Test func aFailedLoginsHintNamesTheInterfaceWhereThereAreOthers() {
        var gone = interface("net1")
        gone.ssid = nil
        #expect(renderer.failure(gone, among: [gone]).hint == "hotspotctl login")
        #expect(renderer.failure(gone, among: [gone, interface("net2")]).hint == "hotspotctl login net1")
    }
}
