import Testing

@testable import HelperKit

/// Which forms a browser has to send.
@Suite struct FormScriptsTests {
    private func reason(_ script: String, form: String = "", button: String = "type=submit", inner: String = "") -> String? {
        let body = """
            <form id=login name=login class="box wide" method=post action=/in \(form)><input name=user id=user><input type=password name=pass>
            <input type=hidden name=answer id=answer>\(inner)<input \(button) id=go class=btn value=Go></form><script>\(script)</script>
            """
        return page(body).forms[0].browserReason
    }

    @Test(arguments: [
        "", "function check(f) { if (f.user.value == '') { alert('Name?'); f.user.focus(); return false; } return true; }",
        "$('#other').on('submit', function () { $.post('/x') })",
        "document.querySelector('#search').addEventListener('click', send)",
        "$('#login').validate({ rules: { user: 'required' } })",
        "$('#login').on('submit', function () { $('#go').prop('disabled', true).addClass('busy') })",
        "document.getElementById('login').onsubmit = function () { if (!this.user.value.trim()) return false; }",
        "var f = document.forms[0]; f.addEventListener('submit', function (e) { if (!f.user.value) { e.preventDefault(); } })",
        "$('#login input').on('keyup', function () { $.get('/hint') })",
        "var s = 'document.login.onsubmit = send'; // $('#login').submit(send)",
        "ga('send', 'event')",
        "$('#login').on('submit', function (e) { e.preventDefault(); document.getElementById('login').submit() })",
        "document.login.onsubmit = function () { var p = document.createElement('p'); p.textContent = 'One moment'; document.body.appendChild(p) }",
        "$('#login').validate({ submitHandler: function (form) { $('#go').attr('disabled', true); form.submit() }, messages: {} })",
        "var f = $('#login'); f.validate({ submitHandler(form) { f[0].submit() } })",
        "const rules = { user: { ok: v => v.length > 2 } }; document.login.onsubmit = function (e) { if (!rules.user.ok(this.user.value)) e.preventDefault() }",
        "document.login.addEventListener('submit', keep); function keep() { localStorage.setItem('user', document.login.user.value) }",
    ]) func harmlessScriptsDoNotMatter(_ script: String) { #expect(reason(script) == nil) }

    /// A form without an action is sent to the page's own address in any case.
    @Test(arguments: [
        ("", "window.location.href", false), ("action=#", "document.URL", false), ("", "location", false),
        ("", "location.href + '&x=1'", true), ("", "gateway", true), ("action=/in", "location.href", true),
    ]) func theOwnAddressChangesNothing(_ action: String, _ value: String, needsBrowser: Bool) {
        let script = "document.getElementById('login').action = \(value);"
        let form = page(
            "<form id=login method=post \(action)><input name=user><button>Go</button></form><script>\(script)</script>")
        #expect((form.forms[0].browserReason != nil) == needsBrowser)
    }

    /// A page that talks to its gateway itself needs no form for it.
    @Test(arguments: [("", true), ("action=/in", false)]) func aLibraryOfTheGatewayLogsIn(_ action: String, needsBrowser: Bool) {
        let body =
            "<form method=post \(action)><input type=email name=mail><button>Go</button></form><script src=js/ChilliLibrary.js></script>"
        #expect((page(body).forms[0].browserReason != nil) == needsBrowser)
    }

    /// A button that does not send the form has a handler of its own.
    @Test func otherButtonsDoNotMatter() {
        let script = "$('#cancel').click(function (e) { e.preventDefault() })"
        #expect(reason(script, inner: "<button type=button id=cancel>Cancel</button>") == nil)
        #expect(reason(script, inner: "<button id=cancel>Cancel</button>") != nil)
    }

    @Test(arguments: [
        "$('#login').submit(function () { $.post('/api', $(this).serialize()); return false })",
        "$('form').on('submit', function (e) { e.preventDefault(); fetch('/api') })",
        "$('.box').submit(send)", "document.login.onsubmit = send", "document.forms['login'].addEventListener('submit', send)",
        "const f = document.getElementById('login'); f.addEventListener('submit', async (e) => { await fetch('/api') })",
        "document.getElementById('go').addEventListener('click', function () { login() })", "$('#go').click(login)",
        "$('.btn').on('click', login)",
        "$(document).on('submit', '#login', send)", "$('input[type=submit]').click(function () { $('#answer').val(f()) })",
        "$('#login').ajaxForm({ url: '/x' })", "$('#login').validate({ submitHandler: function (form) { $.post('/x') } })",
        "$('#login').validate({ submitHandler: function (form) { alert('Later') } })",
        "$('#login').validate({ submitHandler: send })",
        "var f = $('#other'); $('#login').validate({ submitHandler: function () { f[0].submit() } })",
        "const rules = { user: { ok: v => v.length }, pass: { ok: v => send(v) } }; document.login.onsubmit = function () { return rules.user.ok(1) }",
        "document.login.onsubmit = function () { var i = document.createElement('input'); this.appendChild(i) }",
        "document.getElementById('answer').value = screen.width", "document.login.action = next()",
        "document.login.answer.value = hex(x)",
        "function f() { document.login.pass.value = hex_md5(document.login.pass.value) }", "$('#login').attr('action', gateway)",
        "$('#login').on('submit', function (e) { e.preventDefault(); showTerms() })",
    ]) func otherScriptsNeedABrowser(_ script: String) { #expect(reason(script) != nil) }

    @Test(arguments: [
        ("onsubmit='return check(this)'", "function check(f) { return f.user.value.length > 0 }", false),
        ("onsubmit='this.go.disabled=true'", "", false), ("onsubmit='return confirm(\"Sure?\")'", "", false),
        ("onsubmit='return check()'", "var check = make()", true), ("onsubmit='return false'", "", true),
        ("onsubmit='pass.value = code(pass.value)'", "", true), ("onsubmit='action = \"/other\"'", "", true),
        ("onsubmit='return doLogin()'", "function doLogin() { document.sendin.submit(); return false; }", true),
        ("onsubmit='return a()'", "function a() { return b() } function b() { document.login.answer.value = 1 }", true),
        ("onsubmit='validate1()'", "", false), ("onsubmit='return isValid(this);'", "", false),
        ("onsubmit='validate(); send()'", "", true),
        ("onsubmit='return validate()'", "function validate() { document.login.answer.value = 1 }", true),
        ("ng-submit='go()'", "", true), ("action='javascript:go()'", "", false),
    ]) func handlersAreJudged(_ form: String, _ script: String, needsBrowser: Bool) {
        // The first action of two counts.
        #expect((reason(script, form: form) != nil) == needsBrowser)
    }

    @Test(arguments: [
        ("type=submit onclick=\"javascript:popUp('/status')\"", false), ("type=button onclick='this.form.submit()'", false),
        ("type=button onclick='document.login.submit()'", false),
        ("type=button onclick='document.other.submit()'", true), ("type=button onclick='send()'", true), ("type=button", true),
        ("type=submit onclick='this.disabled=true; this.form.submit()'", false), ("type=submit onclick='$.encrypt()'", true),
    ]) func buttonsAreJudged(_ button: String, needsBrowser: Bool) {
        #expect((reason("", button: button) != nil) == needsBrowser)
    }

    /// A browser sends a form whose handler fails, and here is no other script that could have it.
    @Test func aHandlerThatIsMissingIsNone() {
        let form = "<form method=post action=/in onsubmit='return doLogin()'><input name=a><button>Go</button></form>"
        #expect(page(form + "<script src=/jquery.min.js></script>").forms[0].browserReason == nil)
        #expect(page(form + "<script src=/main.js></script>").forms[0].browserReason == FormScripts.changedReason)
        #expect(page(form + "<script>var doLogin = make()</script>").forms[0].browserReason == FormScripts.changedReason)
        let long = "<script>var text = '\(String(repeating: "a", count: 140_000))'</script>"
        #expect(page(form + long).forms[0].browserReason == FormScripts.changedReason, "it may be in what was not read")
        #expect(page(form.replacing("doLogin", with: "fetch")).forms[0].browserReason == FormScripts.changedReason)
    }

    @Test func aPageMayPostToItself() {
        let form =
            "<form method=post onsubmit='return validateForm()'><input name=a><button>Go</button></form><script src=/check.js></script>"
        #expect(page(form).forms[0].browserReason == nil)
        #expect(page(form.replacing("method=post", with: "")).forms[0].browserReason != nil)
    }

    /// A field for the result of a test matters only where the page has the test.
    @Test func aTestThatIsNotThereIsNone() {
        let form =
            "<form method=post action=/in><input name=a><input type=hidden name=recaptchaResponse><button>Go</button></form>"
        #expect(page(form).forms[0].browserReason == nil)
        #expect(
            page(form + "<script src=https://tests.test/recaptcha/api.js></script>").forms[0].browserReason
                == FormScripts.testReason)
        #expect(
            page(form.replacing("<button>", with: "<img src=/captcha.png><button>")).forms[0].browserReason
                == FormScripts.testReason)
    }

