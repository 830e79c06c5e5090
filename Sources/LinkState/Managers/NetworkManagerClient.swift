import EventLoop
import PortalAnnouncement

/// NetworkManager (introspection of 1.42). Its own DHCP client never requests the portal's API; with `dhcp=dhclient`, NetworkManager knows that
/// option.
enum NetworkManagerClient: LinkManagerClient {
    static let name = "NetworkManager"
    static let service = "org.freedesktop.NetworkManager"
    static let watched = ["Device", "IP4Config", "IP6Config", "DHCP4Config"].map { "\(service).\($0)" }

    private static let manager = SystemBus.Object(service, "/org/freedesktop/NetworkManager", service)

    @LoopActor static func ask(about link: LinkSnapshot, over bus: SystemBus, _ done: @escaping (ManagerAnswer) -> Void) {
        bus.call("GetDeviceByIpIface", of: manager, [.text(link.name)]) { found in
            guard let path = found?.first?.text else { return done(.unmanaged) }
            bus.properties(of: object(path, "Device")) { device in
                guard let device, device["Managed"]?.boolean == true else { return done(.unmanaged) }
                readConfigurations(of: device, over: bus) { done(answer(about: link, device, $0)) }
            }
        }
    }

    /// Reads the objects with a device's configuration, by the names of the device's properties; each join makes new objects.
    @LoopActor private static func readConfigurations(
        of device: [String: BusValue], over bus: SystemBus, _ done: @escaping ([String: [String: BusValue]]) -> Void
    ) {
        var found: [String: [String: BusValue]] = [:]
        var missing = 3
        for (property, interface) in [("Ip4Config", "IP4Config"), ("Ip6Config", "IP6Config"), ("Dhcp4Config", "DHCP4Config")] {
            // A device without such an object names the path `/`.
            bus.properties(of: object(device[property]?.text ?? "/", interface)) { properties in
                found[property] = properties ?? [:]
                missing -= 1
                if missing == 0 { done(found) }
            }
        }
    }

    static func answer(
        about link: LinkSnapshot, _ device: [String: BusValue], _ configurations: [String: [String: BusValue]]
    ) -> ManagerAnswer {
        // State 100 means activated; before that, addresses may belong to the previous network.
        guard device["State"]?.number == 100 else { return .busy }
        let (config4, config6) = (configurations["Ip4Config"] ?? [:], configurations["Ip6Config"] ?? [:])
        let addresses = [config4, config6].flatMap { $0["AddressData"]?.list ?? [] }.compactMap { $0.table["address"]?.text }
        // "Activated" needs only one family, and the link's first address may belong to the other family.
        guard link.hasAny(of: addresses) else { return .busy }
        let servers4 = (config4["NameserverData"]?.list ?? []).compactMap { $0.table["address"]?.text }
        let servers6 = (config6["Nameservers"]?.list ?? []).compactMap { AddressText.text(of: $0.octets) }
        let lease = configurations["Dhcp4Config"]?["Options"]?.table ?? [:]
        return .facts(
            LinkFacts(
                nameservers: NameserverText.addresses(in: servers4 + servers6, on: link),
                api: lease["default_url"]?.text.flatMap { PortalAPIAddress($0.utf8) },
                leaseServer: lease["dhcp_server_identifier"]?.text, source: name))
    }

    /// Asks NetworkManager to check again whether the Internet answers, so that the desktop shows the result at once. Needs polkit's
    /// `network-control`.
    @LoopActor static func recheck(over bus: SystemBus, _ done: @escaping (Bool) -> Void) {
        bus.call("CheckConnectivity", of: manager) { done($0 != nil) }
    }

    private static func object(_ path: String, _ interface: String) -> SystemBus.Object {
        SystemBus.Object(service, path, "\(service).\(interface)")
    }
}
