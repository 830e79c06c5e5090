import EventLoop
import Glibc
import HotspotCore
import HotspotMachine
import LinkState
import Wireless

/// A join on its way: an address is there. Helpers need a route and resolvers too, and a wire its gateway's address. For these the join
/// waits a little, and goes on without them if they do not come.
@LoopActor final class PendingArrival {
    /// The longest wait for a route, resolvers and the gateway's address after the address came up.
    private static let patience = Duration.seconds(4)
    /// How long the join waits for the link's own record instead of an older resolv.conf, which may be of the last network. A DHCP
    /// client writes its record last, and on a slow machine seconds after the address.
    private static let recordPatience = Duration.seconds(3)
    /// The same for a resolv.conf that is newer than the address: the record has the portal's API besides.
    private static let freshPatience = Duration.milliseconds(300)
    /// The longest wait for the programs that manage links to say whether this one is theirs.
    private static let managerPatience = Duration.milliseconds(300)
    /// How often the DHCP client's record is read meanwhile; the kernel does not report it.
    private static let interval = Duration.milliseconds(20)

    private let began = EventLoop.now
    /// The same by the wall clock, which files are dated by.
    private let beganByWallClock = WallClock.now
    private var timer: EventSource?
    private var ask: GatewayAsk?
    /// The answer of ``ask``, once there is one.
    private var gateway: HardwareAddress??
    private let onProgress: () -> Void

    /// - Parameter onProgress: called when `network(on:…)` may have another result.
    init(onProgress: @escaping () -> Void) { self.onProgress = onProgress }

    func cancel() {
        timer?.cancel()
        ask?.cancel()
    }

    /// Returns the network to join, or nothing while the arrival waits.
    ///
    /// - Parameters:
    ///   - progress: how far the programs that manage links have come with this one.
    ///   - hasResolvers: the settings name resolvers, so that the link need not.
    func network(
        on link: LinkSnapshot, of managed: ManagedLink, facts: LinkFacts?, from progress: LinkManagers.Progress,
        hasResolvers: Bool
    ) -> Joined? {
        if EventLoop.now - began < Self.patience,
            link.gateways.isEmpty || !(hasResolvers || isComplete(facts, progress))
                || managed.hasLeftoverAddresses(link.addresses)
        {
            waitForRecord()
            return nil
        }
        let facts = facts ?? LinkFacts(source: "none")
        if let association = managed.association {
            return Joined(
                association: Services.randomID(), network: association.network, ssid: association.ssid,
                security: association.security, bssid: association.bssid, signal: association.signal, snapshot: link, facts: facts
            )
        }
        guard let gateway = gatewayAddress(of: link) else { return nil }
        return Joined(
            association: Services.randomID(), network: gateway.map { .wired($0) } ?? .anonymous, ssid: .empty, security: .wired,
            bssid: gateway, signal: nil, snapshot: link, facts: facts)
    }

    private func isComplete(_ facts: LinkFacts?, _ progress: LinkManagers.Progress) -> Bool {
        switch progress {
        case .complete: true
        case .busy: false
        case .asking: EventLoop.now - began >= Self.managerPatience && isGood(facts)
        case .none: isGood(facts)
        }
    }

    /// Returns whether a record has resolvers that are this link's.
    private func isGood(_ facts: LinkFacts?) -> Bool {
        guard let facts, !facts.nameservers.isEmpty else { return false }
        let waited = EventLoop.now - began
        return !facts.isShared || waited >= Self.recordPatience
            || (waited >= Self.freshPatience && Self.sharedResolversAreNewer(than: beganByWallClock))
    }

    private func waitForRecord() {
        timer?.cancel()
        timer = try? EventLoop.shared.schedule(after: Self.interval) { [weak self] in self?.onProgress() }
    }

    /// Returns nothing while the question runs; `.some(nil)` if there is no gateway, or it does not answer.
    private func gatewayAddress(of link: LinkSnapshot) -> HardwareAddress?? {
        guard let address = link.gateways.first else { return .some(nil) }
        if gateway == nil, ask == nil {
            ask = GatewayAsk(gateway: address, on: link.index) { [weak self] answer in
                self?.gateway = .some(answer)
                self?.onProgress()
            }
        }
        return gateway
    }

    /// Returns whether resolv.conf was written since that moment (Unix time in milliseconds).
    private static func sharedResolversAreNewer(than time: Int) -> Bool {
        var status = stat()
        guard stat("/etc/resolv.conf", &status) == 0 else { return false }
        return status.st_mtim.tv_sec * 1000 + status.st_mtim.tv_nsec / 1_000_000 >= time
    }
}
