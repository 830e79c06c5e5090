import TestSupport
import Testing

@testable import HelperKit
@testable import PortalPages

/// The processor time of a page's scripts at their limits.
@Suite struct ScriptCostTests {
    /// Judges a form by scripts that repeat one part, and looks for code that runs by itself.
    private func read(_ part: String, _ count: Int, before: String = "", after: String = "") {
        let scripts = FormScripts(scripts: before + String(repeating: part, count: count) + after, sources: [])
        _ = ScriptScan(scripts.tokens)
        var form = HTMLForm(action: "/in", method: .post, hints: "", isInvisible: false, controls: [], text: "")
        form.controls = [HTMLControl(kind: .text, name: "user"), HTMLControl(kind: .submit, name: "go")]
        var clues = FormScripts.Clues()
        (clues.id, clues.handlers) = ("login", ["a()"])
        _ = scripts.reason(for: form, clues)
        _ = scripts.leavesAlone("", ["go"])
    }

    /// The scripts have 16 and 64 KiB. A page's scripts are read up to 128 KiB.
    @Test(arguments: [
        "a=function(){", "function a(){", "function a(){a();", "location=", "location='/x'+", "location.replace(", "(", "x=>",
        "({[",
        "document.write(", "x.validate({", "$(", "x.onclick=function(){", "$(document).on('click','b',",
        "$(document).on('click',e=>{",
        "x.submit();", "x.value=", "x.href=x;", "a.attr('action',", "setTimeout('a()',",
    ]) func bracketsAndAddressesGrowInLine(_ part: String) {
        let count = 16 * 1024 / part.utf8.count
        #expect(ProcessorTime.growth(from: count) { read(part, $0) } < 8, "\(part)")
    }

    /// The handler of the form calls a function with many such statements.
    @Test(arguments: [
        "document.forms[0].submit();", "f.submit();", "submit()", "return a ", "x.value=x.value=", "$('<p>',", "if(x)a ",
        "var b=a;",
    ]) func handlersGrowInLine(_ part: String) {
        let count = 16 * 1024 / part.utf8.count
        #expect(
            ProcessorTime.growth(from: count) { read(part, $0, before: "f=document.forms[0];function a(){", after: "}") } < 8,
            "\(part)"
        )
    }

    /// A variable with a long list of selectors precedes each dot.
    @Test(arguments: ["#a,", "#a .b,", ",", "a "]) func aListOfSelectorsGrowsInLine(_ selector: String) {
        let ratio = ProcessorTime.growth(from: 500) { count in
            read("x.submit();x.value=1;", count, before: "x='" + String(repeating: selector, count: 5 * count) + "';")
        }
        #expect(ratio < 8)
    }

    /// Each function calls the next one many times: without a limit, the work is a hundred times as much with each level.
    @Test(arguments: ["", "submit();"]) func functionsThatCallEachOtherAreLeftToABrowser(_ last: String) {
        var script = ""
        for level in 0..<5 {
            let next = String(repeating: "check\(level + 1)();", count: 100)
            script += "function check\(level)(){" + next + "}"
        }
        script += "function check5(){" + last + "}"
        let page = page(
            "<form method=post action=/in onsubmit='check0()'><input name=user><input type=submit></form><script>\(script)</script>"
        )
        #expect(page.forms[0].browserReason == FormScripts.changedReason)
    }

    /// A comment that does not end swallows the rest of the scripts.
    @Test(arguments: [
        "x.attr(/*", "x.val(/*", "x.value=/*", "location=/*", "a=/*", "for(a of/*", "function/*", "a=>/*", "x.on(/*", "a:/*",
    ])
    func aScriptMayEndAnywhere(_ script: String) {
        let page = page("<form method=post action=/in><input name=user><input type=submit></form><script>\(script)</script>")
        #expect(page.forms.count == 1)
    }
}
