import Testing

@testable import HelperKit
@testable import PortalPages

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

    /// A missing handler may be in the part of a long script that was not read.
    @Test func aHandlerMayBeInWhatWasNotRead() {
        let form = "<form method=post action=/in onsubmit='return doLogin()'><input name=a><button>Go</button></form>"
        let long = "<script>var text = '\(String(repeating: "a", count: 140_000))'</script>"
        #expect(page(form + long).forms[0].browserReason == FormScripts.changedReason)
    }

    /// The tokens of any script end, and stay within their limit.
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
