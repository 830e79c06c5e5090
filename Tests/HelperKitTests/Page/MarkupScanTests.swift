import TestSupport
import Testing

@testable import HelperKit
@testable import PortalPages

/// Pages that libxml2 alone would cut, or read differently from a browser.
@Suite struct MarkupScanTests {
    private let form = "<form action=/in method=post><input name=room><input type=submit name=go value=Go></form>"

    @Test(arguments: [
        "<script>document.write(\"<form action=/bad><input name=x></form>\")</script>", "<script>if (a<b) { c() }</script>",
        "<script>var t = '</td></tr>'; var u = '</b>';</script>", "<script>//<![CDATA[\nx = '</p>'\n//]]></script>",
        "<script><!--\nx = '</div>'\n//--></script>", "<script><!-- document.write('<script>y()</script>') --></script>",
        "<style>a > b { content: '</style' }</style>", "<!-- a > b -- <form action=/bad> -->", "<!--><!---><!-- x --!>",
        "<![CDATA[ <p ]]>", "<?php echo 1 ?>", "1 < 2 && 3 <4", "<textarea></b><form action=/bad></textarea>", "</ x><p>",
        "</body></html><!DOCTYPE html><html><head><title>Inn</title></head><body>", "<iframe><form action=/bad></iframe>",
        "<p title='a>b'>", "<p title=it's>",
    ]) func theFormAfterIsRead(_ before: String) {
        let page = page("<html><body>\(before)\n\(form)</body></html>")
        #expect(page.forms.map(\.action) == ["/in"])
        #expect(page.forms.first?.controls.map(\.name) == ["room", "go"])
    }

    /// A chunk of 4096 octets ends within the end tag of the script.
    @Test func aScriptEndsWhereverAChunkEnds() {
        for length in 4060...4110 {
            let page = page("<script>" + String(repeating: "x", count: length) + "</script>" + form)
            #expect(page.forms.count == 1, "\(length)")
        }
    }

    /// Each of these places could end the script, but none does.
    @Test(arguments: [
        "<script><!--<script></script>", "<script><!--<SCRIPT x></script ><p>", "<script>a<!--b<script/></script><!--",
        "<script><!--<script></script><script><!-- </script>", "<script><!-- --",
    ]) func scriptsWithoutAnEndTakeLinearTime(_ piece: String) {
        let growth = ProcessorTime.growth { size in
            _ = MarkupScan(Array(String(repeating: piece, count: size / piece.utf8.count).utf8))
        }
        #expect(growth < 8)
    }

    /// The second script comes after a place where the first one was scanned without an end.
    @Test(arguments: [
        ("<script><!--<script></script><script><!--<script></script>", ["<!--<script>", "<!--<script>"]),
        ("<script><!--<script></script><script>a</script>", ["<!--<script>", "a"]),
        ("<script><!--<script></script><p><script>b--></script>", ["<!--<script></script><p><script>b-->"]),
        ("<script><!--<script></script><b></script><script>c</script>", ["<!--<script></script><b>", "c"]),
        ("<script><!--<script></script><script>d", ["<!--<script>", "d"]),
    ]) func scriptsEndWhereTheyCan(_ text: String, _ scripts: [String]) {
        #expect(MarkupScan(Array(text.utf8)).scripts == scripts)
    }

    @Test func anUnclosedCommentHidesTheRest() { #expect(page("<!-- \(form)").forms.isEmpty) }

    /// The table closes before the form does; the button still belongs to it.
    @Test func controlsBelongToTheFormThatIsOpen() throws {
        let page = page(
            """
            <table><form action=/in><tr><td><input name=room></td></tr></table><form action=/bad><input type=submit name=go></form>
            <input name=outside><input name=far form=late><form id=late action=/late><input name=near></form>
            """)
        #expect(page.forms.map(\.action) == ["/in", "/late"])
        #expect(page.forms.first?.controls.map(\.name) == ["room", "go"])
        #expect(page.forms.last?.controls.map(\.name) == ["near", "far"])
    }

    @Test func readsStylesThatHide() {
        let page = page(
            """
            <style>.off, #gone { display: none } @media print { .print { display: none } } .row { margin-left: -15px }</style>
            <div class="x off"><form action=/a><input name=a></form></div><form id=gone action=/b><input name=b></form>
            <form class="print row" action=/c><input name=c></form><div class=d-none><form action=/d><input name=d></form></div>
            """)
        #expect(page.forms.map(\.isInvisible) == [true, true, false, true])
    }
}
