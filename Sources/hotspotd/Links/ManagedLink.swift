import EventLoop
import HotspotCore
import HotspotMachine
import LinkState
import Wireless

/// All that the daemon holds of one link of the machine.
struct ManagedLink {
    /// There is one if the settings let the daemon manage the link.
    var controller: InterfaceController?
    /// The network that the radio is in, with or without an address.
    var association: WirelessAssociation?
    /// A join on its way.
    var arrival: PendingArrival?
    /// What was asked of this network itself, from the arrival until it is left.
    var question: PortalQuestion?
    /// The network that was joined last, and its addresses.
    var lastJoin: (network: NetworkID, addresses: Set<String>)?

    /// Returns whether the link has only addresses from the network joined before. They say nothing about the present one; the join waits
    /// for new ones.
    func hasLeftoverAddresses(_ addresses: [String]) -> Bool {
        guard let association, let lastJoin else { return false }
        return lastJoin.network != association.network && addresses.allSatisfy(lastJoin.addresses.contains)
    }

    /// Returns whether the network itself is to be asked for its portal's API: once for each join, where portals are and no other source
    /// has told it.
    func mayAsk(_ addresses: [String], knowing facts: LinkFacts?) -> Bool {
        guard question == nil, facts?.announcement == nil, !hasLeftoverAddresses(addresses) else { return false }
        return association == nil || association?.security == .open
    }

    /// Returns whether the gate closes this link to ordinary programs: neither the machine nor `TrustedNetworks=` opens it.
    @LoopActor func isClosed(under settings: Settings) -> Bool {
        guard let controller, !controller.machine.state.opensGate else { return false }
        return !(association.map { settings.trusts($0.ssid, $0.security) } ?? false)
    }
}

extension WirelessAssociation {
    var network: NetworkID { .wireless(ssid, security) }
}

extension MachineState {
    /// The gate is open where the machine opens it, and in a network that the user switched off for all helpers: no helper would ever
    /// open it there.
    var opensGate: Bool {
        if case .inactive(.held(_, .disabled, _)) = self { true } else { gateIsOpen }
    }

    /// The network is joined, and no helper is asked or will be soon. Without an address a join may be on its way.
    var needsNoHelper: Bool {
        switch self {
        case .inactive(.noAddress): false
        case .inactive(.held), .inactive(.leaving), .authenticated, .failure: true
        case .evaluating, .authenticating, .presentingUI, .maintaining, .loggingOff: false
        }
    }
}
