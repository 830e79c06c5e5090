import Glibc
import NamespaceThread
import Testing

/// Two links, `w0` and `w1`, each with its own network behind it and one router at the end of both. Only for the thread of a ``NamespaceThread``.
///
/// The router is 10.0.0.1, fd00::1 on `w0` and 10.1.0.1, fd01::1 on `w1`; beyond it are 198.51.100.1 and 2001:db8::1. It listens on
/// port 80 everywhere. Both links have a default route; `w0`'s is the better one, unless said otherwise.
final class GateStage {
    /// The hosts on `w0` and beyond, in both families.
    static let targets = ["10.0.0.1", "198.51.100.1", "fd00::1", "2001:db8::1"]

    private let router: pid_t
    /// The lines of the scene where something was not as expected.
    private(set) var failures: [String] = []

    /// Notes a failure.
    func expect(_ condition: Bool, _ words: @autoclosure () -> String = "", line: Int = #line) {
        if !condition { failures.append("line \(line) \(words())") }
    }

    /// Plays a scene on its own stage; the gate and everything that connects live on one thread in the namespace.
    static func play(secondLink: Bool, _ scene: @escaping (GateStage) throws -> Void) throws {
        let outcome = NamespaceThread.run { () -> Result<[String], any Error>? in
            guard let stage = GateStage(secondLink: secondLink) else { return nil }
            return Result {
                try scene(stage)
                return stage.failures
            }
        }
        // Reported here, because the scene's thread does not belong to a test.
        let failures = try #require(outcome ?? nil).get()
        #expect(failures == [])
    }

    init?(secondLink: Bool = true) {
        let server = """
            import socket
            door = socket.create_server(("::", 80), family=socket.AF_INET6, dualstack_ipv6=True)
            while True:
                door.accept()[0].close()
            """
        var child = pid_t()
        let words: [UnsafeMutablePointer<CChar>?] = ["unshare", "-n", "python3", "-c", server].map { (word: String) in
            strdup(word)
        }
        defer { for word in words { free(word) } }
        guard posix_spawnp(&child, "unshare", nil, nil, words + [nil], environ) == 0 else { return nil }
        router = child
        var script = """
            until [ "$(readlink /proc/\(router)/ns/net)" != "$(readlink /proc/self/ns/net)" ]; do :; done
            ip link set lo up
            nsenter -t \(router) -n sh -c 'ip link set lo up; ip addr add 198.51.100.1/32 dev lo; ip addr add 2001:db8::1/128 dev lo'
            """
        for number in 0...(secondLink ? 1 : 0) {
            script += """

                ip link add w\(number) type veth peer name p\(number) netns \(router) || exit 1
                ip addr add 10.\(number).0.2/24 dev w\(number)
                ip addr add fd0\(number)::2/64 dev w\(number) nodad
                ip link set w\(number) up
                nsenter -t \(router) -n sh -c 'ip link set p\(number) up; ip addr add 10.\(number).0.1/24 dev p\(number)
                    ip addr add fd0\(number)::1/64 dev p\(number) nodad'
                ip route add default via 10.\(number).0.1 dev w\(number) metric \(10 + number)
                ip route add default via fd0\(number)::1 dev w\(number) metric \(10 + number)
                """
        }
        script += """

            until nsenter -t \(router) -n ss -Hltn 'sport = 80' | grep -q 80; do sleep 0.02; done
            """
        guard shell(script) else { return nil }
    }

    deinit {
        kill(router, SIGKILL)
        waitpid(router, nil, 0)
    }

    @discardableResult func shell(_ script: String) -> Bool { NamespaceThread.shell(script) == 0 }

    /// Returns the output of a shell script.
    func output(_ script: String) -> String {
        var ends: [Int32] = [0, 0]
        guard pipe(&ends) == 0 else { return "" }
        shell("exec >/proc/\(getpid())/fd/\(ends[1]) 2>&1; \(script)")
        close(ends[1])
        defer { close(ends[0]) }
        var octets = [UInt8](repeating: 0, count: 65536)
        let count = read(ends[0], &octets, octets.count)
        return String(decoding: octets.prefix(max(0, count)), as: UTF8.self)
    }

    /// All rules, the routes of the main table, and the routes in the gate's table.
    var rules: String { output("ip -4 rule; ip -6 rule") }
    var routes: String { output("ip -4 route show table main; ip -6 route show table main") }
    var copies: String { output("ip -4 route show table 1752134771; ip -6 route show table 1752134771") }

    /// The source address of a successful connection to port 80; `nil` if it failed. Packets that a new link loses are sent again after a second; a
    /// closed link refuses at once.
    func source(to target: String, device: String? = nil) -> String? {
        let isIPv6 = target.contains(":")
        let descriptor = socket(isIPv6 ? AF_INET6 : AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue), 0)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        if let device, setsockopt(descriptor, SOL_SOCKET, SO_BINDTODEVICE, device, socklen_t(device.utf8.count)) != 0 {
            return nil
        }
        // Large enough for both families; the family's number and the port are at the same place in both.
        var address = sockaddr_in6()
        address.sin6_port = UInt16(80).bigEndian
        address.sin6_family = sa_family_t(isIPv6 ? AF_INET6 : AF_INET)
        let offset = isIPv6 ? 8 : 4
        _ = withUnsafeMutableBytes(of: &address) { inet_pton(isIPv6 ? AF_INET6 : AF_INET, target, $0.baseAddress! + offset) }
        let length = socklen_t(isIPv6 ? MemoryLayout<sockaddr_in6>.size : MemoryLayout<sockaddr_in>.size)
        let result = withUnsafeBytes(of: &address) {
            connect(descriptor, $0.assumingMemoryBound(to: sockaddr.self).baseAddress, length)
        }
        guard result == 0 || errno == EINPROGRESS else { return nil }
        var wait = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        guard poll(&wait, 1, 15_000) == 1 else { return nil }
        var code: Int32 = 0
        var size = socklen_t(MemoryLayout<Int32>.size)
        guard getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &code, &size) == 0, code == 0 else { return nil }
        var own = sockaddr_in6()
        size = socklen_t(MemoryLayout<sockaddr_in6>.size)
        let found = withUnsafeMutableBytes(of: &own) {
            getsockname(descriptor, $0.assumingMemoryBound(to: sockaddr.self).baseAddress, &size)
        }
        guard found == 0 else { return nil }
        var text = [CChar](repeating: 0, count: 64)
        return withUnsafeBytes(of: &own) { octets in
            inet_ntop(isIPv6 ? AF_INET6 : AF_INET, octets.baseAddress! + offset, &text, 64).map { String(cString: $0) }
        }
    }

    /// Returns the hosts of ``targets`` that can be reached.
    func reached(device: String? = nil) -> [String] { Self.targets.filter { source(to: $0, device: device) != nil } }
}
