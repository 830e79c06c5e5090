import Glibc
import TestSupport
import Testing

@testable import HelperKit

/// The examples for authors, tested as `hotspotctl helpers test` does.
@Suite(.serialized, .timeLimit(.minutes(10))) struct ExampleTests {
    private static let examples = Program.checkout + "/Tests/Examples"
    private static let packages = Program.checkout + "/.build/python"
    private static let everyCommand = [
        "Describe: {", "FilterScanList: ", "Evaluate, no login needed: none", "Evaluate, captive: ", "Authenticate, ",
        "PresentUI, ",
        "Maintain, session valid: success", "Maintain, session ended: authenticationRequired", "Logoff: ",
    ]

    private func rehearse(_ file: String) throws -> Program { try Program.run(Program.authorTools + [file]) }

    /// Tests an example with its own `.helper` file and the program from the checkout.
    private func play(_ language: String, name: String = "aroma", exec: String, readPaths: String = "") throws {
        let folder = TemporaryFolder()
        let text = try Text.read("\(Self.examples)/\(language)/\(name).helper")
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map {
            $0.hasPrefix("Exec=") ? "Exec=\(exec)\nReadPaths=\(readPaths)" : String($0)
        }
        let played = try rehearse(folder.write("\(name).helper", lines.joined(separator: "\n"), mode: 0o644))
        #expect(played.status == 0, "\(played.output)")
        #expect(played.output.contains("No mistakes."))
        for line in Self.everyCommand { #expect(played.output.contains("\n" + line), "\(line)\n\(played.output)") }
    }

    @Test(.enabled(if: Program.runs("/usr/bin/python3"))) func python() throws {
        try play("python", exec: "\(Self.examples)/python/aroma.py")
    }

    @Test(.enabled(if: Program.runs("/usr/bin/jq", "/usr/bin/curl"))) func shell() throws {
        try play("shell", exec: "\(Self.examples)/shell/aroma.sh")
    }

    /// The helper and the file at the beginning of the guide work as printed there.
    @Test(.enabled(if: Program.runs("/usr/bin/python3", "/usr/bin/curl"))) func theGuidesFirstHelper() throws {
        let guide = try Text.read(Program.checkout + "/docs/helpers.md")
        func block(_ language: String) throws -> String {
            let start = try #require(guide.firstRange(of: "```\(language)\n"))
            return String(guide[start.upperBound...].prefix { $0 != "`" })
        }
        let folder = TemporaryFolder()
        let program = folder.write("first.py", try block("python"), mode: 0o755)
        let text = try block("ini").replacing("/usr/local/libexec/first.py", with: program)
        let played = try rehearse(folder.write("first.helper", text, mode: 0o644))
        #expect(played.status == 0 && played.output.contains("No mistakes."), "\(played.output)")
    }

    @Test func swift() throws { try play("swift", exec: "\(Program.built)/example-helper") }

    @Test(.enabled(if: Program.runs(ExampleTests.packages + "/varlink/__init__.py"))) func varlinkServer() throws {
        let variables = "PYTHONPATH=\(Self.packages) VARLINK_DIR=\(Program.checkout)/Interfaces"
        try play(
            "varlink", name: "aroma-varlink",
            exec: "/usr/bin/env \(variables) /usr/bin/python3 \(Self.examples)/varlink/aroma-varlink.py",
            readPaths: "\(Self.packages) \(Program.checkout)/Interfaces")
    }

    /// `wispr` and `portal-api` do not claim the made-up portal, which is reported.
    @Test(arguments: [("form", true), ("wispr", false), ("portal-api", false)]) func builtInHelpers(
        _ name: String, _ claims: Bool
    ) throws {
        let folder = TemporaryFolder()
        let text = try Text.read("\(Program.checkout)/Sources/hotspot-helpers/Helpers/\(name).helper")
        let played = try rehearse(
            folder.write("\(name).helper", text.replacing("@libexecdir@", with: Program.built), mode: 0o644))
        #expect(played.status == (claims ? 0 : 1), "\(played.output)")
        #expect(played.output.ranges(of: "WRONG").count == (claims ? 0 : 1), "\(played.output)")
        #expect(played.output.contains("It never claims") == !claims, "\(played.output)")
    }

    // MARK: helpers new

    @Test(arguments: ["python", "shell", "swift"]) func helpersNewWritesTheExample(_ language: String) throws {
        let folder = TemporaryFolder()
        let made = try Program.run(
            [
                Program.built + "/hotspotctl", "helpers", "new", "aroma", "--ssid", "Cafe Aroma", "--language", language,
                "--directory", folder.path,
            ])
        #expect(made.status == 0, "\(made.output)")
        let programs = ["python": ["aroma.py"], "shell": ["aroma.sh"], "swift": ["Package.swift", "Sources/aroma/Main.swift"]]
        for file in programs[language] ?? [] {
            let example = try Text.read("\(Self.examples)/\(language)/\(file)").replacing(
                "Aroma portal", with: "aroma")
            #expect(try Text.read("\(folder.path)/aroma/\(file)") == example)
            let lines = example.split(separator: "\n", omittingEmptySubsequences: false).count - 1
            #expect((25...60).contains(lines) || file == "Package.swift", "\(file) has \(lines) lines")
        }
        func settings(_ path: String) throws -> [Substring] {
            try Text.read(path).split(separator: "\n").filter {
                !$0.hasPrefix("Exec=") && !$0.hasPrefix("DisplayName=")
            }
        }
        #expect(
            try settings("\(folder.path)/aroma/aroma.helper") == settings("\(Self.examples)/\(language)/aroma.helper"))
    }

    @Test(.enabled(if: Program.runs("/usr/bin/python3"))) func helpersNewWorksWithAnyName() throws {
        let folder = TemporaryFolder()
        let tool = Program.built + "/hotspotctl"
        let name = "a-helper.with_a-long-name"
        #expect(try Program.run([tool, "helpers", "new", name, "--directory", folder.path]).status == 0)
        let played = try Program.run([tool, "helpers", "test", "\(folder.path)/\(name)/\(name).helper"])
        #expect(played.status == 0, "\(played.output)")
        // Existing files are not overwritten.
        let again = try Program.run([tool, "helpers", "new", name, "--directory", folder.path])
        #expect(again.status == 1 && again.output.contains("exists already"))
        #expect(try Program.run([tool, "helpers", "new", "../out", "--directory", folder.path]).status == 2)
    }

    // MARK: Mistakes

    private static let prelude = """
        #!/usr/bin/python3 -IS
        import json, os, sys, urllib.request
        data = b""
        while not data.endswith(b"\\0"):
            chunk = os.read(0, 65536)
            if not chunk: sys.exit(0)
            data += chunk
        call = json.loads(data[:-1]); method = call["method"].rsplit(".", 1)[1]; given = call["parameters"]
        probe = given.get("link", {}).get("probeURL", "")
        def answer(**parameters): print(json.dumps({"parameters": parameters}), end="\\0"); sys.exit(0)
        def reply(result, **more): answer(reply={"result": result, **more})
        portal = {"origin": probe.rsplit("/", 1)[0], "kind": "x"}

        """

    /// A helper's code, and a part of the report about it.
    private static let mistakes: [(String, String)] = [
        ("if method == 'Describe': answer(name='other', displayName='x', version='1')", "Describe returns the name \"other\""),
        (
            "if method == 'Describe': answer(name='bad', displayName='far too long for this', version='1')",
            "displayName has 21 characters"
        ),
        ("if method == 'Describe': answer(name='bad')", "Describe must return `version`"),
        ("if method == 'Evaluate': answer(confidence='high')", "claims a network that needs no login (high)"),
        ("if method == 'Evaluate': answer(confidence='HIGH')", "HIGH"),
        (
            "if method == 'Evaluate': answer(confidence='low', portal={'origin': 'http://x/page', 'kind': 'x'})",
            "is not an origin: scheme://host[:port]"
        ),
        ("if method == 'FilterScanList': answer(annotations=[{'ssidHex': '6162', 'confidence': 'high'}])", "was not in the list"),
        (
            "if method == 'FilterScanList': answer(annotations=[{'ssidHex': n['ssidHex'], 'confidence': 'low'} for n in given['networks']])",
            "without a `password`"
        ),
        ("if method == 'Authenticate': reply('success')", "the portal is still closed"),
        ("if method == 'Authenticate': reply('uiRequired', portal=portal)", "uiRequired needs a `prompt`"),
        ("if method == 'Authenticate': reply('uiRequired', prompt={'title': 'x', 'fields': []})", "uiRequired needs a `portal`"),
        (
            "f = {'name': 'a', 'label': 'b', 'kind': 'choice', 'required': True}\nif method == 'Authenticate': reply('uiRequired', portal=portal, prompt={'title': 'x', 'fields': [f, f]})",
            "Two fields of the prompt have the same name"
        ),
        (
            "f = {'name': 'p', 'label': 'b', 'kind': 'password', 'required': True}\nif method == 'Authenticate': reply('uiRequired', portal=portal, prompt={'title': 'x', 'fields': [f]})\nif method == 'PresentUI': reply('failure', reason='wrong: ' + given['answers'].get('p', ''))",
            "contains an answer of the user"
        ),
        ("if method == 'Maintain': reply('success')", "the portal requires a login: the user would be offline"),
        ("if method == 'Maintain': reply('authenticationRequired')", "needs the present `portal`"),
        ("if method == 'Logoff': reply('success')", "the portal still lets this computer through"),
        ("if method == 'Logoff': sys.stdout.write('{'); sys.exit(0)", "no NUL at the end"),
        ("if method == 'Logoff': print('hello', end='\\0')", "which is only for answers"),
        ("if method == 'Logoff': print('{hello}', end='\\0')", "JSON"),
    ]

    @Test(.enabled(if: Program.runs("/usr/bin/python3")), arguments: mistakes) func reportsMistakes(
        _ body: String, _ words: String
    ) throws {
        let folder = TemporaryFolder()
        let rest = "\nprint(json.dumps({'error': 'org.varlink.service.MethodNotFound', 'parameters': {}}), end='\\0')\n"
        let program = folder.write("bad.py", Self.prelude + body + rest, mode: 0o755)
        let file = folder.write("bad.helper", "[Helper]\nName=bad\nExec=\(program)\nSSID=Bad\n", mode: 0o644)
        let played = try rehearse(file)
        #expect(played.status == 1, "\(played.output)")
        #expect(played.output.split(separator: "\n").contains { $0.contains("WRONG") && $0.contains(words) }, "\(played.output)")
    }

    @Test(.enabled(if: Program.runs("/usr/bin/python3"))) func acceptingUnseenTermsIsWrong() throws {
        let folder = TemporaryFolder()
        let body = """
            if method == "Authenticate":
                page = urllib.request.urlopen(probe).read().decode()
                token = page.split('name="token" value="')[1].split('"')[0]
                urllib.request.urlopen(portal["origin"] + "/login", ("token=%s&accept=yes" % token).encode()).read()
                reply("success", portal=portal)
            """
        let rest = "\nprint(json.dumps({'error': 'org.varlink.service.MethodNotFound', 'parameters': {}}), end='\\0')\n"
        let played = try rehearse(folder.write("bad", Self.prelude + body + rest, mode: 0o755))
        #expect(played.output.contains("accepted the portal's terms without the user"), "\(played.output)")
        #expect(played.status == 1)
    }

    @Test func reportsWhyATestIsImpossible() throws {
        let folder = TemporaryFolder()
        #expect(try rehearse(folder.path + "/none").status == 2)
        #expect(try rehearse(folder.write("plain", "x", mode: 0o644)).output.contains("chmod 755"))
        #expect(
            try rehearse(folder.write("x.helper", "[Helper]\nName=x\n", mode: 0o644)).output.contains(
                "Exec= or Socket= is missing"))
        #expect(try Program.run(Program.authorTools).output.contains("usage:"))
    }

    // MARK: The recipes

    /// Binding to a device needs no privilege; if it fails, nothing is sent.
    @Test(.enabled(if: Program.runs("/usr/bin/python3", "/usr/bin/curl"))) func recipesBindToTheDevice() throws {
        let server = ScriptedServer(["/": http(200, "hello", "Connection: close")])
        let python = """
            import socket, sys
            connection = socket.socket()
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, sys.argv[1].encode())
            connection.connect(("127.0.0.1", int(sys.argv[2])))
            connection.sendall(b"GET / HTTP/1.0\\r\\n\\r\\n")
            print(connection.recv(1000).decode())
            """
        func both(_ interface: String) throws -> [Program] {
            [
                try Program.run(["/usr/bin/python3", "-IS", "-c", python, interface, "\(server.port)"]),
                try Program.run(["/usr/bin/curl", "--silent", "--interface", interface, "--max-time", "10", server.url + "/"]),
            ]
        }
        for run in try both("lo") { #expect(run.status == 0 && run.output.contains("hello"), "\(run.output)") }
        #expect(server.requests.count == 2)
        for run in try both("nonesuch0") { #expect(run.status != 0) }
        #expect(server.requests.count == 2)
    }
}
