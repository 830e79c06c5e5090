import HotspotCore

/// What our helpers keep in a session's memory: where the portal is, how to leave it, and the cookies that belong to it.
struct Memory: Codable, Sendable {
    /// Of the portal.
    var origin: String?
    /// Of its key.
    var pin: String?
    /// How to log off.
    var logoff: SavedRequest?
    /// Of the login, in libcurl's format.
    var cookies: [String]?
    /// The page that asked something, if it cannot be reached again from the portal's beginning.
    var page: SavedPage?
    /// Fingerprints of the terms that were accepted here; other terms ask again.
    var terms: [String]?
    /// Of the terms that the prompt under way shows: accepted only when they are.
    var shownTerms: [String]?

    /// A request to be made later.
    struct SavedRequest: Codable, Sendable {
        var url: String
        var body: String?
    }

    /// As much of a page as sending its form needs.
    struct SavedPage: Codable, Sendable {
        var url: String
        var base: String
        var title: String?
        var form: HTMLForm
    }

    /// Octets of cookies that are kept.
    static let cookieLimit = 6 * 1024

    init() {}

    init(_ session: Session?) {
        guard let value = session?.memory, let memory = try? value.decoded(Memory.self) else { return }
        self = memory
    }

    /// As the daemon keeps it; without the page if that is too long.
    var value: JSONValue? {
        let value = JSONValue.encoding(self)
        if let value, value.octets <= Session.memoryLimit { return value }
        var small = self
        small.page = nil
        small.cookies = nil
        return JSONValue.encoding(small)
    }
}
