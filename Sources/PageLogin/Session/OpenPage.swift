import HelperKit
import HotspotCore

/// A page that reloads itself after a login, such as a window that says "leave this window open". If the requests stop, the gateway ends the session.
struct OpenPage: Codable, Hashable, Sendable {
    /// The shortest pause between two requests, in seconds.
    static let shortestPause = 5
    private static let longestPause = 86_400
    /// The time of one request and its redirects, in milliseconds.
    private static let loadLimit = 10_000

    /// The address that the page loads next.
    private var url: String
    /// Seconds between two requests.
    private var pause: Int
    /// The time of the next request, in seconds of the clock of ``HotspotCore/Instant``.
    private var due: Int

    /// Returns `nil` for a page without a refresh, or with a refresh that leads to another site or logs off.
    ///
    /// - Parameter submitted: the address that a form made of its answers. A refresh must not lead there, because that would log in again.
    init?(
        _ page: HTMLPage, at url: WebURL, redirects: RedirectPolicy, submitted: WebURL? = nil, now: Int = Self.now
    ) {
        guard let reload = page.reload, reload.seconds > 1, reload.seconds <= Double(Self.longestPause) else { return nil }
        let target = reload.reference.isEmpty ? url : try? redirects.target(of: reload.reference, from: page.base)
        guard let target, target.isSameSite(as: url), target != submitted, !Purposes(of: target.text).isLogout else {
            return nil
        }
        self.url = target.text
        pause = max(Self.shortestPause, Int(reload.seconds))
        due = now + pause
    }

    /// Returns the seconds until the next request, at most the pause: after a restart of the computer, its clock begins at zero.
    func secondsLeft(at now: Int = Self.now) -> Int { min(max(0, due - now), pause) }

    /// Loads the page when it is due, and notes its next refresh. If that fails, the page is loaded again after the same pause. A page without a
    /// refresh is no longer kept open.
    static func keep(_ page: OpenPage, _ memory: inout SessionMemory, _ command: HelperCommand) {
        // The timer may fire early by less than a second.
        guard page.secondsLeft() <= 1, let url = WebURL(page.url) else { return }
        let client = memory.client(command)
        let scope = command.scope.limited(milliseconds: loadLimit)
        var request = HTTPRequest(url)
        request.requiredPin = memory.pin(for: url)
        do throws(TransferError) {
            let chain = try RedirectChain.follow(
                client.send(request, in: scope), to: request, client: client,
                outside: RedirectChain.outsideHosts(of: command.link), in: scope, mayWait: { false })
            memory.openPage = OpenPage(chain.page, at: chain.final.url, redirects: command.redirects)
            memory.cookies = client.cookies.lines(within: SessionMemory.cookieLimit)
        } catch {
            command.scope.trace.add("the page that must stay open was not loaded: \(error.code.rawValue)")
            memory.openPage?.due = now + page.pause
        }
    }

    static var now: Int { Int(Instant.now.nanoseconds / 1_000_000_000) }
}
