import BoundHTTP
import HotspotCore

/// The pages that stay open while a user is asked about them, by a number that a session's memory has.
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

    /// Keeps a page open, and returns its number.
    package func keep(_ page: RenderedPage) -> String {
        let number = String(UInt64.random(in: .min ... .max), radix: 36)
        pages.with { pages in
            pages = pages.filter { !$0.value.end.isPast && $0.value.page.isOpen }
            if pages.count >= Self.limit, let oldest = pages.min(by: { $0.value.end < $1.value.end })?.key {
                pages.removeValue(forKey: oldest)?.page.close()
            }
            pages[number] = OpenPage(page: page, end: .after(milliseconds: Self.patience))
        }
        Worker.startAside { [weak self] in
            _ = Scope(deadline: .after(milliseconds: Self.patience)).pause(milliseconds: Self.patience)
            self?.take(number)?.close()
        }
        return number
    }

    /// Takes a page out; `nil` if it is closed, or was never here.
    @discardableResult package func take(_ number: String) -> RenderedPage? {
        guard let page = pages.with({ $0.removeValue(forKey: number) }), !page.end.isPast, page.page.isOpen else { return nil }
        return page.page
    }
}