    /// A script that is not here to be read may make a password of the code.
    @Test func aHiddenPasswordIsForAScript() {
        let form =
            "<form method=post action=/login><input name=username><input type=hidden name=password><button>Go</button></form>"
        #expect(page(form).forms[0].browserReason == nil)
        #expect(page(form + "<script src=/slides.js></script>").forms[0].browserReason == FormScripts.changedReason)
        #expect(page(form + "<script src=/jquery.js></script>").forms[0].browserReason == nil)
    }

    @Test func aHandlerOfAFieldMayFillInAnother() {
        let field = "onkeyup=\"document.getElementById('answer').value = this.value\""
        #expect(reason("", inner: "<input name=code \(field)>") == FormScripts.changedReason)
        #expect(reason("", inner: "<input name=code onkeyup='this.value = this.value.trim()'>") == nil)
    }

    /// Beside a script of the page, a button without a handler is for it.
    @Test func aButtonWithoutAHandlerIsAScripts() {
        let form =
            "<form method=post action=''><input name=code><button>Connect</button><button type=button>Request access</button></form>"
        #expect(page(form).forms[0].browserReason == nil)
        #expect(page(form + "<script src=/index.js></script>").forms[0].browserReason == FormScripts.scriptedReason)
    }

    /// The code comes only after the script has asked for it.
    @Test func aCodeThatAScriptAsksForIsAScripts() {
        let button = "<button type=button onclick='more()'>Send the code</button>"
        let fetch = "function more() { fetch('/sms') }"
        #expect(reason(fetch, inner: "<input name=code>" + button) == FormScripts.scriptedReason)
        #expect(reason(fetch, inner: button) == nil)
        #expect(reason("function more() { alert('At the desk') }", inner: "<input name=code>" + button) == nil)
    }

