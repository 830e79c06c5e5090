import Testing

@testable import HelperKit

/// Forms that scripts send although the form's own marks do not show it, or whose scripts are not on the page.
@Suite struct UnseenScriptTests {
    private func isForScript(_ body: String) -> Bool { page(body).forms[0].browserReason != nil }

    private func form(_ attributes: String, _ inner: String = "<input name=code><input name=mail><button>Go</button>") -> String {
        "<form \(attributes)>\(inner)</form>"
    }

    /// The receiver of the handler is a variable that has no value in the script, or a member of an object.
    @Test(arguments: [
        ("document.querySelectorAll('form').forEach(f => f.addEventListener('submit', send))", true),
        ("for (const f of document.forms) { f.onsubmit = send }", true),
        ("document.querySelectorAll('.other').forEach(function (f) { f.addEventListener('submit', send) })", false),
        ("const els = { f: document.getElementById('login') }; els.f.addEventListener('submit', send)", true),
        ("const { f } = find(); f.addEventListener('submit', e => { e.preventDefault(); send() })", true),
        ("const { f } = find(); f.addEventListener('submit', () => { spin.style.display = 'block' })", false),
        ("document.addEventListener('click', e => { if (e.target.matches('#go')) { e.preventDefault(); send() } })", true),
        ("document.addEventListener('click', e => { if (e.target.matches('#menu')) { e.preventDefault(); open2() } })", false),
        ("document.querySelectorAll('button').forEach(b => b.addEventListener('click', () => send(b)))", true),
        (
            "var other = document.getElementById('other')\nvar go = document.getElementById('go')\nother.onclick = function () { send() }",
            false
        ),
        ("document.getElementById('go').onsubmit = function () { send() }", false),
        ("document.getElementById('go').form.onsubmit = function () { send() }", true),
        ("$('#login').bootstrapValidator().on('success.form.bv', function (e) { e.preventDefault(); $.post('/in') })", true),
    ]) func handlersByVariables(_ script: String, expected: Bool) {
        let body =
            form("id=login method=post action=/in", "<input name=code><button id=go>Go</button>") + "<script>\(script)</script>"
        #expect(isForScript(body) == expected)
    }

    @Test(arguments: [
        ("this.code.value = this.code.value.trim()", false), ("this.code.value = this.mail.value.trim()", true),
        ("document.getElementById('spin').style.transform = 'none'; this.dataset.sent = 1", false),
        ("$('body').append('<div class=spinner></div>')", false),
        ("$('body').append('<input type=hidden name=x>')", true), ("$('<input>').appendTo(this)", true),
        ("event.preventDefault(); $('#go').button('loading'); $(this).closest('form').submit()", false),
        ("showLoading()", false),
    ]) func whatIsHarmless(_ code: String, expected: Bool) {
        #expect(
            isForScript(form("id=login method=post action=/in onsubmit=\"\(code)\"") + "<script src=/x.js></script>") == expected)
    }

    /// Without an address, a form goes to the page itself, or to a script.
    @Test(arguments: [
        ("method=post", "/js/main.js", false), ("method=post", "/js/login.js", true), ("method=post", "/js/jquery.min.js", false),
        ("method=post action=#", "/js/main.js", true), ("method=post action=/in", "/js/login.js", false),
        ("", "/js/main.js", true), ("", "/js/jquery.min.js", false), ("", "/bootstrap/app.js", true),
        ("", "https://cdn.test/sweetalert2@11", false),
    ]) func aFormWithoutAnAddress(_ attributes: String, _ source: String, expected: Bool) {
        #expect(isForScript(form(attributes) + "<script src='\(source)'></script>") == expected)
    }

    @Test(arguments: [
        "@submit.prevent.once='go'", "wire:submit.prevent=go", "hx-post=/x", "data-hx-post=/x", "data-remote=true",
        "data-ajax=true",
        "data-ng-submit='go()'", "x-on:submit.prevent='go()'",
    ]) func frameworksSendTheirForms(_ attribute: String) {
        #expect(isForScript(form("method=post action=/in \(attribute)")))
        #expect(!isForScript(form("method=post action=/in data-ajax=false")))
    }
}
