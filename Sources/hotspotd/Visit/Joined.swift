import ControlAPI
import EventLoop
import HotspotCore
import HotspotMachine
import LinkState

/// The network that an interface is in, from the time it gets an address until it loses the address.
struct Joined {
    /// Identifies this join for helpers, until the network is left.
    var association: String
    let network: NetworkID
    let ssid: SSID
    let security: Security
    /// The access point, or the gateway of a wired network.
    var bssid: HardwareAddress?
    /// The signal, in dBm.
    var signal: Int?
    var snapshot: LinkSnapshot
    /// Whether the link was up before the daemon started.
    var wasUpBefore = false
    /// Whether the network's records were forgotten, so that the running session is not stored again.
    var isForgotten = false
    /// This computer's hardware address at the last login on this network, if it has changed since.
    var otherHardware: HardwareAddress?
    /// The access point's announcement at the join: a hint for helpers.
    var announced: AnnouncedAccess?
    var facts: LinkFacts

    var label: String { network.label }

    /// Returns the network as a helper sees it.
    func network(for helper: String, chosen: String?, interface: String, autoJoined: Bool, justJoined: Bool) -> Network {
        Network(
            ssid: ssid, bssid: bssid, interface: interface, signalStrength: signal.map { SignalScale.strength(dBm: $0) },
            security: security, autoJoined: autoJoined, justJoined: justJoined, chosenHelper: chosen == helper,
            announced: announced?.forHelpers)
    }

    /// Returns the facts about the link, for people.
    func details(with settings: Settings) -> LinkDetails {
        let isSet = !settings.probeNameservers.isEmpty
        return LinkDetails(
            addresses: snapshot.addresses, gateways: snapshot.gateways,
            nameservers: isSet ? settings.probeNameservers : facts.nameservers,
            nameserversFrom: isSet ? "settings" : facts.source,
            portalAPI: facts.announcement?.api.text, portalAPIFrom: facts.announcement?.source)
    }

    /// Returns the link as helpers and the prober see it.
    func link(attempt: String?, interface: String, settings: Settings, probeAddresses: [String: String]) -> Link {
        let probeURL = settings.probeURL ?? Link.usualProbe.url
        let timeout = settings.policy.commandTimeout
        return Link(
            attempt: attempt ?? association, association: association, interface: interface, index: snapshot.index,
            addresses: snapshot.addresses, gateways: snapshot.gateways,
            nameservers: settings.probeNameservers.isEmpty ? facts.nameservers : settings.probeNameservers,
            portalAPI: facts.portalAPI, probeURL: probeURL,
            probeExpect: settings.probeURL == nil ? Link.usualProbe.expect : settings.probeExpect,
            probeHTTPSURL: settings.probeHTTPSURL, probeAddress: probeAddresses[probeURL],
            commandTimeout: timeout == Policy().commandTimeout ? nil : timeout.milliseconds)
    }
}
