import BoundHTTP
import Glibc
import HotspotCore
import TestSupport
import Testing

@testable import Rendering

/// Pages that stay open while the user is asked.
@Suite(.timeLimit(.minutes(2))) struct OpenPagesTests {
    private let folder = TemporaryFolder()

    @Test func aPageIsTakenOnce() throws {
        let (pages, page) = (OpenPages(), try PlayedBrowser.open(folder))
        let number = pages.keep(page)
        #expect(page.version == "Played/1" && page.isOpen)
        #expect(pages.take("another") == nil)
        #expect(pages.take(number) === page)
        #expect(pages.take(number) == nil && page.isOpen)
        page.close()
    }

    @Test func theOldestGivesWay() throws {
        let pages = OpenPages()
        let opened = try (0..<3).map { _ in try PlayedBrowser.open(folder) }
        let numbers = opened.map(pages.keep)
        #expect(Set(numbers).count == 3)
        #expect(opened.map(\.isOpen) == [false, true, true])
        #expect(pages.take(numbers[0]) == nil && pages.take(numbers[1]) === opened[1] && pages.take(numbers[2]) === opened[2])
        for page in opened { page.close() }
    }

    @Test func aClosedPageIsNotGivenOut() throws {
        let (pages, page) = (OpenPages(), try PlayedBrowser.open(folder))
        let number = pages.keep(page)
        page.close()
        #expect(pages.take(number) == nil)
    }

    @Test func aPageHasItsCookies() throws {
        let page = try PlayedBrowser.open(folder)
        #expect(
            try page.cookies(in: Scope(deadline: .after(milliseconds: 5000))) == ["portal.test\tFALSE\t/\tFALSE\t0\tsid\tabc"])
        page.close()
    }

    /// Without a process at the socket there is no browser, and the error says so.
    @Test func withoutABrowserTheReasonIsTold() throws {
        do throws(TransferError) {
            _ = try RenderedPage.open(
                WebURL("http://portal.test/")!, socket: folder.path + "/none",
                link: Link(attempt: "1", association: "1", interface: "lo", index: 1, addresses: ["127.0.0.1/8"]),
                policy: .testing(),
                cookies: [], pins: [], mayReach: { _ in true }, in: Scope(deadline: .after(milliseconds: 5000)))
            Issue.record("a page without a browser")
        } catch { #expect(error.code == .system && error.detail.hasPrefix("no browser: ")) }
    }
}