    /// The server of a CoovaChilli portal computes the response, although its pages load the library for it.
    @Test func aServerMayComputeTheResponse() {
        let body =
            "<form action=/hotspotlogin><input type=hidden name=chal value=6b1f><input name=UserName><input type=password name=Password>"
            + "<button>Log in</button></form><script src=js/ChilliLibrary.js></script>"
        #expect(page(body).forms[0].browserReason == nil)
        #expect(page(body.replacing("6b1f", with: "''")).forms[0].browserReason == FormScripts.encryptedReason)
    }

    // MARK: Copies

    private func copy(_ script: String) -> String? {
        let form =
            "<form name=in method=post action=/in><input name=user id=user><input name=other><input type=hidden name=pass id=pass><button>Go</button></form>"
        let form1 = page(form + "<script>\(script)</script>").forms[0]
        return form1.browserReason.map { "browser: \($0)" } ?? form1.controls.first { $0.name == "pass" }?.copyOf
    }

    @Test(arguments: [
        "document.getElementById('user').onkeyup = f; function f() { document.getElementById('pass').value = document.getElementById('user').value }",
        "var u = document.in.user; var p = document.in.pass; u.onkeyup = set; function set() { var code = u.value\n p.value = code; }",
    ]) func aHiddenFieldMayBeACopy(_ script: String) { #expect(copy(script) == "user") }

    @Test(arguments: [
        "document.in.pass.value = document.in.user.value + 'x'", "document.in.pass.value = hash(document.in.user.value)",
        "document.in.pass.value = document.in.user.value; function g() { document.in.pass.value = document.in.other.value }",
        "document.in.pass.value = token",
    ]) func anythingElseIsAChange(_ script: String) { #expect(copy(script)?.hasPrefix("browser: ") == true) }

    @Test func aCopyIsSent() throws {
        let url = WebURL("https://portal.test/page")!
        let form =
            "<form method=post action=/in><input name=user><input type=hidden name=pass><button>Go</button></form>"
            + "<script>function f() { document.forms[0].pass.value = document.forms[0].user.value }</script>"
        guard
            case .submit(let filled, _) = FormEngine(answers: ["user": "v 1"], isTypedNow: true).decide(
                on: page(form, url: url.text), at: url)
        else { return #expect(Bool(false), "not sent") }
        #expect(filled.request.body == "user=v%201&pass=v%201")
    }

    @Test func aLinkMaySubmit() throws {
        let form = page(
            "<form action=/in><input name=a><input name=b><a href='javascript:document.forms[0].submit()'>Go</a></form>"
        ).forms[0]
        #expect(form.browserReason == nil && form.submits.map(\.label) == ["Go"])
    }

    @Test func aScriptThatEncryptsNeedsABrowser() {
        #expect(
            page(
                "<script src=/md5.js></script><form method=post action=/x><input type=password name=p><button>Go</button></form>"
            )
            .forms[0].browserReason == FormScripts.encryptedReason)
        #expect(
            page("<script src=/app.js></script><form><input name=id><input name=mail><button>Go</button></form>").forms[0]
                .browserReason != nil)
        #expect(
            page("<script src=/jquery.min.js></script><form><input name=id><button>Go</button></form>").forms[0].browserReason
                == nil)
    }

