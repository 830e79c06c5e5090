import Foundation
import HotspotCore
import TestSupport
import Testing

/// Networks that announce their portal's API to a machine whose addresses are set by hand, as by a DHCP client that drops the option. hotspot-dhcp
/// asks dnsmasq, or a router in Python if dnsmasq lacks such an option.
@Suite(
    .timeLimit(.minutes(10)),
    .enabled(
        if: Machine.runs(CabledDaemon.canRun && geteuid() == 0 && Machine.has("dnsmasq")),
        "needs make build, root, ip, nsenter, dnsmasq and a network namespace"))
struct AnnouncementTests {
    private static let url = "https://portal.example/api"
    /// A portal for the prober, and a helper that logs in only if it knows the portal's API.
    private static let redirect = #"line.recv(4096); line.sendall(b"HTTP/1.1 302 Found\r\nLocation: http://192.0.1.1/\r\n\r\n")"#
    private static let clerk = """
        call = receive()
        if "Evaluate" in call["method"]: answer(confidence="high" if call["parameters"]["link"].get("portalAPI") else "none")
        else:
            with open(f"{NOTES}/api", "w") as file: file.write(call["parameters"]["link"]["portalAPI"])
            answer(reply={"result": "success"})
        """

    private func daemon(leaseFile: String = "/nonexistent") throws -> CabledDaemon {
        let prober = Machine.release.appendingPathComponent("hotspot-helpers").path
        return try CabledDaemon(
            settings: """
                [Probe]
                Exec=\(prober)
                URL=http://192.0.1.1/
                Expect=204
                [Daemon]
                LogLevel=debug
                [Interfaces]
                LeaseFiles=\(leaseFile)
                """, helper: Self.clerk)
    }

    /// Runs a program in Python in the network's namespace, until the daemon is gone.
    private func run(_ program: String, for daemon: CabledDaemon, beside router: Process) throws {
        let words = ["nsenter", "-t", "\(router.processIdentifier)", "-n", "/usr/bin/python3", "-c", program]
        let list = words.map { "'''\($0)'''" }.joined(separator: ", ")
        try daemon.accompany("import os; print('ready', flush=True); os.execvp('nsenter', [\(list)])")
    }

    /// Starts dnsmasq in a namespace; it goes to the background when it serves. ``stop(_:)`` ends it.
    private func dnsmasq(_ options: String, for daemon: CabledDaemon, beside router: Process) throws {
        try daemon.shell(
            """
            nsenter -t \(router.processIdentifier) -n dnsmasq --conf-file=/dev/null --port=0 --user=root --interface=far \
                --bind-interfaces --pid-file=\(daemon.scratch.path)/dnsmasq.pid --dhcp-leasefile=\(daemon.scratch.path)/leases \
                --dhcp-range=192.0.1.50,192.0.1.99 \(options)
            """)
    }

    private func stop(_ daemon: CabledDaemon) { _ = try? daemon.shell("kill -9 $(cat \(daemon.scratch.path)/dnsmasq.pid)") }

    /// Waits until the link has the announcement; returns the message that it came in.
    private func source(_ daemon: CabledDaemon) throws -> String? {
        var link: JSONValue?
        try daemon.eventually("the portal's API is known") {
            link = try daemon.status("hot1")?["link"]
            return link?["portalAPI"] == .string(Self.url)
        }
        return link?["portalAPIFrom"]?.string
    }

    @Test func dhcp() throws {
        let daemon = try daemon()
        try daemon.plugNetwork("hot1", answers: Self.redirect) { router in
            try dnsmasq("--dhcp-option=114,\(Self.url)", for: daemon, beside: router)
        }
        defer { stop(daemon) }
        #expect(try source(daemon) == "DHCP")
        // The helper that needs the API's address logs in with it, whether the answer came before the join or after it.
        #expect(try daemon.note("api") == Self.url)
        let shown = try Finished.run(
            Machine.release.appendingPathComponent("hotspotctl").path, ["--socket", daemon.socket, "status", "--verbose"])
        #expect(shown.output.contains("portal API \(Self.url) (from DHCP)"), "\(shown.output)")
        #expect(shown.output.contains("resolvers 192.0.2.53 (from settings)"))
    }

