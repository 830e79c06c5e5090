import EventLoop
import PortalAnnouncement
import Varlink

/// systemd-networkd, whose facts are only available as a description in JSON (networkd-json.c): the resolvers and the server of a
/// lease since version 250, the portal's API since 254.
enum NetworkdClient: LinkManagerClient {
    static let name = "networkd"
    static let service = "org.freedesktop.network1"
    static let watched = ["\(service).Link"]
    /// The largest size of a description, in octets.
    private static let limit = 256 * 1024

    struct Description: Decodable {
        struct Server: Decodable {
            let address: [UInt8]

            enum CodingKeys: String, CodingKey { case address = "Address" }
        }

        struct Address: Decodable {
            let address: [UInt8]
            let source: String?
            /// The server identifier, if the source is DHCPv4.
            let provider: [UInt8]?

            enum CodingKeys: String, CodingKey {
                case address = "Address"
                case source = "ConfigSource"
                case provider = "ConfigProvider"
            }
        }

        let administrativeState: String?
        let addresses: [Address]?
        let servers: [Server]?
        let portal: String?

        enum CodingKeys: String, CodingKey {
            case administrativeState = "AdministrativeState"
            case addresses = "Addresses"
            case servers = "DNS"
            case portal = "CaptivePortal"
        }
    }

    @LoopActor static func ask(about link: LinkSnapshot, over bus: SystemBus, _ done: @escaping (ManagerAnswer) -> Void) {
        let manager = SystemBus.Object(service, "/org/freedesktop/network1", "\(service).Manager")
        bus.call("DescribeLink", of: manager, [.number(Int32(link.index))]) { found in
            done(found?.first?.text.map { answer(about: link, $0) } ?? .unmanaged)
        }
    }

    static func answer(about link: LinkSnapshot, _ text: String) -> ManagerAnswer {
        guard text.utf8.count <= limit, let found = try? Coding.decode(Description.self, from: Array(text.utf8)) else {
            return .unmanaged
        }
        switch found.administrativeState {
        case "configured": break
        case "configuring", "pending", "initialized": return .busy
        default: return .unmanaged
        }
        let servers = (found.servers ?? []).compactMap { AddressText.text(of: $0.address) }
        let api = found.portal.flatMap { PortalAPIAddress($0.utf8) }
        let lease = found.addresses?.first { address in
            address.source == "DHCPv4" && AddressText.text(of: address.address).map { link.hasAny(of: [$0]) } == true
        }
        return .facts(
            LinkFacts(
                nameservers: NameserverText.addresses(in: servers, on: link), api: api,
                leaseServer: lease?.provider.flatMap { AddressText.text(of: $0) }, source: name))
    }
}
