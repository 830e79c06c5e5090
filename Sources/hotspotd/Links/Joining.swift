import HotspotCore
import LinkState
import Wireless

/// One link's way into and out of a network, as a value: takes the facts about the link and returns the next step.
///
/// A link with an address is in a network. But helpers also need a route and resolvers, and a wired network is identified by its gateway's hardware
/// address. The join waits a little for these, and then continues without them.
struct Joining {
    /// The facts about the link that are known now.
    struct View {
        var link: LinkSnapshot
        var isWireless: Bool
        /// The network that the radio is in.
        var association: WirelessAssociation?
        var facts: LinkFacts?
        /// How far the programs that manage links have configured this link.
        var progress = LinkManagers.Progress.none
        /// Whether a DHCP client is about to write its record of this link.
        var isRecordDue = false
        /// The gateway's hardware address, once it was looked up: `.some(nil)` if there is none, or if the gateway is silent.
        var gateway: HardwareAddress??
        /// Whether the settings name resolvers, so that the join does not wait for the link's resolvers.
        var hasResolvers = false

        /// Whether the link is in a network, as far as the kernel knows. A radio's carrier is off while it roams, so its association decides.
        var isThere: Bool { link.isUp && !link.addresses.isEmpty && (isWireless ? association != nil : link.hasCarrier) }
    }

    enum Step: Hashable {
        /// The link is not in a network, and was not in one at the step before.
        case rest
        /// The join waits, and may need the gateway's hardware address.
        case wait(asksGateway: Bool)
        /// The link was lost before it was joined.
        case giveUp
        case join(NetworkID, bssid: HardwareAddress?)
        /// The network is the same.
        case stay
        /// The network is the same, through another access point.
        case roam(BSSID)
        /// The network is left. Request the next step at once, because the link may be in another network.
        case leave(reason: String)
    }

    private enum Place {
        case nowhere
        case arriving(since: Instant, addresses: [String])
        case joined
    }

    /// The present or last network, as it was last seen.
    private struct Known {
        var network: NetworkID
        var bssid: HardwareAddress?
        var addresses: [String]
        var hardwareAddress: HardwareAddress?
        var carrierUpCount: UInt32?
    }

    /// The longest wait for a route, new addresses, any resolver, or a program that manages the link.
    static let patience = Duration.seconds(4)
    /// The longest wait for the record of a DHCP client. The client writes it last, on a slow machine seconds after the address; until then,
    /// resolv.conf may belong to the previous network.
    static let recordPatience = Duration.seconds(3)
    /// The longest wait for the answer of a program that may manage the link, and for a record if there is a resolv.conf and no client is about to
    /// write its record.
    static let sourcePatience = Duration.milliseconds(300)

    private var place = Place.nowhere
    private var known: Known?

    /// Whether the link is in a network, or joining one.
    var isAnywhere: Bool { if case .nowhere = place { false } else { true } }

    /// The time at which the join began to wait.
    var arrivingSince: Instant? { if case .arriving(let since, _) = place { since } else { nil } }

    /// Starts over without a network, for example if the settings exclude the link.
    mutating func reset() { place = .nowhere }

    mutating func step(_ view: View, at now: Instant) -> Step {
        switch place {
        case .nowhere:
            guard view.isThere else { return .rest }
            place = .arriving(since: now, addresses: view.link.addresses)
            return arrive(view, after: .zero)
        case .arriving(let since, let addresses):
            guard view.isThere else {
                place = .nowhere
                return .giveUp
            }
            // Entirely different addresses mean a new arrival, so the wait begins again.
            let began = Set(addresses).isDisjoint(with: view.link.addresses) ? now : since
            place = .arriving(since: began, addresses: view.link.addresses)
            return arrive(view, after: now - began)
        case .joined:
            if let reason = reasonToLeave(view) {
                place = .nowhere
                return .leave(reason: reason)
            }
            known?.addresses = view.link.addresses
            guard let bssid = view.association?.bssid, bssid != known?.bssid else { return .stay }
            known?.bssid = bssid
            return .roam(bssid)
        }
    }

    private mutating func arrive(_ view: View, after waited: Duration) -> Step {
        guard waited >= Self.patience || isReady(view, after: waited) else { return .wait(asksGateway: false) }
        // A wired network is identified by its gateway. Ask only once the link is ready, because before that there may be no route for the request.
        if !view.isWireless, view.gateway == nil, !view.link.gateways.isEmpty { return .wait(asksGateway: true) }
        let gateway = view.gateway ?? nil
        let network = view.association?.network ?? gateway.map { .wired($0) } ?? .anonymous
        let bssid = view.association?.bssid ?? gateway
        place = .joined
        known = Known(
            network: network, bssid: bssid, addresses: view.link.addresses, hardwareAddress: view.link.hardwareAddress,
            carrierUpCount: view.link.carrierUpCount)
        return .join(network, bssid: bssid)
    }

    private func isReady(_ view: View, after waited: Duration) -> Bool {
        guard !view.link.gateways.isEmpty, !hasLeftoverAddresses(view) else { return false }
        if view.hasResolvers { return true }
        let hasFacts = view.facts.map { !$0.nameservers.isEmpty } ?? false
        switch view.progress {
        case .complete: return true
        case .busy: return false
        case .asking where waited < Self.sourcePatience: return false
        case .asking, .none: break
        }
        guard hasFacts, view.facts?.isShared == true else { return hasFacts }
        return waited >= (view.isRecordDue ? Self.recordPatience : Self.sourcePatience)
    }

    /// Returns whether to ask the network itself for its portal's API: if a portal is likely and no other source named the API.
    func asksNetwork(_ view: View) -> Bool {
        let mayHavePortal = view.association.map { $0.security == .open } ?? true
        return mayHavePortal && view.facts?.announcement == nil && !hasLeftoverAddresses(view)
    }

    /// Returns whether all addresses come from the network before, so that they say nothing about this network.
    private func hasLeftoverAddresses(_ view: View) -> Bool {
        guard let association = view.association, let known, known.network != association.network else { return false }
        return view.link.addresses.allSatisfy(known.addresses.contains)
    }

    private func reasonToLeave(_ view: View) -> String? {
        if view.isWireless, view.association == nil { return "disconnected" }
        if !view.isThere {
            return view.link.isUp && (view.isWireless || view.link.hasCarrier) ? "the address is gone" : "the link is down"
        }
        guard let known else { return nil }
        if let association = view.association, association.network != known.network { return "another network" }
        // For a cable, compare the carrier counts: it may be unplugged and plugged in again before the daemon looks. A radio reports each
        // association.
        if !view.isWireless, view.link.carrierUpCount != known.carrierUpCount { return "the link was down" }
        // Entirely different addresses mean another lease, perhaps another network.
        if Set(view.link.addresses).isDisjoint(with: known.addresses) { return "the address changed" }
        // Leave if the hardware address changed: a portal then sees another device. The index may also belong to another interface now.
        return view.link.hardwareAddress == known.hardwareAddress ? nil : "the hardware address changed"
    }
}