    @Test func dhcpv6() throws {
        let daemon = try daemon()
        try daemon.plugNetwork("hot1", answers: Self.redirect) { router in
            try dnsmasq("--dhcp-range=fd00:1::,ra-stateless --dhcp-option=option6:103,\(Self.url)", for: daemon, beside: router)
        }
        defer { stop(daemon) }
        #expect(try source(daemon) == "DHCPv6")
    }

    @Test func aRouterAdvertisement() throws {
        let daemon = try daemon()
        // The router advertises itself all the time. The kernel ignores that (accept_ra), as under NetworkManager.
        let router = """
            import socket, time
            url = b"\(Self.url)"
            units = (len(url) + 9) // 8
            packet = bytes([134, 0, 0, 0, 64, 0, 7, 8]) + bytes(8) + bytes([37, units]) + url.ljust(units * 8 - 2, b"\\\\0")
            door = socket.socket(socket.AF_INET6, socket.SOCK_RAW, socket.IPPROTO_ICMPV6)
            door.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, b"far")
            door.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_MULTICAST_HOPS, 255)
            while True:
                try: door.sendto(packet, ("ff02::1", 0))
                except OSError: pass
                time.sleep(0.1)
            """
        try daemon.plugNetwork("hot1", answers: Self.redirect) { process in
            // The manager's default route, over the router's link-local address.
            try daemon.shell(
                """
                echo 0 > /proc/sys/net/ipv6/conf/hot1/accept_ra
                ip -6 route add default via fe80::ff:fe00:1 dev hot1 metric 512
                """)
            try run(router, for: daemon, beside: process)
        }
        #expect(try source(daemon) == "a router advertisement")
    }

    /// A network in which a guest answers each question before the lease's server: with its own addresses, with the server's IP address,
    /// and with its own IP address in a frame that the router sends back to the link.
    private static let guestAndServer = """
        import socket, struct
        def raw(protocol):
            door = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(protocol))
            door.bind(("far", protocol))
            return door
        door = raw(0x0800)
        def mac(number): return bytes([2, 0, 0, 0, 0, number])
        def ip(text): return socket.inet_aton(text)
        def answer(question, target, hardware, source, server, url):
            options = bytes([53, 1, 5, 54, 4]) + ip(server) + bytes([114, len(url)]) + url + bytes([255])
            message = bytes([2, 1, 6, 0]) + question[4:8] + bytes(4) + question[12:16] + bytes(12) + question[28:44] + bytes(192)
            message += bytes([0x63, 0x82, 0x53, 0x63]) + options
            datagram = struct.pack(">HHHH", 67, 68, 8 + len(message), 0) + message
            header = struct.pack(">BBHHHBBH4s4s", 0x45, 0, 20 + len(datagram), 0, 0, 64, 17, 0, ip(source), question[12:16])
            door.send(target + hardware + bytes([8, 0]) + header + datagram)
        while True:
            frame = door.recv(65536)
            if frame[23] != 17 or frame[34:38] != struct.pack(">HH", 68, 67): continue
            question = frame[42:]
            evil = b"https://guest.example/api"
            answer(question, frame[6:12], mac(0x66), "192.0.1.66", "192.0.1.66", evil)
            answer(question, frame[6:12], mac(0x66), "192.0.1.3", "192.0.1.3", evil)
            answer(question, frame[6:12], mac(1), "192.0.1.66", "192.0.1.3", evil)
            ANSWER
        """
    private static let realAnswer = "answer(question, frame[6:12], mac(1), '192.0.1.3', '192.0.1.3', b'\(url)')"

