import CNetlink
import EventLoop
import Glibc
import HotspotCore
import NamespaceThread
import Netlink
import Testing

@testable import LinkState

/// The real kernel, in network namespaces of the tests' own. Needs root; in CI it must be there.
@Suite(.serialized, .enabled(if: geteuid() == 0 || getenv("CI") != nil, "a network namespace needs root"))
struct LiveLinkTests {
    init() { EventLoop.startThread() }

    /// Links in a namespace; the socket stays in it wherever it is read.
    private struct Stage: @unchecked Sendable {
        // Made on a thread that has ended, and read only on the loop's thread afterwards: two threads never use it at once.
        let socket: NetlinkSocket
        /// Holds the namespace open, and lets later commands enter it.
        let namespace: Int32

        init?(receiveBuffer: Int32? = nil) {
            guard let socket = try? NetlinkSocket(protocol: NETLINK_ROUTE) else { return nil }
            for group in [RTNLGRP_LINK, RTNLGRP_IPV4_IFADDR, RTNLGRP_IPV6_IFADDR, RTNLGRP_IPV4_ROUTE, RTNLGRP_IPV6_ROUTE] {
                try? socket.join(Int32(group.rawValue))
            }
            if var size = receiveBuffer, let descriptor = socket.descriptor {
                setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &size, socklen_t(MemoryLayout<Int32>.size))
            }
            self.socket = socket
            namespace = open("/proc/thread-self/ns/net", O_RDONLY)
        }

        /// Runs a script in the namespace.
        func shell(_ script: String) {
            let status = NamespaceThread.run(in: namespace) { NamespaceThread.shell(script) }
            #expect(status == 0, "\(script)")
        }
    }

    @LoopActor private final class Watcher {
        let monitor: LinkMonitor
        var changes: [LinkChange] = []

        init(_ stage: Stage) throws {
            let socket = stage.socket
            monitor = try LinkMonitor { () throws(NetlinkError) in socket }
            monitor.onChange = { [unowned self] in changes.append($0) }
            monitor.start()
        }

        /// Waits until the condition holds for the links, at most some seconds; the kernel needs milliseconds.
        func wait(until condition: ([String: LinkSnapshot]) -> Bool) async -> Bool {
            for _ in 0..<1000 {
                if condition(Dictionary(monitor.links.values.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })) {
                    return true
                }
                var timer: EventSource?
                await withCheckedContinuation { continuation in
                    timer = try? EventLoop.shared.schedule(after: .milliseconds(5)) { continuation.resume() }
                }
                timer?.cancel()
            }
            return false
        }
    }

    @Test func aLinkLivesItsLife() async throws {
        let stage = try #require(NamespaceThread.run { Stage() } ?? nil)
        defer { close(stage.namespace) }
        stage.shell("ip link add v0 type veth peer name v1")
        let watcher = try await Watcher(stage)
        #expect(await watcher.wait { $0["v0"]?.kind == "veth" && $0["v0"]?.isUp == false })
        stage.shell("ip link set v0 up; ip link set v1 up")
        #expect(await watcher.wait { $0["v0"]?.hasCarrier == true })
        stage.shell("ip addr add 10.7.0.2/24 dev v0; ip route add default via 10.7.0.1 dev v0 metric 5")
        #expect(await watcher.wait { $0["v0"]?.addresses == ["10.7.0.2/24"] && $0["v0"]?.gateways == ["10.7.0.1"] })
        stage.shell("ip route replace default via 10.7.0.9 dev v0 metric 5")
        #expect(await watcher.wait { $0["v0"]?.gateways == ["10.7.0.9"] })
        stage.shell("ip link set v0 down && ip link set v0 name cafe0")
        #expect(await watcher.wait { $0["v0"] == nil && $0["cafe0"]?.gateways == [] })
        stage.shell("ip link del cafe0")
        #expect(await watcher.wait { $0["cafe0"] == nil && $0["v1"] == nil })
        let (malformed, foreign) = await (watcher.monitor.malformedCount, watcher.monitor.foreignCount)
        #expect(malformed == 0 && foreign == 0)
        await watcher.monitor.stop()
    }

    /// A buffer of a few kilobytes and 400 addresses: the kernel leaves messages out, and the state is right all the same.
    @Test func aFloodThatOverrunsTheSocket() async throws {
        let stage = try #require(NamespaceThread.run { Stage(receiveBuffer: 4096) } ?? nil)
        defer { close(stage.namespace) }
        stage.shell("ip link add v0 type veth peer name v1; ip link set v0 up")
        let watcher = try await Watcher(stage)
        #expect(await watcher.wait { $0["v0"]?.isUp == true })
        let batch = (0..<400).map { "addr add 10.\(60 + $0 / 200).\($0 % 200).1/24 dev v0" }.joined(separator: "\n")
        let removal = (0..<399).map { "addr del 10.\(60 + $0 / 200).\($0 % 200).1/24 dev v0" }.joined(separator: "\n")
        // The loop is kept busy meanwhile, so that the socket fills up.
        await Self.hold { stage.shell("ip -batch - <<'END'\n\(batch)\n\(removal)\nEND\n") }
        #expect(await watcher.wait { $0["v0"]?.addresses == ["10.61.199.1/24"] })
        let overruns = await watcher.monitor.exchange.overrunCount
        #expect(overruns > 0)
        await watcher.monitor.stop()
    }

    @LoopActor private static func hold(_ body: () -> Void) { body() }
}
