import CLinux
import EventLoop
import Glibc
import Logging
import PortalAnnouncement
import Varlink

/// One question to the network behind an interface for its portal's API, by the program hotspot-dhcp, and its answers for as long as this
/// value is kept. With it the program ends, which otherwise ends by itself after three seconds.
@LoopActor final class PortalQuestion {
    /// The most octets of the program's output: three lines of an address each.
    private static let limit = 4096

    /// A line of the program.
    private struct Line: Decodable {
        var source: AnnouncingMessage
        var url: String
    }

    private var found: [AnnouncingMessage: PortalAPIAddress] = [:]
    private var output: [UInt8] = []
    private var pid: pid_t?
    private var pipe: Int32 = -1
    private var source: EventSource?
    private let interface: String
    private let onAnswer: () -> Void
    private let log: Logger

    /// Asks at once; without the program, or without its capability, there are no answers.
    ///
    /// - Parameter onAnswer: called after this initialiser, when ``announcement`` may be another one.
    init(on interface: String, log: Logger, onAnswer: @escaping () -> Void) {
        (self.interface, self.onAnswer, self.log) = (interface, onAnswer, log)
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
                arguments: [program, interface], environment: [], descriptors: [null, output.theirs, null], isExpendable: true,
                capability: CAP_NET_RAW
            ).start()
        } catch {
            log.debug("hotspot-dhcp was not started: \(error)")
        }
        source = try? EventLoop.shared.watch(pipe) { [weak self] _ in self?.read() }
        if source == nil { end() }
    }

    isolated deinit { end() }

    /// The answers by what they count; the order of messages is that of their names.
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
            guard let line = try? Coding.decode(Line.self, from: line), let api = PortalAPIAddress(line.url.utf8) else {
                continue
            }
            found[line.source] = api
        }
        if Set(found.values).count > 1, let announcement {
            // RFC 8910, 3: it is a mistake of the network.
            log.notice("\(interface): the network announces more than one portal API; that of \(announcement.source) counts")
        }
        if announcement != before { onAnswer() }
    }

    /// Ends the program if it runs, and reaps it.
    private func end() {
        source = nil
        if pipe >= 0 { close(pipe) }
        pipe = -1
        guard let pid else { return }
        self.pid = nil
        kill(pid, SIGKILL)
        var status: Int32 = 0
        waitpid(pid, &status, 0)
        if status == 1 << 8 { log.debug("\(interface): hotspot-dhcp cannot ask; it needs CAP_NET_RAW") }
    }
}
