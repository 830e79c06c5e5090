import Foundation
import HotspotCore
import TestSupport
import Testing
import Varlink

/// The built daemon from outside, as an administrator and a client meet it.
@Suite(.enabled(if: Machine.runs(Machine.hasRelease), "make build makes the release binaries that these tests run"))
struct DaemonProcessTests {
    @Test func answersAClientThatNobodyHereWrote() throws {
        try #require(Machine.hasVarlink, "make python fetches the package varlink")
        let daemon = try RunningDaemon()
        let script = """
            import varlink, json
            client = varlink.Client("unix:\(daemon.socket)")
            info = client.get_interface("org.varlink.service")
            with client.open("org.varlink.service") as service:
                print(json.dumps(service.GetInfo()))
            with client.open("org.hotspotd.Control") as control:
                print(json.dumps(control.Status()))
                print(json.dumps(control.Helpers()))
                print(json.dumps(control.Prompts()))
                print(json.dumps(control.Check()))
                print(json.dumps(control.History()))
                control.SetEnabled(ssid="Cafe Aroma", enabled=False)
                for call, words in ((control.Login, {"interface": "nope"}), (control.Answer, {"id": "x", "answers": {}, "remember": False}),
                                    (control.Forget, {"ssid": "nowhere"}), (control.Explain, {})):
                    try:
                        call(**words)
                        print("no error")
                    except varlink.VarlinkError as error:
                        print(error.error())
                for status in control.Status(_more=True):
                    print("more", json.dumps(status))
                    break
            """
        let python = try Finished.run(
            "/usr/bin/python3", ["-c", script], environment: ["PYTHONPATH": Machine.pythonPackages.path])
        #expect(python.status == 0, "\(python.output)")
        for word in [
            "org.hotspotd.Control", #""interfaces": []"#, #""helpers": []"#, #""prompts": []"#, #""verdict": "none""#,
            #""attempts": []"#,
            "org.hotspotd.Control.NoSuchInterface", "org.hotspotd.Control.NoSuchPrompt", "org.hotspotd.Control.NoSuchNetwork",
            "org.hotspotd.Control.Failed", "more {",
        ] {
            #expect(python.output.contains(word), "\(word) in \(python.output)")
        }
        #expect(!python.output.contains("no error"))
    }

    @Test func describesTheInterfaceWordForWord() throws {
        let daemon = try RunningDaemon()
        let client = try daemon.connect()
        let answer = try client.call("org.varlink.service.GetInterfaceDescription", ["interface": "org.hotspotd.Control"])
        let file = try String(
            contentsOf: Machine.checkout.appendingPathComponent("Interfaces/org.hotspotd.Control.varlink"), encoding: .utf8)
        #expect(answer["description"]?.string == file.trimmingCharacters(in: .newlines))
    }

    @Test func whatWasSwitchedOffIsStillOffAfterKillNine() throws {
        let daemon = try RunningDaemon(helpers: ["quiet": "[Helper]\nName=quiet\nExec=/bin/true\n"])
        let client = try daemon.connect()
        _ = try client.call("org.hotspotd.Control.SetEnabled", ["helper": "quiet", "enabled": false])
        daemon.kill()
        try daemon.start()
        let helpers = try daemon.connect().call("org.hotspotd.Control.Helpers")["helpers"]?.array
        #expect(helpers?.first?["name"] == "quiet")
        #expect(helpers?.first?["enabled"] == false)
        #expect(daemon.stop() == 0)
    }

    /// SIGABRT is what the service manager's watchdog sends.
    @Test(arguments: [SIGABRT, SIGQUIT, SIGSEGV]) func aSignalThatEndsProgramsEndsTheDaemon(_ signal: Int32) throws {
        #expect(try RunningDaemon().kill(by: signal) == signal)
    }

