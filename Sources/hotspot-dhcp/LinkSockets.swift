import CLinux
import Glibc
import PortalAnnouncement

/// The sockets on one interface, for DHCP, DHCPv6 and router advertisements. They stay open until the program ends. Raw sockets send. Packet sockets
/// receive, because only these report the sender's MAC address.
struct LinkSockets {
    private let interface: String
    private let (dhcp4, dhcp6, icmp6): (Int32, Int32, Int32)
    /// The packet sockets, one for each family.
    private let answers: [Int32]

    /// The ports of clients and servers.
    private static let (client4, server4, client6, server6): (UInt16, UInt16, UInt16, UInt16) = (68, 67, 546, 547)
    /// The largest part of one packet that is read, in octets.
    private static let limit = 65_536
    /// The largest number of packets that are read from one socket in one turn.
    private static let batch = 64

    init(on interface: String) throws(Failure) {
        self.interface = interface
        let index = if_nametoindex(interface)
        guard index != 0 else { throw Failure(interface) }
        dhcp4 = try Self.open(AF_INET, Int32(IPPROTO_UDP), on: interface)
        try Self.set(dhcp4, SOL_SOCKET, SO_BROADCAST, 1)
        let answers4 = try Self.receiver(on: index, isIPv6: false)
        guard access("/proc/net/if_inet6", F_OK) == 0 else {
            // The kernel has no IPv6, so nothing is sent over IPv6.
            (dhcp6, icmp6, answers) = (-1, -1, [answers4])
            return
        }
        dhcp6 = try Self.open(AF_INET6, Int32(IPPROTO_UDP), on: interface)
        // The offset of the checksum, which the kernel fills in.
        try Self.set(dhcp6, Int32(IPPROTO_IPV6), IPV6_CHECKSUM, 6)
        icmp6 = try Self.open(AF_INET6, Int32(IPPROTO_ICMPV6), on: interface)
        try Self.set(icmp6, Int32(IPPROTO_IPV6), IPV6_MULTICAST_HOPS, 255)
        answers = [answers4, try Self.receiver(on: index, isIPv6: true)]
    }

    private static func receiver(on index: UInt32, isIPv6: Bool) throws(Failure) -> Int32 {
        let descriptor = clinux_answers(index, isIPv6 ? 1 : 0)
        guard descriptor >= 0 else { throw Failure("a packet socket") }
        return descriptor
    }

    private static func open(_ family: Int32, _ kind: Int32, on interface: String) throws(Failure) -> Int32 {
        let descriptor = socket(
            family, Int32(SOCK_RAW.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue), kind)
        guard descriptor >= 0 else { throw Failure("a raw socket") }
        guard setsockopt(descriptor, SOL_SOCKET, SO_BINDTODEVICE, interface, socklen_t(interface.utf8.count)) == 0 else {
            throw Failure(interface)
        }
        // The smallest receive buffer, because this socket only sends.
        try set(descriptor, SOL_SOCKET, SO_RCVBUF, 0)
        return descriptor
    }

    private static func set(_ descriptor: Int32, _ level: Int32, _ option: Int32, _ value: Int32) throws(Failure) {
        var value = value
        guard setsockopt(descriptor, level, option, &value, 4) == 0 else { throw Failure("setsockopt \(option)") }
    }

    // MARK: Questions

    /// Sends a request. A request that cannot be sent counts as unanswered, because the interface may not have an address yet.
    func send(_ question: Inquiry.Question, _ transaction: UInt32) {
        switch question {
        case .inform:
            var (address, hardware) = ([UInt8](repeating: 0, count: 4), [UInt8](repeating: 0, count: 6))
            guard clinux_interface_address(dhcp4, interface, &address) == 0,
                clinux_interface_hardware(dhcp4, interface, &hardware) == 0
            else { return }
            let message = DHCPPacket.inform(transaction, from: address, hardware)
            var target = sockaddr_in()
            target.sin_family = sa_family_t(AF_INET)
            target.sin_addr.s_addr = INADDR_BROADCAST
            send(UDPDatagram(from: Self.client4, to: Self.server4, message).octets, over: dhcp4, to: &target)
        case .solicitation: send(RouterAdvertisement.solicitation, over: icmp6, toGroup: [2])
        case .informationRequest:
            let message = DHCPv6Reply.informationRequest(transaction)
            send(UDPDatagram(from: Self.client6, to: Self.server6, message).octets, over: dhcp6, toGroup: [0, 1, 0, 2])
        }
    }

    /// Sends to a multicast group on the link: `ff02::` ending with the octets `end`.
    private func send(_ octets: [UInt8], over descriptor: Int32, toGroup end: [UInt8]) {
        var target = sockaddr_in6()
        target.sin6_family = sa_family_t(AF_INET6)
        withUnsafeMutableBytes(of: &target.sin6_addr) {
            $0.copyBytes(from: [0xFF, 2] + [UInt8](repeating: 0, count: 14 - end.count) + end)
        }
        send(octets, over: descriptor, to: &target)
    }

    private func send<Address>(_ octets: [UInt8], over descriptor: Int32, to target: inout Address) {
        withUnsafeBytes(of: &target) { target in
            _ = sendto(
                descriptor, octets, octets.count, 0, target.assumingMemoryBound(to: sockaddr.self).baseAddress,
                socklen_t(target.count))
        }
    }

    // MARK: Replies

    /// Waits at most this many milliseconds, and returns the replies with their senders.
    func replies(within wait: Int) -> [(reply: Inquiry.Reply, sender: LinkHost)] {
        var ends = answers.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        guard poll(&ends, nfds_t(ends.count), Int32(max(wait, 0))) > 0 else { return [] }
        return ends.filter { $0.revents != 0 }.flatMap { end in
            (0..<Self.batch).lazy.map { _ in receive(end.fd) }.prefix { $0 != nil }.compactMap { reply($0!) }
        }
    }

    private typealias Frame = (octets: [UInt8], hardware: [UInt8])

    private func receive(_ descriptor: Int32) -> Frame? {
        var hardware = [UInt8](repeating: 0, count: 6)
        var count = 0
        let octets = [UInt8](unsafeUninitializedCapacity: Self.limit) { buffer, initialized in
            count = clinux_receive(descriptor, buffer.baseAddress, buffer.count, &hardware)
            initialized = max(count, 0)
        }
        return count < 0 ? nil : (octets, hardware)
    }

    private func reply(_ frame: Frame) -> (reply: Inquiry.Reply, sender: LinkHost)? {
        guard let packet = IPPacket(frame.octets), let reply = Inquiry.Reply(packet),
            let address = AddressText.text(of: packet.source), let sender = LinkHost(address, frame.hardware)
        else { return nil }
        return (reply, sender)
    }
}
