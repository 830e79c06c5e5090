import ForeignText
import HotspotCore

/// Whether a reference that a portal gave is followed. libcurl follows nothing by itself; every hop passes through here.
public struct RedirectPolicy: Sendable {
    /// Hops of one journey, of all kinds together.
    public static let limit = 10
    /// Of them, those that a page asked for instead of a header.
    public static let pageLimit = 3

    let policy: NetworkPolicy

    /// The rules under a network policy.
    public init(_ policy: NetworkPolicy = .strict) { self.policy = policy }

    /// The target of a reference on the page `base`. Throws ``TransferError`` (`refusedURL`) with the reason.
    ///
    /// - Parameter withSecrets: the journey carries something that was typed: it must not leave its origin.
    public func target(of reference: String, from base: WebURL, withSecrets: Bool = false) throws(TransferError) -> WebURL {
        guard let url = WebURL(reference, relativeTo: base) else { throw TransferError(.refusedURL, "not a web address") }
        try check(url)
        if withSecrets, url.origin != base.origin { throw TransferError(.refusedURL, "leads away from \(base.origin)") }
        return url
    }

    /// Whether a URL may be asked at all: web schemes, ports of the web and of gateways, no user information.
    public func check(_ url: WebURL) throws(TransferError) {
        guard url.scheme == "http" || url.scheme == "https" else {
            throw TransferError(.refusedURL, "scheme \(Printable.text(url.scheme, limit: 32))")
        }
        guard !url.hasUserInformation else { throw TransferError(.refusedURL, "a user name in the address") }
        guard policy.allows(port: url.port) else { throw TransferError(.refusedURL, "port \(url.port)") }
    }
}
