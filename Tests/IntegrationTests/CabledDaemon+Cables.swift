import Foundation
import Testing

/// The cables, and what is at their other ends.
extension CabledDaemon {
    /// A cable with a router at its other end. The last octet of the gateway's hardware address is the number, or `gateway`.
    func plug(_ name: String, _ number: Int, gateway: Int? = nil, index: Int? = nil) throws {
        let wanted = index.map { "index \($0)" } ?? ""
        try shell(
            """
            ip link add \(name) \(wanted) type veth peer name peer\(number)
            ip link set peer\(number) up
            ip link set \(name) up
            """)
        try address(name, number, gateway: gateway)
    }

    /// The other end gives an address.
    func address(_ name: String, _ number: Int, gateway: Int? = nil) throws {
        try shell(
            """
            ip neigh replace 192.0.\(number).1 lladdr 02:00:00:00:00:0\(gateway ?? number) dev \(name) nud permanent
            ip addr add 192.0.\(number).2/24 dev \(name)
            ip route add default via 192.0.\(number).1 dev \(name) metric \(number)
            """)
    }

    /// The address is lost because the cable is pulled out. The cable keeps its name.
    func unplug(_ name: String) throws { try shell("ip -4 addr flush dev \(name); ip -6 addr flush dev \(name) scope global") }

    /// Removes the address of `hot1`, and assigns another one.
    func rejoin() throws {
        lastAddress = lastAddress % 200 + 2
        try unplug("hot1")
        try wait("hot1", "inactive") { $0?["ssid"] == nil }
        try shell(
            """
            ip neigh replace 192.0.1.1 lladdr 02:00:00:00:00:01 dev hot1 nud permanent
            ip addr add 192.0.1.\(lastAddress)/24 dev hot1
            ip route add default via 192.0.1.1 dev hot1 metric 1
            """)
    }

    // MARK: A network behind a cable

    /// The hosts of ``plugNetwork(_:)``: on the link and beyond it, by both families.
    static let hosts = ["192.0.1.1", "198.51.100.1", "fd00:1::1", "2001:db8::1"]

    /// A cable with a whole network at its other end, in a namespace of its own: ``hosts`` listen on port 80.
    ///
    /// - Parameters:
    ///   - answers: a line of Python that answers on `line`, to the address `host`; without one, each connection is only closed.
    ///   - world: lines of Python that run in the network's namespace before it says that it is ready.
    ///   - prepare: runs before the network gives addresses, with a process of its namespace, where its interface is `far`.
    ///   - joins: the network gives addresses and routes.
    func plugNetwork(
        _ name: String, answers: String = "pass", world: String = "", joins: Bool = true,
        prepare: (Process) throws -> Void = { _ in }
    ) throws {
        let router = try accompany(
            """
            import os, socket, subprocess, threading, time
            def ip(words): subprocess.run(["ip", *words.split()], check=True)
            ip("link set lo up")
            ip("addr add 198.51.100.1/32 dev lo")
            ip("addr add 2001:db8::1/128 dev lo nodad")
            door = socket.create_server(("::", 80), family=socket.AF_INET6, dualstack_ipv6=True)
            \(world)
            def serve(line):
                host = line.getsockname()[0].removeprefix("::ffff:")
                with line: \(answers)
            print("ready", flush=True)
            while True: threading.Thread(target=serve, args=(door.accept()[0],), daemon=True).start()
            """, apart: true)
        try shell(
            """
            ip link add \(name) type veth peer name far netns \(router.processIdentifier)
            nsenter -t \(router.processIdentifier) -n sh -ec '
                ip link set far address 02:00:00:00:00:01 up
                ip addr add 192.0.1.1/24 dev far; ip addr add fd00:1::1/64 dev far nodad'
            ip link set \(name) up
            """)
        try prepare(router)
        if joins { try join(name) }
    }

    /// A program in Python beside the daemon, in its namespace or in one of its own, until the daemon is gone. It prints a line when it
    /// is ready.
    @discardableResult func accompany(_ program: String, apart: Bool = false) throws -> Process {
        let companion = Process()
        companion.executableURL = URL(fileURLWithPath: "/usr/bin/nsenter")
        companion.arguments = inside + (apart ? ["unshare", "-n"] : []) + ["python3", "-c", program]
        let ready = Pipe()
        companion.standardOutput = ready
        try companion.run()
        companions.append(companion)
        try #require(!ready.fileHandleForReading.availableData.isEmpty, "it does not run")
        return companion
    }

    /// The network gives addresses and routes, all at once: helpers wait already, and are asked as soon as there is a route.
    func join(_ name: String) throws {
        try shell(
            """
            ip -batch - <<END
            addr add 192.0.1.2/24 dev \(name)
            addr add fd00:1::2/64 dev \(name) nodad
            route replace default via fd00:1::1 dev \(name)
            route add default via 192.0.1.1 dev \(name)
            END
            """)
    }

    /// Python code: `reach(device)` returns the hosts that it reaches within five seconds each. Without a device, it connects as any program does.
    static let reach = """
        import socket
        def reach(device=None):
            found = []
            for host in \(hosts):
                with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as line:
                    if device: line.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, device.encode())
                    line.settimeout(5)
                    if line.connect_ex((host, 80)) == 0: found.append(host)
            return found

        """

    /// The hosts that an ordinary program reaches.
    func reached() throws -> [String] {
        let run = try Finished.run(
            "/usr/bin/nsenter", inside + ["python3", "-c", Self.reach + "print(*reach())"])
        try #require(run.status == 0, "\(run.output)")
        return run.output.split(whereSeparator: \.isWhitespace).map(String.init)
    }
}
