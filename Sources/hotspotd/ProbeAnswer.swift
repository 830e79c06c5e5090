import ForeignText
import HotspotCore

/// The parameters of `Probe`: org.hotspotd.Probe.
struct ProbeRequest: Encodable {
    struct Endpoint: Encodable {
        var url: String
        var expect: String
    }

    var link: Link
    var endpoints: [Endpoint]
    var httpsURL: String?
    var fresh: Bool
}

/// The answer of `Probe`.
struct ProbeAnswer: Decodable {
    struct Evidence: Decodable {
        var request: String
        var status: Int?
        var error: String?
        var milliseconds: Int

        /// One line of a trace: the request without its query, and what came of it.
        var line: String {
            let asked = request.prefix { $0 != "?" }
            let got = status.map(String.init) ?? error ?? "nothing"
            return Printable.text("\(asked) → \(got) in \(milliseconds) ms", limit: 300)
        }
    }

    var verdict: Verdict
    var portalURL: String?
    var problem: String?
    var secondsRemaining: Int?
    var evidence: [Evidence]

    /// The portal's origin: paths are not for everybody.
    var origin: String? {
        guard let portalURL, let scheme = portalURL.range(of: "://") else { return nil }
        let host = portalURL[scheme.upperBound...].prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        let origin = String(portalURL[..<scheme.upperBound] + host)
        return Origin.isValid(origin) ? origin : nil
    }
}

extension String {
    /// Where a piece stands; the standard library alone has no such search.
    fileprivate func range(of piece: String) -> Range<Index>? { firstRange(of: piece) }
}
