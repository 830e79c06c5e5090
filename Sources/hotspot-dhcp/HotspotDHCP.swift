import Glibc
import PortalAnnouncement

/// Asks the network behind an interface for the address of its portal's API (RFC 8910). Prints a line of JSON for each announced address: `{"source":
/// "dhcp4", "url": "https://…"}`, with `dhcp4`, `dhcp6` or `ra`. An answer that does not count gets a line as well: `{"source": "ra", "objection":
/// "stranger", "sender": "fe80::7/02:00:00:00:00:07"}`.
///
/// The program is needed because most programs that manage links drop the option with the address, and the kernel reports router advertisements only
/// if it handles them itself. hotspotd starts the program when a radio joins an open network (`hotspotd/Links/PortalQuestion.swift`), with
/// CAP_NET_RAW only, and does not wait for it. The arguments name the ``Announcers``, whose answers count. ``LinkSockets`` opens the sockets;
/// ``Confinement`` then drops the capability and allows only a few system calls; only then does the program read packets. ``Inquiry`` decides what to
/// send: DHCPINFORM and a router solicitation at once, and again after one and two seconds; a DHCPv6 request if a router announces DHCPv6, otherwise
/// after a second if no router has announced the API. hotspotd checks the lines again, kills this program when the network is left, and prefers
/// announcements from other sources.
///
/// Packet sockets receive copies, so a DHCP client on port 68 still gets all its packets.
@main struct HotspotDHCP {
    /// How long each round of requests waits for answers, in milliseconds, and the number of rounds.
    private static let (pause, rounds) = (1000, 3)

    static func main() {
        guard CommandLine.arguments.count > 2, let announcers = Announcers(arguments: CommandLine.arguments.dropFirst(2)) else {
            fail("usage: hotspot-dhcp INTERFACE SERVER|- ADDRESS/MAC…", code: 2)
        }
        var inquiry = Inquiry(transaction: .random(in: .min ... .max), announcers: announcers)
        do throws(Failure) {
            let sockets = try LinkSockets(on: CommandLine.arguments[1])
            try Confinement.enter()
            let begin = now
            for round in 0..<rounds where !inquiry.isComplete {
                perform(inquiry.actions(inRound: round), of: inquiry, over: sockets)
                let end = begin + (round + 1) * pause
                while !inquiry.isComplete, now < end {
                    for (reply, sender) in sockets.replies(within: end - now) {
                        perform(inquiry.handle(reply, from: sender), of: inquiry, over: sockets)
                    }
                }
            }
        } catch {
            fail(error.description, code: 1)
        }
    }

    private static func perform(_ actions: [Inquiry.Action], of inquiry: Inquiry, over sockets: LinkSockets) {
        for action in actions {
            switch action {
            case .ask(let question): sockets.send(question, inquiry.transaction)
            // JSON needs no escapes here: a checked address contains neither quotation marks nor backslashes.
            case .tell(let message, let api):
                put("{\"source\": \"\(message.rawValue)\", \"url\": \"\(api.text)\"}\n", to: STDOUT_FILENO)
            case .object(let message, let objection, let sender):
                let reason = "\"objection\": \"\(objection.rawValue)\", \"sender\": \"\(sender)\""
                put("{\"source\": \"\(message.rawValue)\", \(reason)}\n", to: STDOUT_FILENO)
            }
        }
    }

    /// Milliseconds since the machine's start.
    private static var now: Int {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return time.tv_sec * 1000 + time.tv_nsec / 1_000_000
    }

    private static func put(_ text: String, to descriptor: Int32) {
        let octets = Array(text.utf8)
        _ = write(descriptor, octets, octets.count)
    }

    private static func fail(_ message: String, code: Int32) -> Never {
        put("hotspot-dhcp: \(message)\n", to: STDERR_FILENO)
        exit(code)
    }
}

/// A failed call of the system or of a library.
struct Failure: Error, CustomStringConvertible {
    private let call: String
    private let code: Int32

    init(_ call: String, _ code: Int32 = errno) { (self.call, self.code) = (call, code) }

    var description: String { "\(call): \(String(cString: strerror(code)))" }
}