    /// Starts a daemon whose lease comes from 192.0.1.3, in the network of the guest.
    private func daemonBesideAGuest(scratch: TemporaryFolder, answer: String) throws -> CabledDaemon {
        let lease = scratch.write(
            "leases",
            """
            lease { interface "hot1"; fixed-address 192.0.1.2; option domain-name-servers 192.0.1.1;
              option dhcp-server-identifier 192.0.1.3; expire never; }
            """)
        let daemon = try daemon(leaseFile: lease)
        try daemon.plugNetwork("hot1", answers: Self.redirect) { process in
            try daemon.shell("nsenter -t \(process.processIdentifier) -n ip addr add 192.0.1.3/24 dev far")
            try run(Self.guestAndServer.replacingOccurrences(of: "ANSWER", with: answer), for: daemon, beside: process)
        }
        return daemon
    }

    @Test func theLeasesServerCountsAfterAGuestThatAnswersFirst() throws {
        let scratch = TemporaryFolder()
        let daemon = try daemonBesideAGuest(scratch: scratch, answer: Self.realAnswer)
        #expect(try source(daemon) == "DHCP")
        #expect(try daemon.note("api") == Self.url)
        for words in [
            "DHCP from 192.0.1.66/02:00:00:00:00:66 is ignored", "DHCP from 192.0.1.3/02:00:00:00:00:66 is ignored",
            "DHCP from 192.0.1.66/02:00:00:00:00:01 is ignored",
        ] { #expect(daemon.log.contains(words), "\(words)") }
    }

    /// The router's answer does not count either, because another server gave the lease.
    @Test func withoutTheServersAnswerNoneCounts() throws {
        let scratch = TemporaryFolder()
        let router = Self.realAnswer.replacingOccurrences(of: "192.0.1.3", with: "192.0.1.1")
        let daemon = try daemonBesideAGuest(scratch: scratch, answer: router)
        try daemon.eventually("the daemon logs the router's answer") {
            daemon.log.contains("DHCP from 192.0.1.1/02:00:00:00:00:01 is ignored")
        }
        let link = try daemon.status("hot1")?["link"]
        #expect(link != nil && link?["portalAPI"] == nil, "\(String(describing: link))")
    }

    /// A silent network: the program runs, confined, and only while the daemon is in this network.
    @Test func theProgramIsConfinedAndEndsWithTheNetwork() throws {
        let daemon = try daemon()
        try daemon.plugNetwork("hot1", answers: Self.redirect)
        var asking: String?
        func programs() -> [String] {
            let children = try? String(contentsOfFile: "/proc/\(daemon.pid)/task/\(daemon.pid)/children", encoding: .utf8)
            return (children ?? "").split(separator: " ").map(String.init).filter { pid in
                (try? String(contentsOfFile: "/proc/\(pid)/comm", encoding: .utf8)) == "hotspot-dhcp\n"
            }
        }
        try daemon.eventually("it runs, and has closed itself in") {
            asking = programs().first
            return status(of: asking)["Seccomp"] == "2"
        }
        // The program is stopped, so that it does not end by itself.
        let pid = try #require(asking.flatMap { pid_t($0) })
        kill(pid, SIGSTOP)
        let found = status(of: asking)
        #expect(found["NoNewPrivs"] == "1" && programs().count == 1)
        for set in ["CapInh", "CapPrm", "CapEff", "CapAmb"] { #expect(found[set] == "0000000000000000", "\(set)") }
        try daemon.unplug("hot1")
        try daemon.eventually("it is gone, and reaped") { programs().isEmpty && kill(pid, 0) != 0 }
    }

    private func status(of pid: String?) -> [String: String] {
        let text = pid.flatMap { try? String(contentsOfFile: "/proc/\($0)/status", encoding: .utf8) } ?? ""
        let lines = text.split(separator: "\n").compactMap { line -> (String, String)? in
            let parts = line.split(separator: ":", maxSplits: 1)
            return parts.count == 2 ? (String(parts[0]), parts[1].trimmingCharacters(in: .whitespaces)) : nil
        }
        return Dictionary(lines) { first, _ in first }
    }
}
