import EventLoop
import Glibc
import NamespaceThread
import Testing

@testable import LinkState

@Suite(.timeLimit(.minutes(2))) struct LinkUseTests {
    private static let routers = ["10.77.0.1", "fd77::1"]

    init() { EventLoop.startThread() }

    @Test @LoopActor func withoutARouterThereIsNoUse() {
        #expect(LinkUse(of: [], on: 1) {} == nil)
        #expect(LinkUse(of: ["no address"], on: 1) {} == nil)
        #expect(LinkUse(of: ["192.0.2.1"], on: Int.max) {} == nil)
        #expect(LinkUse(of: ["192.0.2.1"], on: 1 << 30) {} == nil)
    }

    @LoopActor private func rest() -> Bool { LinkUse(of: Self.routers, on: 2) {} != nil }

    /// As ``GatewayAskTests``: the test runs itself again in another namespace, with a router at the other end of a cable, whose entry is
    /// stale soon.
    @Test(.enabled(if: geteuid() == 0 || getenv("CI") != nil, "a network namespace needs root"))
    func theNextPacketEndsTheRest() async throws {
        guard getenv("HOTSPOTD_TEST_USE") == nil else { return try await watch() }
        let status = await Task.detached {
            NamespaceThread.run {
                NamespaceThread.shell(
                    """
                    ip link set lo up
                    unshare -n sleep 120 & router=$!
                    trap 'kill $router; wait $router' EXIT
                    until [ "$(readlink /proc/$router/ns/net)" != "$(readlink /proc/self/ns/net)" ]; do :; done
                    ip link add index 2 name v0 type veth peer name v1 netns $router &&
                    ip link add index 4 name w0 type veth peer name w1 && ip link set w0 up && ip link set w1 up &&
                    for family in ipv4 ipv6; do
                        echo 3000 >/proc/sys/net/$family/neigh/v0/base_reachable_time_ms &&
                        echo 1 >/proc/sys/net/$family/neigh/v0/delay_first_probe_time || exit 9
                    done
                    ip addr add 10.77.0.2/24 dev v0 && ip addr add fd77::2/64 dev v0 nodad && ip link set v0 up &&
                    nsenter -t $router -n sh -c 'ip link set v1 up; ip addr add 10.77.0.1/24 dev v1
                        ip addr add fd77::1/64 dev v1 nodad' &&
                    ip route add default via 10.77.0.1 && ip route add default via fd77::1 &&
                    HOTSPOTD_TEST_USE=1 /proc/\(getpid())/exe --testing-library swift-testing \
                        --filter theNextPacketEndsTheRest >/dev/null
                    """)
            }
        }.value
        #expect(status == 0)
    }

    @LoopActor private func watch() async throws {
        // First the first router's entry is new, then the second router's entry; then the first entry is stale.
        for host in ["198.51.100.1", "2001:db8::1", "198.51.100.1"] {
            while !rest() { try await Task.sleep(for: .milliseconds(50)) }
            var otherUses = 0
            let other = LinkUse(of: ["10.78.0.1"], on: 4) { otherUses += 1 }
            var use: LinkUse?
            await withCheckedContinuation { continuation in
                use = LinkUse(of: Self.routers, on: 2) { continuation.resume() }
                // A datagram that no program answers.
                let status = NamespaceThread.shell("bash -c 'echo >/dev/udp/\(host)/9'")
                #expect(status == 0)
            }
            withExtendedLifetime((use, other)) {}
            #expect(other != nil && otherUses == 0, "the other link is not used")
        }
        #expect(NamespaceThread.shell("ip neigh replace 10.77.0.1 lladdr 02:00:00:00:77:01 dev v0 nud permanent") == 0)
        #expect(!rest(), "the kernel does not report the use of a fixed address")
    }
}