    /// MikroTik's page loads its script also where the gateway gave no challenge.
    @Test(arguments: [("", false), ("onsubmit='return doLogin()'", true)])
    func aMikroTikPageWithoutAChallengeIsPlain(_ handler: String, needsBrowser: Bool) {
        let body =
            "<script src=/md5.js></script><form name=login action=http://gw.test/login method=post \(handler)>"
            + "<input name=username><input name=password type=password><input type=submit value=OK></form>"
        #expect((page(body).forms[0].browserReason != nil) == needsBrowser)
    }

    /// The function for the challenge may stay, if nothing calls it.
    @Test(arguments: [("", false), ("<a href=# onclick='doLogin()'>Go</a>", true)])
    func aFunctionThatEncryptsAndIsNotCalled(_ link: String, needsBrowser: Bool) {
        let script =
            "<script>function doLogin() { document.sendin.password.value = hexMD5('' + document.login.password.value) }</script>"
        let body =
            "<script src=/md5.js></script><form name=login action=http://gw.test/login method=post>"
            + "<input name=username><input name=password type=password>\(link)<input type=submit value=OK></form>"
        #expect((page(body + script).forms[0].browserReason != nil) == needsBrowser)
        #expect(page(body + script + "<script>doLogin()</script>").forms[0].browserReason != nil)
    }

    @Test func aFormThatSendsNothingIsAScripts() {
        let form = "<form method=post><input type=checkbox required> I agree<button>Go</button></form>"
        #expect(page(form).forms[0].browserReason == nil)
        #expect(page(form + "<script src=/portal.js></script>").forms[0].browserReason == FormScripts.scriptedReason)
    }

    /// Tokens of any script end, and within their limit.
    @Test(arguments: [
        "'", "`", "/", "/*", "//", "a/b", "x=/[/]/", "((((", "}}}}", "$('", "\\", "function", "=>", "a.submit(", "é",
    ])
    func survivesBrokenScripts(_ piece: String) {
        for count in [1, 2, 3000] {
            let script = String(repeating: piece, count: count)
            _ = page("<form id=a onsubmit=\"\(script)\"><input name=x><button></form><script>\(script)</script>")
        }
    }
}
