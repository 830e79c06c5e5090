import HotspotCore
import Testing

@testable import HelperKit
@testable import PageLogin
@testable import PortalPages

/// Pages that cost more processor time than a page may.
@Suite struct ProcessorBudgetTests {
    private func read(_ body: String, milliseconds: Int) -> HTMLPage {
        HTMLReader.read(response(200, body), milliseconds: milliseconds)
    }

    @Test(arguments: [
        "<form method=post action=/in><input type=submit value=Connect></form>",
        "<form method=post action=/in><input name=user><input type=password name=pass><input type=submit></form>",
        "<form method=post action=/in></form><script>document.forms[0].submit()</script>", "<a href=/in>Connect</a>",
    ]) func nothingOfThemIsSent(_ body: String) {
        #expect(!read(body, milliseconds: ProcessorBudget.page).isTooComplicated)
        let page = read(body, milliseconds: 0)
        #expect(page.isTooComplicated && page.isTruncated && !page.submitsItself)
        #expect(page.forms.allSatisfy { $0.browserReason == HTMLReader.complicatedReason })
        #expect(page.links.allSatisfy { $0.isInert })
    }

    @Test func theirFormsAreHandedOverWithTheReason() throws {
        var page = read("<form method=post action=/in><input type=submit value=Connect></form>", milliseconds: 10_000)
        page.forms[0].browserReason = HTMLReader.complicatedReason
        guard case .refuse(let reason) = ChoiceCase(TypedPage(page), at: page.base).choice.ruling else {
            Issue.record("The form is sent.")
            return
        }
        #expect(reason == "The page is too complicated for hotspotd.")
    }

    @Test(arguments: [true, false]) func aPageThatWasNotReadWholeIsHandedOver(takesTooLong: Bool) {
        var page = read("<p>Welcome</p>", milliseconds: 10_000)
        (page.isTruncated, page.isTooComplicated) = (true, takesTooLong)
        let subject = NoLoginCase(
            page: TypedPage(page), url: page.base, link: loopback(), offersLogoff: false, isRefusal: false,
            says: " It says: Welcome")
        let ruled = NoLoginCase.rules.ruling(on: subject)
        #expect(ruled.rule.number == (takesTooLong ? "N1" : "N3"))
        if case .handOver = ruled.ruling { return }
        Issue.record("The page is not handed over.")
    }

    @Test func timeThatIsSpentIsSpent() {
        #expect(ProcessorBudget(milliseconds: 0).isSpent)
        let budget = ProcessorBudget(milliseconds: 5)
        var count: UInt64 = 0
        while !budget.isSpent { count &+= 1 }
        #expect(budget.isSpent)
    }
}
