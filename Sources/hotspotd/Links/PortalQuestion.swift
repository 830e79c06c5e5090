import CLinux
import EventLoop
import Glibc
import HotspotCore
import LinkState
import Logging
import PortalAnnouncement
import Varlink

/// One request to the network behind an interface for its portal's API, made by the program hotspot-dhcp. Releasing this value kills the program,
/// which runs for three seconds at most. Only answers of the lease's server and of default routers count, so the program starts when their MAC
/// addresses are known.
@LoopActor final class PortalQuestion {
    /// The largest output of the program, in octets: three addresses and four objections.
    private static let limit = 4096

    /// The delay before the program starts. Without it, the start would slow down the helpers that are asked now, although they do not wait for the
    /// answers.
    private static let pause = Duration.milliseconds(500)

    /// A line of the program's output.
    private struct Line: Decodable {
        var source: AnnouncingMessage
        var url: String?
        var objection: Announcers.Objection?
        var sender: String?
    }

    private var found: [AnnouncingMessage: PortalAPIAddress] = [:]
    private var output: [UInt8] = []
    private var pid: pid_t?
    private var pipe: Int32 = -1
    private var source: EventSource?
    /// The IP addresses of the hosts whose answers count, in this request and in earlier requests to this network.
    let addresses: Set<String>
    /// The searches for MAC addresses, with their results.
    private var searches: [GatewayAsk] = []
    private var timer: EventSource?
    private var hardware: [String: HardwareAddress] = [:]
    private let interface: String
    private let onAnswer: () -> Void
    private let log: Logger

    /// Starts the program when the MAC addresses are known or were not found, which takes three seconds at most. If there is no host, or the program
    /// or its capability is missing, no answers come.
    ///
    /// - Parameters:
    ///   - leaseServer: the server identifier of the lease (RFC 2131, 9.7).
    ///   - before: the addresses of hosts that earlier requests asked.
    ///   - onAnswer: called after this initialiser, when ``announcement`` may have changed.
    init(
        on link: LinkSnapshot, leaseServer: String?, before: Set<String>, log: Logger, onAnswer: @escaping () -> Void
    ) {
        (interface, self.onAnswer, self.log) = (link.name, onAnswer, log)
        let wanted = link.announcingAddresses(leaseServer: leaseServer)
        addresses = before.union(wanted)
        var missing = wanted.count
        searches = wanted.map { address in
            GatewayAsk(gateway: address, on: link.index) { [weak self] answer in
                self?.hardware[address] = answer
                missing -= 1
                guard missing == 0, let self else { return }
                searches = []
                timer = try? EventLoop.shared.schedule(after: Self.pause) { [weak self] in
                    guard let self else { return }
                    ask(link.announcers(leaseServer: leaseServer, hardware: hardware))
                }
            }
        }
    }

    private func ask(_ announcers: Announcers) {
        guard !announcers.hosts.isEmpty else {
            log.debug(
                "\(interface): hotspotd does not ask the network for its portal's API, because no DHCP server or router is known")
            return
        }
        guard let program = OwnProgram.path("hotspot-dhcp") else {
            log.debug("hotspot-dhcp is not installed")
            return
        }
        do throws(Errno) {
            let null = open("/dev/null", O_RDWR | O_CLOEXEC)
            defer { close(null) }
            let output = try ChildPipe()
            defer { close(output.theirs) }
            pipe = output.ours
            pid = try Spawn(
                arguments: [program, interface] + announcers.arguments, environment: [],
                descriptors: [null, output.theirs, null], isExpendable: true, capability: CAP_NET_RAW
            ).start()
        } catch {
            log.debug("hotspot-dhcp was not started: \(error)")
        }
        source = try? EventLoop.shared.watch(pipe) { [weak self] _ in self?.read() }
        if source == nil { end() }
    }

    isolated deinit { end() }

    /// The announcement that counts most; the cases of ``AnnouncingMessage`` are in that order.
    var announcement: Announcement? {
        AnnouncingMessage.allCases.lazy.compactMap { message in
            self.found[message].map { Announcement($0, source: message.words) }
        }.first
    }

    private func read() {
        var octets = [UInt8](repeating: 0, count: Self.limit)
        let count = Glibc.read(pipe, &octets, octets.count)
        guard count > 0, output.count + count <= Self.limit else { return end() }
        output += octets[..<count]
        let before = announcement
        while let end = output.firstIndex(of: UInt8(ascii: "\n")) {
            let line = Array(output[..<end])
            output.removeFirst(line.count + 1)
            guard let line = try? Coding.decode(Line.self, from: line) else { continue }
            if let objection = line.objection, let sender = line.sender.flatMap({ LinkHost($0) }) {
                log.debug("\(interface): \(line.source.words) from \(sender) is ignored: \(objection.words)")
            }
            if let api = line.url.flatMap({ PortalAPIAddress($0.utf8) }) { found[line.source] = api }
        }
        if Set(found.values).count > 1, let announcement {
            // RFC 8910, 3: different addresses are a mistake of the network.
            log.notice(
                "\(interface): the network announces more than one portal API; hotspotd uses the one from \(announcement.source)")
        }
        if announcement != before { onAnswer() }
    }

    /// Ends the program if it runs, and reaps it.
    private func end() {
        for search in searches { search.cancel() }
        searches = []
        (source, timer) = (nil, nil)
        if pipe >= 0 { close(pipe) }
        pipe = -1
        guard let pid else { return }
        self.pid = nil
        kill(pid, SIGKILL)
        var status: Int32 = 0
        waitpid(pid, &status, 0)
        if status == 1 << 8 { log.debug("\(interface): hotspot-dhcp cannot send; it needs CAP_NET_RAW") }
    }
}
