import HotspotCore

/// Maintain, as all our helpers have it: the probe decides.
public enum Maintenance {
    /// - Parameter portal: the portal as it is now, asked for only if the network is captive again.
    public static func run(_ visit: Visit, portal: (ProbeResult) -> Portal?) -> Reply {
        guard let result = visit.probe() else { return visit.reply(TransferError(.cancelled)) }
        switch result.verdict {
        case .online, .partial:
            var session = visit.session ?? Session()
            session.secondsRemaining = result.secondsRemaining
            session.bytesRemaining = nil
            if let document = visit.link.portalAPI == nil ? nil : visit.portalAPI(), !document.captive {
                session.secondsRemaining = document.secondsRemaining
                session.bytesRemaining = document.bytesRemaining
                session.canExtend = document.canExtend
                session.venueURL = document.venueURL?.text
            }
            return visit.reply(.success, session: session)
        case .captive:
            // The contract wants a portal here; one that is not the helper's own has at least an address.
            let portal = portal(result) ?? result.portalURL.map { Portal(origin: $0.origin, kind: "unknown") }
            return visit.reply(
                .authenticationRequired, portal: portal, session: visit.session, reason: "The portal wants a new login.")
        case .limited:
            return visit.reply(
                .temporaryFailure, session: visit.session,
                reason: "Nothing answers that tells anything (\(result.problem ?? "noAnswer")).")
        }
    }
}
