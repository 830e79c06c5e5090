import ForeignText
import HotspotCore

/// Decides whether hotspotd follows a reference on a portal's page. libcurl follows no redirect by itself, so this type checks
/// every hop.
public struct RedirectPolicy: Sendable {
    /// The largest number of hops in one chain, of all kinds together.
    public static let limit = 10
    /// The largest number of hops that come from pages instead of headers.
    public static let pageLimit = 3

    let policy: NetworkPolicy

    /// Makes the rules under a network policy.
    public init(_ policy: NetworkPolicy = .strict) { self.policy = policy }

    /// Returns the target of a reference on the page `base`. Throws ``TransferError`` (`refusedURL`) with the reason.
    ///
    /// - Parameter withSecrets: whether the request carries the user's answers and must not leave its origin, except from http to the https of the same
    ///   host, both at their usual ports.
    public func target(of reference: String, from base: WebURL, withSecrets: Bool = false) throws(TransferError) -> WebURL {
        guard let url = WebURL(reference, relativeTo: base) else { throw TransferError(.refusedURL, "not a web address") }
        try check(url)
        let isUpgrade = base.origin == "http://\(url.host)" && url.origin == "https://\(url.host)"
        if withSecrets, url.origin != base.origin, !isUpgrade {
            throw TransferError(.refusedURL, "leads away from \(base.origin)")
        }
        return url
    }

    /// Checks that a URL may be requested: scheme http or https, no user information. Any port is allowed: ``AddressPolicy``
    /// decides about the address. Throws ``TransferError`` (`refusedURL`).
    public func check(_ url: WebURL) throws(TransferError) {
        guard url.scheme == "http" || url.scheme == "https" else {
            throw TransferError(.refusedURL, "scheme \(Printable.text(url.scheme, limit: 32))")
        }
        guard !url.hasUserInformation else { throw TransferError(.refusedURL, "a user name in the address") }
    }
}
