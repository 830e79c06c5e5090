import EventLoop

/// ConnMan (1.41), whose list of services contains both the network and its resolvers.
enum ConnManClient: LinkManagerClient {
    static let name = "ConnMan"
    static let service = "net.connman"
    // Watch nothing: ConnMan reports changes with signals of its own kind, and the kernel reports a new address anyway.
    static let watched: [String] = []

    @LoopActor static func ask(about link: LinkSnapshot, over bus: SystemBus, _ done: @escaping (ManagerAnswer) -> Void) {
        bus.call("GetServices", of: SystemBus.Object(service, "/", "\(service).Manager")) { found in
            done(answer(about: link, found?.first?.list ?? []))
        }
    }

    static func answer(about link: LinkSnapshot, _ services: [BusValue]) -> ManagerAnswer {
        guard
            let own = services.lazy.compactMap({ $0.list.last?.table }).first(where: {
                $0["Ethernet"]?.table["Interface"]?.text == link.name && $0["State"]?.text != "idle"
            })
        else { return .unmanaged }
        guard let address = own["IPv4"]?.table["Address"]?.text ?? own["IPv6"]?.table["Address"]?.text, link.hasAny(of: [address])
        else {
            return .busy
        }
        let servers = (own["Nameservers"]?.list ?? []).compactMap(\.text)
        return .facts(LinkFacts(nameservers: NameserverText.addresses(in: servers, on: link), source: name))
    }
}
