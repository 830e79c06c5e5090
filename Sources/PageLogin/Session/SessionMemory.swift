import HelperKit
import HotspotCore
import Varlink

/// The contents of a session's memory for the helpers of this library: the portal, how to log off, and the portal's cookies.
package struct SessionMemory: Codable, Sendable {
    /// The origin of the portal.
    package var origin: String?
    /// The pin of the portal's key.
    package var pin: String?
    /// The pins of other origins that received answers, by origin.
    package var pins: [String: String]?
    /// The request that logs off.
    var logoff: SavedRequest?
    /// The address of a page that may offer a logoff: the page on the portal's origin to which the login led, or the portal's first page.
    var statusPage: String?
    /// The page after the login that must stay open.
    var openPage: OpenPage?
    /// The cookies of the login, in libcurl's format.
    package var cookies: [String]?
    /// The page that asked the user, if it cannot be fetched again from the portal's first page.
    package var page: SavedPage?
    /// The number (in `OpenPages`) of the page that is open in a browser of this process while the user is asked.
    var rendered: String?
    /// Fingerprints of the terms that the user accepted, each followed by a blank and the fingerprint of their box; other terms need new consent.
    var terms: [String]?
    /// Fingerprints of the terms that the open prompt shows.
    package var shownTerms: [String]?
    /// The ways of sending to which the user agreed (``ConsentRequired``), each with the origin of its page.
    package var agreed: [String]?
    /// The agreements that an answer to the open prompt implies.
    package var impliedAgreements: [String]?
    /// The names of the open prompt's fields.
    var asked: [String]?

    /// The answers that this login sent before the open prompt, by name.
    var sent: [String: FormAnswers.Sent]?

    /// A request to be made later.
    package struct SavedRequest: Codable, Hashable, Sendable {
        var url: String
        /// The body of a POST.
        var body: String?
        var type: String?
        /// Names and values in turn.
        var headers: [String]?

        init(url: String, body: String? = nil) { (self.url, self.body) = (url, body) }

        package init(_ request: HTTPRequest) {
            (url, body, type) = (request.url.text, request.method == .post ? request.body ?? "" : nil, request.contentType)
            headers = request.headers.flatMap { [$0.name, $0.value] }
        }
    }

    /// The parts of a page that are needed to submit its form.
    package struct SavedPage: Codable, Sendable {
        var url: String
        var base: String
        var title: String?
        var form: HTMLForm
        /// The forms of the page's other ways to log in.
        var others: [HTMLForm]?
        /// Answers that the portal has refused, secrets without their text.
        var refused: [String: String]?
        /// The page's words, piece by piece, if they are few.
        var sentences: [String]?
        /// The terms that submitting the form accepts.
        var terms: Terms.Saved?
    }

    /// The largest size of cookies that are kept, in octets.
    package static let cookieLimit = 6 * 1024

    init() {}

    package init(_ session: Session?) {
        guard let value = session?.memory, let memory = try? Coding.decode(SessionMemory.self, from: value) else { return }
        self = memory
    }

    /// The part that is kept after a logoff. The accepted terms belong to it, because otherwise changes to them would go unnoticed.
    var forNextLogin: SessionMemory {
        var kept = SessionMemory()
        (kept.origin, kept.pin, kept.pins, kept.terms, kept.agreed) = (origin, pin, pins, terms, agreed)
        return kept
    }

    /// Returns the pin that a request to this address requires.
    package func pin(for url: WebURL) -> String? {
        guard url.isSecure else { return nil }
        return url.origin == origin ? pin : pins?[url.origin]
    }

    /// Returns a saved request, which requires the kept key; `nil` if there is none. Throws ``TransferError`` if its address may no longer be
    /// contacted.
    package func request(_ saved: SavedRequest?, _ redirects: RedirectPolicy) throws(TransferError) -> HTTPRequest? {
        guard let saved, let url = WebURL(saved.url) else { return nil }
        try redirects.check(url)
        var request = HTTPRequest(url)
        (request.method, request.body, request.requiredPin) = (saved.body == nil ? .get : .post, saved.body, pin(for: url))
        if let type = saved.type { request.contentType = type }
        let headers = saved.headers ?? []
        request.headers = stride(from: 0, to: headers.count - 1, by: 2).map {
            HTTPResponse.Header(name: headers[$0], value: headers[$0 + 1])
        }
        return request
    }

    /// Makes a client with the kept cookies.
    package func client(_ command: HelperCommand) -> HTTPClient {
        command.client(cookies: CookieJar(lines: cookies ?? []))
    }

    /// The memory as the daemon keeps it; without pages and cookies if it would be too long.
    package var value: JSONValue? {
        let value = Coding.value(self)
        if Coding.encode(value).count <= Session.memoryLimit { return value }
        var small = self
        small.page = nil
        small.cookies = nil
        small.statusPage = nil
        small.openPage = nil
        return Coding.value(small)
    }
}
