import HelperKit
import HotspotCore

/// A portal file's claim on a portal, with the evidence.
package struct PortalClaim: Hashable, Sendable {
    package let portal: PortalFile
    package let evidence: [PortalFile.Evidence]
    /// The number of lines in the section that matched.
    let count: Int

    /// Two independent kinds of evidence make the confidence high.
    package var confidence: Confidence { evidence.count > 1 ? .high : .low }
    /// One sentence for the journal.
    package var reason: String { "\(portal.id).portal matches by \(evidence.map(\.rawValue).joined(separator: ", "))." }
}

/// Compares portal files with all answers on the way to the portal's page, beginning with the probe's answer.
package enum Matcher {
    /// Returns the claims of the files that match, the best claim first: more kinds of evidence, then more lines, then the name.
    ///
    /// - Parameter hops: all answers on the way to the portal's page, beginning with the probe's answer.
    package static func claims(_ portals: [PortalFile], on hops: [HTTPResponse], ssid: SSID?) -> [PortalClaim] {
        let seen = Seen(hops, ssid)
        var claims: [PortalClaim] = []
        for index in portals.indices {
            guard let match = best(portals[index].matches, seen) else { continue }
            claims.append(PortalClaim(portal: portals[index], evidence: match.evidence, count: match.count))
        }
        return sorted(claims)
    }

    /// Returns the claims of the files that match, if only their `[Match]` sections have been read.
    ///
    /// - Parameter report: called with the mistakes of files that match but cannot be used.
    static func claims(
        _ outlines: [PortalOutline], on hops: [HTTPResponse], ssid: SSID?, report: (Keyfile.Error) -> Void
    ) -> [PortalClaim] {
        let seen = Seen(hops, ssid)
        var claims: [PortalClaim] = []
        for index in outlines.indices {
            guard let match = best(outlines[index].matches, seen) else { continue }
            do throws(Keyfile.Error) {
                claims.append(PortalClaim(portal: try outlines[index].whole(), evidence: match.evidence, count: match.count))
            } catch {
                report(error)
            }
        }
        return sorted(claims)
    }

    private static func sorted(_ claims: [PortalClaim]) -> [PortalClaim] {
        claims.sorted { ($1.evidence.count, $1.count, $0.portal.id) < ($0.evidence.count, $0.count, $1.portal.id) }
    }

    /// Returns the matching section with the most kinds of evidence, and among equals with the most lines.
    private static func best(_ matches: [PortalFile.Match], _ seen: Seen) -> PortalFile.Match? {
        // Among thousands of files, almost all are excluded here, without a copy or comparison.
        guard matches.contains(where: { seen.trigrams.mayHold($0.demand) && holds($0, seen) }) else { return nil }
        return matches.filter { holds($0, seen) }.max { ($0.evidence.count, $0.count) < ($1.evidence.count, $1.count) }
    }

    /// Returns why a file does not match: the first line that fails in each section.
    package static func mismatch(_ portal: PortalFile, on hops: [HTTPResponse]) -> String {
        let seen = Seen(hops, nil)
        let page = hops[hops.count - 1].url
        let reasons = portal.matches.map { match in
            guard let line = match.lines.first(where: { !holds($0.alone, seen) }) else {
                return "no single address matches all lines of [Match]"
            }
            let found = line.key == "Path" ? page.path : line.key == "Host" ? page.host : page.text
            return "\(line.key)=\(line.value) does not match \(found)"
        }
        return "\(portal.id).portal: \(reasons.joined(separator: "; "))"
    }

    /// The answers as octets, which patterns are compared with; made once for all files.
    private struct Seen {
        let ssid: [UInt8]
        let addresses: [(host: [UInt8], path: [UInt8], query: [(name: [UInt8], value: [UInt8])])]
        let hops: [(status: [UInt8], headers: [(name: String, value: [UInt8])], body: [UInt8])]
        private(set) var trigrams = Trigrams()

        init(_ hops: [HTTPResponse], _ ssid: SSID?) {
            self.ssid = ssid?.octets ?? []
            let urls = hops.map(\.url) + hops.compactMap { hop in hop.location.flatMap { WebURL($0, relativeTo: hop.url) } }
            // Removes duplicates: a redirect's target is usually the address of the next answer.
            let different = urls.indices.filter { !urls[..<$0].contains(urls[$0]) }.map { urls[$0] }
            addresses = different.map {
                (Array($0.host.utf8), Array($0.path.utf8), PercentEncoding.pairs(of: ($0.query ?? "").utf8))
            }
            self.hops = hops.map { hop in
                (Array("\(hop.status) \(hop.phrase)".utf8), hop.headers.map { ($0.name, Array($0.value.utf8)) }, hop.body)
            }
            for address in addresses {
                trigrams.insert(address.host)
                trigrams.insert(address.path)
                for pair in address.query { trigrams.insert(pair.name) }
            }
            for hop in hops { trigrams.insert(hop.body) }
        }
    }

    /// Returns whether a section matches; compares short texts before long ones.
    private static func holds(_ match: PortalFile.Match, _ seen: Seen) -> Bool {
        func matches(_ globs: [Glob], _ octets: [UInt8]) -> Bool { globs.contains { $0.matches(octets) } }
        return match.ssids.allSatisfy { matches($0, seen.ssid) }
            && seen.addresses.contains { url in
                match.hosts.allSatisfy { matches($0, url.host) } && match.paths.allSatisfy { matches($0, url.path) }
                    && match.queries.allSatisfy { pairs in
                        pairs.contains { pair in
                            url.query.first { $0.name.elementsEqual(pair.name.utf8) }.map {
                                pair.value?.matches($0.value) ?? true
                            } ?? false
                        }
                    }
            }
            && match.statuses.allSatisfy { globs in seen.hops.contains { matches(globs, $0.status) } }
            && match.headers.allSatisfy { pairs in
                seen.hops.contains { hop in
                    pairs.contains { pair in
                        hop.headers.contains { $0.name == pair.name && (pair.value?.matches($0.value) ?? true) }
                    }
                }
            }
            && match.bodies.allSatisfy { globs in seen.hops.contains { matches(globs, $0.body) } }
            && !seen.hops.contains { hop in match.absent.contains { $0.matches(hop.body) } }
    }
}
