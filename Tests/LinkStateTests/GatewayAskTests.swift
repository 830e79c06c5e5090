import EventLoop
import Glibc
import HotspotCore
import NamespaceThread
import Testing

@testable import LinkState

@Suite struct GatewayAskTests {
    init() { EventLoop.startThread() }

    @LoopActor private func ask(_ gateway: String, on index: Int) async -> HardwareAddress? {
        var asking: GatewayAsk?
        let answer = await withCheckedContinuation { (continuation: CheckedContinuation<HardwareAddress?, Never>) in
            asking = GatewayAsk(gateway: gateway, on: index) { continuation.resume(returning: $0) }
        }
        withExtendedLifetime(asking) {}
        return answer
    }

    @Test @LoopActor func withoutARouterThereIsNoAddress() async {
        #expect(await ask("no address", on: 1) == nil)
        #expect(await ask("192.0.2.1", on: 1 << 30) == nil)
        #expect(await ask("192.0.2.1", on: Int.max) == nil)
    }

    @Test @LoopActor func aCancelledAskIsSilent() async throws {
        var answers = 0
        let asking = GatewayAsk(gateway: "no address", on: 1) { _ in answers += 1 }
        asking.cancel()
        var timer: EventSource?
        await withCheckedContinuation { continuation in
            timer = try! EventLoop.shared.schedule(after: .milliseconds(20)) { continuation.resume() }
        }
        timer?.cancel()
        #expect(answers == 0)
    }

    /// The loop's thread, which asks, is in the process's namespace. So the test runs itself again in another namespace,
    /// with a router at the other end of a cable, and again behind a kill switch that drops every packet of this computer.
    @Test(.enabled(if: geteuid() == 0 || getenv("CI") != nil, "a network namespace needs root"))
    func aRouterTellsItsAddress() async throws {
        if let role = getenv("HOTSPOTD_TEST_ROUTER").map({ String(cString: $0) }) {
            if role == "dropped" {
                #expect(await ask("10.77.0.1", on: 2) == HardwareAddress("02:00:00:00:77:01"))
                return
            }
            let (first, again, missing) = await (ask("10.77.0.1", on: 2), ask("10.77.0.1", on: 2), ask("10.77.0.99", on: 2))
            let six = await ask("fd77::1", on: 2)
            #expect(first == HardwareAddress("02:00:00:00:77:01"))
            #expect(again == first && six == first)
            #expect(missing == nil)
            return
        }
        let status = await Task.detached {
            NamespaceThread.run {
                NamespaceThread.shell(
                    """
                    ip link set lo up
                    unshare -n sleep 60 & router=$!
                    trap 'kill $router; wait $router' EXIT
                    until [ "$(readlink /proc/$router/ns/net)" != "$(readlink /proc/self/ns/net)" ]; do :; done
                    ip link add index 2 name v0 type veth peer name v1 netns $router &&
                    ip addr add 10.77.0.2/24 dev v0 && ip addr add fd77::2/64 dev v0 nodad && ip link set v0 up &&
                    nsenter -t $router -n sh -c 'ip link set v1 address 02:00:00:00:77:01 up; ip addr add 10.77.0.1/24 dev v1
                        ip addr add fd77::1/64 dev v1 nodad' || exit 9
                    ask() {
                        HOTSPOTD_TEST_ROUTER=$1 /proc/\(getpid())/exe --testing-library swift-testing \
                            --filter aRouterTellsItsAddress >/dev/null
                    }
                    ask plain && ip neigh flush dev v0 && nft -f - <<END && ask dropped
                    table inet killswitch {
                        chain out {
                            type filter hook output priority filter; policy drop;
                        }
                    }
                    END
                    """)
            }
        }.value
        #expect(status == 0)
    }
}
