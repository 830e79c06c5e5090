import HelperKit
import HotspotCore

/// A file's claim on a portal, with what matched.
package struct PortalClaim: Hashable, Sendable {
    package let portal: PortalFile
    package let evidence: [PortalFile.Evidence]
    /// The lines of the section that matched.
    let count: Int

    /// Two independent kinds of evidence make a claim high.
    package var confidence: Confidence { evidence.count > 1 ? .high : .low }
    /// One sentence for the journal.
    package var reason: String { "\(portal.id).portal matches by \(evidence.map(\.rawValue).joined(separator: ", "))." }
}

/// Compares the answers up to a portal's page with portal files.
package enum Matcher {
    /// Returns the claims of the files that match, the best one first: more kinds of evidence, then more lines, then the name.
    ///
    /// - Parameter hops: the answers from the probe to the portal's page.
    package static func claims(_ portals: [PortalFile], on hops: [HTTPResponse], ssid: SSID?) -> [PortalClaim] {
        let addresses = addresses(of: hops)
        return portals.compactMap { portal in
            portal.matches.filter { holds($0, hops, addresses, ssid) }
                .map { PortalClaim(portal: portal, evidence: $0.evidence, count: $0.count) }
                .max { ($0.evidence.count, $0.count) < ($1.evidence.count, $1.count) }
        }
        .sorted { ($1.evidence.count, $1.count, $0.portal.id) < ($0.evidence.count, $0.count, $1.portal.id) }
    }

    /// Returns why a file does not match: the first line of each section that does not hold.
    package static func mismatch(_ portal: PortalFile, on hops: [HTTPResponse]) -> String {
        let addresses = addresses(of: hops)
        let page = hops[hops.count - 1].url
        let reasons = portal.matches.map { match in
            guard let line = match.lines.first(where: { !holds($0.alone, hops, addresses, nil) }) else {
                return "the lines of [Match] do not hold for one address"
            }
            let seen = line.key == "Path" ? page.path : line.key == "Host" ? page.host : page.text
            return "\(line.key)=\(line.value) does not match \(seen)"
        }
        return "\(portal.id).portal: \(reasons.joined(separator: "; "))"
    }

    private static func addresses(of hops: [HTTPResponse]) -> [WebURL] {
        hops.map(\.url) + hops.compactMap { hop in hop.location.flatMap { WebURL($0, relativeTo: hop.url) } }
    }

    private static func holds(_ match: PortalFile.Match, _ hops: [HTTPResponse], _ addresses: [WebURL], _ ssid: SSID?) -> Bool {
        func matches(_ globs: [Glob], _ text: some StringProtocol) -> Bool { globs.contains { $0.matches(Array(text.utf8)) } }
        let isNetwork = match.ssids.allSatisfy { globs in globs.contains { $0.matches(ssid?.octets ?? []) } }
        let isAddress = addresses.contains { url in
            match.hosts.allSatisfy { matches($0, url.host) } && match.paths.allSatisfy { matches($0, url.path) }
                && match.queries.allSatisfy { pairs in
                    pairs.contains { pair in
                        PercentEncoding.pair(pair.name, of: (url.query ?? "").utf8).map { pair.value?.matches($0) ?? true }
                            ?? false
                    }
                }
        }
        let isHead =
            match.statuses.allSatisfy { globs in hops.contains { matches(globs, "\($0.status) \($0.phrase)") } }
            && match.headers.allSatisfy { pairs in
                hops.contains { hop in
                    pairs.contains { pair in
                        hop.headers.contains { $0.name == pair.name && (pair.value?.matches(Array($0.value.utf8)) ?? true) }
                    }
                }
            }
        return isNetwork && isAddress && isHead
            && match.bodies.allSatisfy { globs in hops.contains { hop in globs.contains { $0.matches(hop.body) } } }
            && !hops.contains { hop in match.absent.contains { $0.matches(hop.body) } }
    }
}
