import EventLoop
import PortalAnnouncement

/// systemd-resolved, which knows the resolvers of every link, whichever program configured them.
enum ResolvedClient: LinkManagerClient {
    static let name = "resolved"
    static let service = "org.freedesktop.resolve1"
    static let watched = ["\(service).Link"]

    @LoopActor static func ask(about link: LinkSnapshot, over bus: SystemBus, _ done: @escaping (ManagerAnswer) -> Void) {
        let manager = SystemBus.Object(service, "/org/freedesktop/resolve1", "\(service).Manager")
        bus.call("GetLink", of: manager, [.number(Int32(link.index))]) { found in
            guard let path = found?.first?.text else { return done(.unmanaged) }
            bus.properties(of: SystemBus.Object(service, path, "\(service).Link")) { done(answer(about: link, $0 ?? [:])) }
        }
    }

    static func answer(about link: LinkSnapshot, _ properties: [String: BusValue]) -> ManagerAnswer {
        // Each entry contains the family and the octets.
        let servers = (properties["DNS"]?.list ?? []).compactMap { $0.list.last.flatMap { AddressText.text(of: $0.octets) } }
        let own = NameserverText.addresses(in: servers, on: link)
        return own.isEmpty ? .unmanaged : .facts(LinkFacts(nameservers: own, source: name))
    }
}
