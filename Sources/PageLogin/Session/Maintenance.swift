import HelperKit
import HotspotCore

/// The command Maintain, for helpers whose session is valid as long as the Internet answers the probe.
public enum Maintenance {
    /// Answers Maintain with the probe's verdict, and with the session's limits from the portal API if the link has one.
    ///
    /// - Parameter portal: returns the portal in its present state; called only if the network is captive again.
    public static func run(_ command: HelperCommand, portal: (ProbeResult) -> Portal?) -> Reply {
        // Connects ahead only when the user returns: then the session has often ended. The periodic command rarely finds a portal.
        if command.network.justJoined { command.connectAhead() }
        var session = command.session ?? Session()
        var memory = SessionMemory(session)
        // After an absence, the open page is not loaded again, because it belongs to an older session.
        if let page = memory.openPage, !command.network.justJoined {
            OpenPage.keep(page, &memory, command)
            session.memory = memory.value
        }
        guard let result = command.probe() else { return command.reply(TransferError(.cancelled)) }
        switch result.verdict {
        case .online, .partial:
            session.maintainAfter = memory.openPage?.secondsLeft()
            session.secondsRemaining = result.secondsRemaining
            session.bytesRemaining = nil
            if let document = command.link.portalAPI == nil ? nil : command.portalAPI(), !document.captive {
                session.secondsRemaining = document.secondsRemaining
                session.bytesRemaining = document.bytesRemaining
                session.canExtend = document.canExtend
                session.venueURL = document.venueURL?.text
            }
            return command.reply(.success, session: session)
        case .captive:
            // authenticationRequired must name a portal; if none is known, the portal's address from the probe is enough.
            let portal = portal(result) ?? result.portalURL.map { Portal(origin: $0.origin, kind: "unknown") }
            return command.reply(
                .authenticationRequired, portal: portal, session: session, reason: "The portal requires a new login.")
        case .limited:
            return command.reply(
                .temporaryFailure, session: session,
                reason: "The probe got no usable answer (\(result.problem ?? "noAnswer")).")
        }
    }
}

extension HelperCommand {
    /// Connects to the session's portal ahead of time, so that a login need not wait for the connection. Sends no request.
    fileprivate func connectAhead() {
        guard let portal = SessionMemory(session).origin.flatMap({ WebURL($0) }) else { return }
        attempts.connections(link).connectAhead(to: portal, link: link, policy: policy)
    }
}
