import BoundHTTP
import HotspotCore

/// The pages that stay open while the user answers their questions. A session's memory keeps a page's number.
package final class OpenPages: Sendable {
    package static let shared = OpenPages()

    private struct OpenPage: Sendable {
        let page: RenderedPage
        let end: Instant
    }

    /// Milliseconds that a page stays open.
    private static let patience = 600_000
    private static let limit = 2
    private let pages = Locked<[String: OpenPage]>([:])

    /// Whether a thread is running that closes pages when their time is over.
    private let isWatched = Locked(false)

    /// Keeps a page open, and returns its number.
    package func keep(_ page: RenderedPage) -> String {
        let number = String(UInt64.random(in: .min ... .max), radix: 36)
        pages.with { $0[number] = OpenPage(page: page, end: .after(milliseconds: Self.patience)) }
        closeOld(leaving: Self.limit)
        let starts = isWatched.with { isWatched in
            defer { isWatched = true }
            return !isWatched
        }
        if starts { Worker.startAside { self.watch() } }
        return number
    }

    /// Removes and returns a page; `nil` if it was closed, or was never kept in this process.
    @discardableResult package func take(_ number: String) -> RenderedPage? {
        guard let page = pages.with({ $0.removeValue(forKey: number) }), !page.end.isPast, page.page.isOpen else { return nil }
        return page.page
    }

    /// Closes the oldest pages, so that one more page can open.
    package func makeRoom() { closeOld(leaving: Self.limit - 1) }

    private func closeOld(leaving limit: Int) {
        let old = pages.with { pages in
            var old = pages.filter { $0.value.end.isPast || !$0.value.page.isOpen }
            let rest = pages.filter { old[$0.key] == nil }.sorted { $0.value.end < $1.value.end }
            for (number, page) in rest.prefix(max(0, rest.count - limit)) { old[number] = page }
            for number in old.keys { pages[number] = nil }
            return old.values.map(\.page)
        }
        for page in old { page.close() }
    }

    /// Closes each page when its time is over; returns when no page is open.
    private func watch() {
        while true {
            _ = Scope(deadline: .after(milliseconds: 5000)).pause(milliseconds: 5000)
            closeOld(leaving: Self.limit)
            let isDone = isWatched.with { isWatched in
                isWatched = !pages.with(\.isEmpty)
                return !isWatched
            }
            if isDone { return }
        }
    }
}
