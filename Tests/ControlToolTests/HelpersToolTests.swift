import Glibc
import TestSupport
import Testing

/// `hotspotctl helpers new` and `helpers test`, as an author runs them.
@Suite(.serialized, .timeLimit(.minutes(10))) struct HelpersToolTests {
    private static let python = access("/usr/bin/python3", X_OK) == 0 || getenv("CI") != nil

    private func play(
        _ arguments: [String], program: String = Tool.program, environment: [String] = ["LANG=C.UTF-8", "TZ=UTC"]
    ) async throws -> Tool.Exit {
        try await Aside.run { try Tool.run(arguments, program: program, environment: environment) }
    }

    /// A program that answers Describe, then runs the body, and returns the error `otherwise` to every other command.
    private static func program(_ body: String, otherwise: String = "MethodNotFound") -> String {
        """
        #!/usr/bin/python3 -IS
        import json, os, signal, sys, time, urllib.request
        data = b""
        while not data.endswith(b"\\0"):
            chunk = os.read(0, 65536)
            if not chunk: sys.exit(0)
            data += chunk
        call = json.loads(data[:-1]); method = call["method"].rsplit(".", 1)[1]; given = call["parameters"]
        probe = given.get("link", {}).get("probeURL") or "http://127.0.0.1:9/none"; origin = probe.rsplit("/", 1)[0]
        portal = {"origin": origin, "kind": "x"}
        def say(octets): os.write(1, octets); sys.exit(0)
        def answer(**parameters): say(json.dumps({"parameters": parameters}).encode() + b"\\0")
        def reply(result, **more): answer(reply={"result": result, **more})
        class Stay(urllib.request.HTTPRedirectHandler):
            def redirect_request(self, *_): return None
        def status():
            try: return urllib.request.build_opener(Stay).open(probe).status
            except urllib.error.HTTPError as error: return error.code
        def send(path, body):
            try: urllib.request.urlopen(origin + path, body).read()
            except urllib.error.HTTPError: pass
        question = {"title": "x", "fields": [{"name": "p", "label": "Word", "kind": "password", "required": True}]}
        if method == "Describe": answer(name="bad", displayName="bad", version="1")
        \(body)
        say(json.dumps({"error": "org.varlink.service.\(otherwise)", "parameters": {}}).encode() + b"\\0")
        """
    }

    private func test(_ program: String, keys: String = "SSID=Bad", _ options: [String] = []) async throws -> Tool.Exit {
        let folder = TemporaryFolder()
        let path = folder.write("bad.py", program, mode: 0o755)
        folder.write("bad.helper", "[Helper]\nName=bad\nExec=\(path)\n\(keys)\n")
        return try await play(["helpers", "test", folder.path] + options)
    }

    private static let claims =
        "if method == 'Evaluate': answer(confidence='none' if status() == 204 else 'high', portal=portal)\n"

    /// The Python code of a helper that asks for a choice.
    private static func asksFor(_ choice: String, title: String = "'x'") -> String {
        claims + """
            if method == 'Authenticate':
                field = {'name': 'p', 'label': 'l', 'kind': 'choice', 'required': True, \(choice)}
                reply('uiRequired', portal=portal, prompt={'title': \(title), 'fields': [field]})
            """
    }

    private static let mistakes: [(String, String)] = [
        (
            "if method == 'Logoff': say(b'{\"a\":1}')",
            "WRONG  It wrote 7 octets but no NUL at the end; end each message with a NUL."
        ),
        (
            "print('Hello, this helper begins its work now and says so')\nsys.stdout.flush()",
            "WRONG  It wrote \"Hello, this helper begins its work now a…\" to standard output, which is only for answers"
        ),
        (
            "if method == 'Evaluate': say(b'{\"confidence\":\"none\"}\\0')",
            "WRONG  The answer lacks \"parameters\"; the format is: {\"parameters\":{\"confidence\":\"none\"}}␀"
        ),
        (
            "if method == 'Logoff': answer(result='success')",
            "WRONG  The answer's \"parameters\" lack \"reply\"; the format is: {\"parameters\":{\"reply\":{\"result\":\"success\"}}}␀"
        ),
        (
            "if method == 'Evaluate': say(b'{\"parameters\":{\"confidence\":\"none\"}}\\0\\n')",
            "note   After the NUL it wrote \"\\x0a\""
        ),
        (
            "if method == 'Evaluate': say(str({'parameters': {}}).encode() + b'\\0')",
            "WRONG  It wrote \"{'parameters': {}}\"; JSON needs double quotes (json.dumps)."
        ),
        ("", "WRONG  It does not know Evaluate, so it claims no network"),
        (
            "if method == 'Evaluate': answer(confidence='low', portal={'origin': 'https://p   * wlan1  authenticated', 'kind': 'x'})",
            "WRONG  bad: \"portal.origin\" is not an origin: scheme://host[:port], with http or https"
        ),
        (
            "if method == 'Evaluate': answer(confidence='low', portal={'origin': 'http://P.example:80', 'kind': 'x'})",
            "note   The portal's origin \"http://P.example:80\" is compared letter by letter with the stored one; the usual spelling is \"http://p.example\"."
        ),
        (
            "if method == 'Logoff': reply('success', session={'bytesRemaining': 2 ** 60})",
            "WRONG  \"reply.session.bytesRemaining\" is 1152921504606846976, not from 0 to 1000000000000000; hotspotd ignores it."
        ),
        (
            claims + "if method == 'Authenticate': reply('temporaryFailure', reason='later')",
            "WRONG  It claims the network, but no command opened the portal"
        ),
        (
            claims + "if method == 'Authenticate': reply('uiRequired', portal=portal, prompt=question)",
            "WRONG  It asks the user (uiRequired) but does not know PresentUI"
        ),
        (
            claims + "if method in ('Authenticate', 'PresentUI'): reply('uiRequired', portal=portal, prompt=question)",
            "WRONG  It repeats the same prompt after each answer"
        ),
        (
            "if method == 'Evaluate': answer(confidence='high' if status() == 302 else 'none', portal=portal)",
            "answers none: compare the answer with link.probeExpect"
        ),
        (claims, "WRONG  It claims a network that needs no login (high)"),
        (
            claims + "if method == 'Authenticate': print(given.get('credential'), file=sys.stderr); reply('failure', reason='x')",
            "WRONG  Its standard error contains an answer of the user or a credential"
        ),
        (
            claims + "if method == 'Authenticate': reply('failure', reason=str(given.get('credential')))",
            "WRONG  Its trace or reason contains an answer of the user"
        ),
        (
            claims + "if method == 'Authenticate': reply('uiRequired', portal=portal, prompt=question)\n" + """
                if method == 'PresentUI':
                    field = {'name': 'not-' + given['answers'].get('p', ''), 'label': 'l', 'kind': 'text', 'required': False}
                    reply('uiRequired', portal=portal, prompt={'title': 'x', 'fields': [field]})
                """,
            "WRONG  \"reply.prompt.fields.0.name\" repeats an answer or a stored credential"
        ),
        (
            asksFor("'choices': [f'{n:03}' + 'x' * 250 for n in range(256)]"),
            "WRONG  The prompt is longer than 64 KiB, so the daemon refuses it and does not ask the user."
        ),
        (
            asksFor("'choices': ['a'] * 300"),
            "WRONG  In the prompt, the field \"p\" has 300 choices; only 256 are offered: at most 256, of at most 256 octets."
        ),
        (
            asksFor("'choices': ['a', 'b\\n']"),
            "WRONG  The choice \"p\" contains control characters, which answers must not contain."
        ),
        (asksFor("'choices': ['a']", title: "'x' * 201"), "WRONG  In the prompt, the title has 201 octets; 200 are shown."),
        (
            claims + "if method == 'Authenticate': reply('failure', reason='x', trace=['y'] * 101)",
            "WRONG  \"reply.trace\" has 101 entries; the first 100 are kept, with at most 2048 octets each."
        ),
        (
            "if method == 'Evaluate': answer(confidence='none', reason='x' * 2049)",
            "WRONG  \"reason\" has 2049 octets; the first 2048 are kept."
        ),
        (
            "if method == 'Logoff': reply('success', session={'memory': {'x': 'y' * 17000}})",
            "WRONG  bad: \"reply.session.memory\" is larger than 16 KiB"
        ),
        (
            claims + "if method == 'Authenticate': send('/go', b'user=me&word=s3same'); reply('success')",
            "The portal got: POST /go (user=…, word=…) → no such page."
        ),
        (
            claims + "if method == 'Authenticate': send('/login', b'token=1&accept=yes'); reply('success')",
            "→ the page again: the hidden field \"token\" has another value than on the page"
        ),
    ]

    @Test(.enabled(if: python), arguments: mistakes) func mistakesAreReported(_ body: String, _ words: String) async throws {
        let ended = try await test(Self.program(body))
        #expect(ended.status == 1, "\(ended.output)")
        #expect(ended.output.split(separator: "\n").contains { $0.contains(words) }, "\(words)\n\(ended.output)")
        for secret in ["rehearsal-secret-1", "s3same"] { #expect(!ended.output.contains(secret)) }
    }

    /// The portal refuses the login, and locks the guest out if the login is sent again.
    @Test(.enabled(if: python)) func aRefusedLoginIsSentOnce() async throws {
        let body =
            Self.claims + """
                def token():
                    page = urllib.request.urlopen(origin + "/portal").read().decode()
                    return page.split('name="token" value="')[1].split('"')[0]
                if method in ("Authenticate", "PresentUI"):
                    for _ in range(TIMES):
                        if status() != 204: send("/login", ("accept=yes&token=" + token()).encode())
                    reply("success" if status() == 204 else "failure", reason="x")
                """
        for times in [1, 4] {
            let ended = try await test(Self.program(body.replacing("TIMES", with: "\(times)")))
            #expect(ended.output.components("Authenticate, the portal refuses the login: failure: x") == 1, "\(ended.output)")
            #expect(ended.output.contains("WRONG  It sent the refused login 4 times") == (times == 4), "\(ended.output)")
            #expect(ended.output.contains("note   After failure the network is left alone"), "\(ended.output)")
        }
    }

    /// The daemon passes a probe to the helper, but the contract allows a link without a probe.
    @Test(.enabled(if: python)) func theProbeMayBeMissing() async throws {
        let body = "if method == 'Evaluate': answer(confidence='none' if given['link']['probeURL'] else 'low')"
        let ended = try await test(Self.program(body))
        #expect(ended.output.contains("Evaluate, without link.probeURL: no usable answer"), "\(ended.output)")
        #expect(ended.output.contains("note   `link.probeURL` and `link.probeExpect` may be absent"))
    }

    /// The helper waits for the portal until it is cancelled, and continues after that.
    @Test(.enabled(if: python)) func ignoringSIGTERMIsReported() async throws {
        let body = """
            signal.signal(15, signal.SIG_IGN)
            if method == "Evaluate" and ("probeURL" not in given["link"] or status() in (200, 204)): answer(confidence="none")
            if method == "Evaluate": answer(confidence="high", portal=portal)
            """
        // The portal keeps the connection until the helper has ended, so status() can only end with an error, which is caught.
        let stubborn = Self.program(body).replacing(
            "except urllib.error.HTTPError as error: return error.code",
            with:
                "except urllib.error.HTTPError as error: return error.code\n    except OSError:\n        while True: time.sleep(1)"
        )
        let ended = try await test(stubborn)
        #expect(ended.output.contains("Evaluate, cancelled: it goes on"), "\(ended.output)")
        #expect(ended.output.contains("note   It ignores both the end of its standard input and SIGTERM"))
    }

    /// The scripts of some portals send the form as JSON, and read JSON.
    @Test(.enabled(if: python), arguments: [true, false]) func aLoginInJSONIsUnderstood(_ accepts: Bool) async throws {
        let body =
            Self.claims + """
                if method in ("Authenticate", "PresentUI"):
                    page = urllib.request.urlopen(origin + "/portal").read().decode()
                    words = {"token": page.split('name="token" value="')[1].split('"')[0], "accept": \(accepts ? "True" : "False")}
                    request = urllib.request.Request(origin + "/login", json.dumps(words).encode(), {"Content-Type": "application/json"})
                    said = json.loads(urllib.request.urlopen(request).read())
                    reply("success" if said["success"] else "failure", portal=portal, reason=said.get("message", "x"))
                """
        let ended = try await test(Self.program(body))
        #expect(ended.output.contains("terms accepted before: \(accepts ? "success" : "failure")"), "\(ended.output)")
        #expect(accepts || ended.output.contains("Please accept the house rules."), "\(ended.output)")
    }

    @Test(.enabled(if: python)) func aRepeatedFailureIsReportedOnce() async throws {
        let ended = try await test("#!/usr/bin/python3 -IS\nimport sys\nprint('no such thing', file=sys.stderr)\nsys.exit(3)\n")
        #expect(ended.status == 1)
        #expect(ended.output.components("it exited with status 3") == 1, "\(ended.output)")
        #expect(ended.output.contains("         | no such thing"))
        #expect(ended.output.contains("… the same in 13 more: FilterScanList; Evaluate, no login needed;"))
        #expect(ended.output.contains("One mistake."))
    }

    @Test(arguments: [
        ("#!/usr/bin/python3\r\nprint()\r\n", "has Windows line ends"),
        ("print()\n", "has no first line that names its interpreter"),
        ("#!/nowhere/python3\n", "needs the interpreter /nowhere/python3, which does not exist"),
        ("#!/usr/bin/env nonesuch-interpreter\n", "status 127"),
        ("#!/usr/bin/env python3\r\nprint()\r\n", "has Windows line ends"),
    ]) func aProgramThatCannotStartIsTriedOnce(_ text: String, _ words: String) async throws {
        let ended = try await test(text)
        #expect(ended.status == 1 && ended.output.contains(words), "\(ended.output)")
        #expect(
            ended.output.contains("The helper cannot start, so nothing else was tested.") && !ended.output.contains("Evaluate"))
    }

    @Test(.enabled(if: python)) func aHelperThatNeverClaimsFails() async throws {
        let ended = try await test(Self.program("if method == 'Evaluate': answer(confidence='none')"))
        #expect(ended.status == 1 && ended.output.contains("WRONG  It never claims the made-up network"), "\(ended.output)")
        #expect(ended.output.contains("--page FILE.html") && !ended.output.contains("No mistakes"))
    }

    /// The daemon would never ask such a helper to log in, so its ability to log in does not help.
    @Test(.enabled(if: python)) func aHelperThatLogsInAndNeverClaimsFails() async throws {
        let folder = TemporaryFolder()
        _ = try await play(["helpers", "new", "mine", "--ssid", "Cafe", "--directory", folder.path])
        let source = try folder.read("mine/mine.py")
        let shy = source.replacing("if page and form_of", with: "if False and form_of")
        #expect(shy != source)
        folder.write("mine/mine.py", shy, mode: 0o755)
        let ended = try await play(["helpers", "test", folder.path + "/mine"])
        #expect(ended.output.contains("PresentUI, answered: success"), "\(ended.output)")
        #expect(ended.status == 1 && ended.output.contains("WRONG  It never claims the made-up network"), "\(ended.output)")
    }

    /// The most frequent mistake costs two waits instead of thirteen, and is named.
    @Test(.enabled(if: python)) func readingToTheEndOfInputIsReported() async throws {
        let ended = try await test("#!/usr/bin/python3 -IS\nimport sys\nsys.stdin.buffer.read()\n")
        let hint = "If it reads to the end of standard input, it waits for ever: read only up to the NUL."
        #expect(ended.status == 1 && ended.output.components(hint) == 1, "\(ended.output)")
        #expect(ended.output.contains("Describe: no answer yet") && ended.output.contains("did not answer two commands in a row"))
        #expect(!ended.output.contains("Evaluate"), "\(ended.output)")
    }

    /// Standard error is shown below its command, unchanged.
    @Test(.enabled(if: python)) func standardErrorBelongsToItsCommand() async throws {
        let body = #"""
            if method == "Logoff": print("below\\\\Logoff \x1b[1m", file=sys.stderr); reply("failure", reason="x")
            if method == "Maintain": open("/usr/nothing", "w")
            if method == "Evaluate": print("saying", method, file=sys.stderr); answer(confidence="high", portal=portal)
            """#
        let ended = try await test(Self.program(body))
        let lines = ended.output.split(separator: "\n").map(String.init)
        for (index, line) in lines.enumerated() where line.hasPrefix("Evaluate, ") && !line.contains("cancelled") {
            #expect(lines[index + 1] == "         | saying Evaluate", "\(ended.output)")
        }
        let logoff = try #require(lines.firstIndex { $0.hasPrefix("Logoff:") }, "\(ended.output)")
        #expect(lines[logoff + 1] == #"         | below\\Logoff \x1b[1m"#, "\(ended.output)")
        #expect(ended.output.components("saying Evaluate") == 5, "\(ended.output)")
        // Without a sandbox, root may write everywhere.
        if ended.output.contains("Read-only file system") { #expect(ended.output.contains("ReadWritePaths=")) }
    }

    @Test(arguments: [
        ("SSDI=Bad", 2, "did you mean SSID=?"), ("SSID=Bad,Worse", 1, "SSID= contains a comma"),
        ("SSID=\"Bad\"", 1, "SSID= contains quotes"),
        ("SSID=Name Of Your Network", 1, "replace it with your network's name"),
        ("SSID=Bad\nDisplayName=Worse", 1, "but users see DisplayName= of the file"),
        ("SSID=Bad\nDisplayName=An all too long one", 1, "DisplayName= has 19 characters; 15 are shown: \"An all too long\""),
    ]) func mistakesInTheFileAreReported(_ keys: String, _ status: Int32, _ words: String) async throws {
        let ended = try await test(Self.program(""), keys: keys)
        #expect(ended.status == status && ended.output.components(words) == 1, "\(ended.output)")
    }

    @Test func aProgramThatOthersCanWriteIsReportedOnce() async throws {
        let folder = TemporaryFolder()
        let path = folder.write("bad.sh", "#!/bin/sh\n", mode: 0o777)
        folder.write("bad.helper", "[Helper]\nName=bad\nExec=\(path)\nSSID=Bad\n")
        let ended = try await play(["helpers", "test", folder.path])
        #expect(
            ended.output.components("can be changed by other users") == 1 && ended.output.contains("chmod go-w \(path)"),
            "\(ended.output)")
    }

    // MARK: Pages and networks

    private func page(_ html: String, _ options: [String] = [], language: String = "python") async throws -> Tool.Exit {
        let folder = TemporaryFolder()
        folder.write("page.html", html)
        _ = try await play([
            "helpers", "new", "mine", "--ssid", "Cafe*;Hotel", "--language", language, "--directory", folder.path,
        ])
        return try await play(["helpers", "test", "--page", folder.path + "/page.html", folder.path + "/mine"] + options)
    }

    @Test(
        .enabled(if: python),
        arguments: [
            "<form action='go.php?x=1' method=post><input type=hidden name=magic value='a&amp;b 1'><input name=user><input type=password name=pw></form>",
            "<form><input type=hidden name=m value=1><input type=submit name=ok value=Go></form>",
            "<form action='https://portal.example/in' method='POST'><input type=checkbox name=agb value=ja> AGB akzeptieren<button>Los</button></form>",
        ], ["python"] + (access("/usr/bin/jq", X_OK) == 0 || getenv("CI") != nil ? ["shell"] : [])
    ) func aPageOfOnesOwnIsTheLogin(_ html: String, _ language: String) async throws {
        let ended = try await page(html, language: language)
        #expect(ended.status == 0 && ended.output.contains("No mistakes."), "\(ended.output)")
    }

    private static let twoButtons = """
        <form action=/in method=post><input type=hidden name=a value=1><select name=plan><option value=x>X<option selected>Y</select>
        <textarea name=t>
        hello</textarea><input type=radio name=r value=1><input type=radio name=r value=2 checked>
        <button type=button name=no value=1>Help</button><button name=go value="Connect now">Go</button>
        <input type=submit name=later value=Later></form>
        """

    @Test(
        .enabled(if: python),
        arguments: [
            ("&go=Connect+now&later=Later", "several buttons were sent, \"go=Connect now\" and \"later=Later\""),
            ("", "the button \"go=Connect now\" is missing"), ("&later=Later", "logged in"), ("&go=Connect+now", "logged in"),
        ]) func anotherNumberOfButtonsIsWrong(_ buttons: String, _ words: String) async throws
    {
        let folder = TemporaryFolder()
        folder.write("page.html", Self.twoButtons)
        let body =
            Self.claims
            + "if method == 'Authenticate': send('/in', b'a=1&plan=Y&t=hello&r=2\(buttons)'); reply('failure', reason='x')"
        let ended = try await test(Self.program(body), ["--page", folder.path + "/page.html"])
        let opened = ended.output.contains("The portal is open now, but the helper answers failure")
        #expect(words == "logged in" ? opened : !opened && ended.output.contains(words), "\(ended.output)")
    }

    @Test(.enabled(if: python)) func aPageWithoutAFormIsAnError() async throws {
        let ended = try await page("<h1>Welcome</h1>")
        #expect(ended.status == 2 && ended.output.contains("contains no form"))
    }

    @Test(.enabled(if: python)) func anotherNetworkCanBePlayed() async throws {
        let form = "<form method=post><input type=submit></form>"
        #expect(try await page(form, ["--ssid", "Hotel"]).output.contains("the network is \"Hotel\""))
        let uncovered = try await page(form, ["--ssid", "Station"])
        #expect(uncovered.status == 2 && uncovered.output.contains("SSID= does not cover \"Station\""))
    }

    // MARK: Writing one

    @Test func aHelperIsNotTestedBeforeItIsBuilt() async throws {
        let folder = TemporaryFolder()
        let made = try await play([
            "helpers", "new", "mine", "--language=swift", "--checkout", "/usr/share", "--directory", folder.path,
        ])
        #expect(made.status == 0, "\(made.errors)")
        #expect(try folder.read("mine/Package.swift").contains(".package(path: \"/usr/share\")"))
        #expect(try folder.read("mine/Package.swift").contains("package: \"share\""))
        let ended = try await play(["helpers", "test", folder.path + "/mine"])
        #expect(ended.status == 2 && ended.output.contains("swift build -c release --package-path \(folder.path)/mine"))
    }

    @Test func anExistingFolderIsLeftAlone() async throws {
        let folder = TemporaryFolder()
        #expect(try await play(["helpers", "new", "mine", "--directory", folder.path]).status == 0)
        let again = try await play(["helpers", "new", "mine", "--directory", folder.path])
        #expect(
            again.status == 1 && again.errors.contains("exists already") && again.errors.contains("try: hotspotctl helpers test"))
        #expect(try await play(["helpers", "new", "other", "--ssid", "a\\q", "--directory", folder.path]).status == 2)
    }

    /// The printed commands work even if /usr/local is empty, and leave the author's files unchanged.
    @Test func thePrintedInstallationCommandsWork() async throws {
        let folder = TemporaryFolder()
        let made = try await play(["helpers", "new", "my helper".replacing(" ", with: "."), "--directory", folder.path])
        let before = try folder.read("my.helper/my.helper.helper")
        let lines = made.output.split(separator: "\n").map { $0.drop { $0 == " " } }
            .filter { $0.hasPrefix("sudo install") || $0.hasPrefix("sed ") }
        #expect(lines.count == 2)
        // The commands install into another folder, without becoming root; Exec= keeps the path that the daemon will see.
        let script = lines.joined(separator: "\n").replacing("sudo ", with: "")
            .replacing(" /usr/local/", with: " \(folder.path)/root/usr/local/").replacing(
                " /etc/", with: " \(folder.path)/root/etc/")
        let ran = try await play(["-e", "-c", script], program: "/bin/sh", environment: ["PATH=/usr/bin:/bin"])
        #expect(ran.status == 0, "\(script)\n\(ran.errors)")
        #expect(access(folder.path + "/root/usr/local/libexec/my.helper.py", X_OK) == 0)
        #expect(
            try folder.read("root/etc/hotspotd/helpers/my.helper.helper").contains("\nExec=/usr/local/libexec/my.helper.py\n"))
        #expect(try folder.read("my.helper/my.helper.helper") == before)
    }
}

extension String {
    /// How often the text occurs.
    fileprivate func components(_ text: String) -> Int { ranges(of: text).count }
}