    @Test(arguments: [
        ("[Commands]\nTimeoutSec=soon", "hotspotd.conf:8: TimeoutSec= takes seconds"),
        ("[Policy]\nRules=lax", "takes one of default, strict, not \"lax\""),
        ("[Policy]\nRule=strict", "unknown key Rule= in [Policy]; known are"),
        ("[Polizei]\nRules=strict", "unknown section [Polizei]; known are [Commands] [Daemon] [Interfaces] [Policy] [Probe]"),
        ("[Probe]\nURL=file:///etc/passwd", "takes an address that begins with http://"),
        ("just words", "hotspotd.conf:7: expected Key=Value"),
    ]) func aWrongSettingNamesFileLineAndChoices(_ extra: String, _ words: String) throws {
        let scratch = TemporaryFolder()
        let file = scratch.write(
            "hotspotd.conf",
            """
            \(scratch.daemonSettings)
            [Interfaces]
            Match=none
            \(extra)
            """)
        let run = try Finished.run(
            Machine.release.appendingPathComponent("hotspotd").path, ["--settings", file])
        #expect(run.status == 78, "the unit does not start it again")
        #expect(run.output.contains(words), "\(run.output)")
        #expect(run.output.contains(file), "\(run.output)")
    }

    @Test func aReloadThatCannotBeReadKeepsTheLastGoodSettings() throws {
        let daemon = try RunningDaemon()
        let good = try String(contentsOfFile: daemon.settings, encoding: .utf8)
        try (good + "\n[Commands]\nTimeoutSec=never\n").write(toFile: daemon.settings, atomically: true, encoding: .utf8)
        Foundation.kill(daemon.pid, SIGHUP)
        while !daemon.log.contains("TimeoutSec= takes seconds") { usleep(5000) }
        #expect(daemon.log.contains("the previous settings stay in force"))
        _ = try daemon.connect().call("org.hotspotd.Control.Status")
    }

    @Test func aReloadSaysWhatWaitsForTheNextStart() throws {
        let daemon = try RunningDaemon()
        let good = try String(contentsOfFile: daemon.settings, encoding: .utf8)
        let words = "StateDirectory=, RuntimeDirectory=: the change takes effect when the daemon starts"
        try (good + "\n[Daemon]\nStateDirectory=/nowhere\nRuntimeDirectory=/nowhere/at/all\n").write(
            toFile: daemon.settings, atomically: true, encoding: .utf8)
        Foundation.kill(daemon.pid, SIGHUP)
        while !daemon.log.contains(words) { usleep(5000) }
        #expect(daemon.log.contains("the settings were read again"))
        #expect(daemon.log.contains("OnFailure= count at an interface from its next join on"))
        _ = try daemon.connect().call("org.hotspotd.Control.Status")
    }

    @Test func aSecondDaemonEndsWithAClearMessage() throws {
        let daemon = try RunningDaemon()
        let second = try Finished.run(
            Machine.release.appendingPathComponent("hotspotd").path, ["--settings", daemon.settings])
        #expect(second.status == 1)
        #expect(second.output.contains("another hotspotd is using"), "\(second.output)")
        _ = try daemon.connect().call("org.hotspotd.Control.Status")
    }

    /// A unit's user may not make a folder in /run. The service manager makes it before it starts the next daemon.
    @Test func whereTheRuntimeFolderCannotBeMadeAgainTheServiceManagerIsAskedTo() throws {
        let daemon = try RunningDaemon(environment: ["INVOCATION_ID": "1"])
        let folder = daemon.scratch.path + "/run"
        try FileManager.default.removeItem(atPath: folder)
        daemon.scratch.write("run", "")
        daemon.waitForEnd()
        #expect(daemon.log.contains("hotspotd creates them again"))
        try FileManager.default.removeItem(atPath: folder)
        try daemon.start()
    }

    @Test func aRefusedHelperIsShownWithItsReason() throws {
        let daemon = try RunningDaemon(helpers: [
            "absent": "[Helper]\nName=absent\nExec=/nowhere/to/be/found\n",
            "wrong": "[Helper]\nName=wrong\nExec=/bin/true\nPriority=very\n",
        ])
        let text = "\(try daemon.connect().call("org.hotspotd.Control.Helpers"))"
        #expect(text.contains("/nowhere/to/be/found"), "\(text)")
        #expect(text.contains("Priority="), "\(text)")
    }
}
