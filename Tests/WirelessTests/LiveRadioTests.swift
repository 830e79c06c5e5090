import EventLoop
import Glibc
import HotspotCore
import Testing

@testable import Wireless

/// Simulated radios and a real access point, in the virtual laptop of the café:
/// `Tests/Cafe/virtual-laptop -- PATH-OF-THE-TESTS --testing-library swift-testing --filter LiveRadioTests`.
@Suite(.serialized, .enabled(if: getenv("HOTSPOTD_VIRTUAL_LAPTOP") != nil, "simulated radios are in the virtual laptop"))
struct LiveRadioTests {
    init() { EventLoop.startThread() }

    @LoopActor private final class Watcher {
        let monitor: WirelessMonitor
        private(set) var events: [WirelessEvent] = []

        init() throws {
            monitor = try WirelessMonitor()
            monitor.onEvent = { [unowned self] in events.append($0) }
            monitor.start()
        }

        /// Waits for an event, at most a minute: the laptop may be emulated.
        func wait<Value>(for pick: (WirelessEvent) -> Value?) async -> Value? {
            for _ in 0..<1200 {
                if let value = events.lazy.compactMap(pick).first { return value }
                var timer: EventSource?
                await withCheckedContinuation { continuation in
                    timer = try? EventLoop.shared.schedule(after: .milliseconds(50)) { continuation.resume() }
                }
                timer?.cancel()
            }
            return nil
        }

        func forget() { events = [] }
    }

    @Test(.enabled(if: geteuid() == 0, "access points need root")) @LoopActor func joiningAndLeaving() async throws {
        #expect(Self.shell("ip link set wlan0 up && ip link set wlan1 up") == 0)
        let file = "/run/live-radio.conf"
        #expect(Self.shell("printf 'interface=wlan1\\ndriver=nl80211\\nhw_mode=g\\nchannel=1\\nssid=Cafe\\n' >\(file)") == 0)
        #expect(Self.shell("hostapd -B -P /run/live-radio.pid \(file) >/dev/null") == 0)
        defer { _ = Self.shell("kill $(cat /run/live-radio.pid)") }
        let watcher = try Watcher()
        let index = try #require(
            await watcher.wait {
                if case .interfaceAppeared(let interface) = $0, interface.name == "wlan0" { interface.index } else { nil }
            })
        try watcher.monitor.triggerScan(index: index, frequencies: [2412])
        let list = try #require(await watcher.wait { if case .scanFinished(index, let list) = $0 { list } else { nil } })
        #expect(list.map(\.ssid.description) == ["Cafe"])
        #expect(list.first?.security == .open && list.first?.frequency == 2412)
        #expect(EventLoop.now - list[0].lastSeen < .seconds(60))

        watcher.forget()
        #expect(Self.shell("iw dev wlan0 connect Cafe 2412") == 0)
        let association = try #require(await watcher.wait { if case .connected(index, let one) = $0 { one } else { nil } })
        #expect(association.ssid == SSID("Cafe") && association.security == .open && association.bssid == list[0].bssid)
        #expect(watcher.events.contains(.associationBegan(index: index)))

        watcher.forget()
        try watcher.monitor.disconnect(index: index)
        #expect(await watcher.wait { if case .disconnected(index, let reason) = $0 { reason } else { nil } } == 3)
        #expect(watcher.monitor.malformedCount == 0 && watcher.monitor.foreignCount == 0)
        watcher.monitor.stop()
    }

    /// To be run as an ordinary user.
    @Test(.enabled(if: geteuid() != 0, "root may do everything")) @LoopActor func watchingNeedsNoCapability() async throws {
        let watcher = try Watcher()
        let index = try #require(
            await watcher.wait { if case .interfaceAppeared(let interface) = $0 { interface.index } else { nil } })
        #expect(throws: WirelessError.notPermitted(operation: "Scanning")) {
            try watcher.monitor.triggerScan(index: index, frequencies: [])
        }
        #expect(throws: WirelessError.notPermitted(operation: "Disconnecting")) { try watcher.monitor.disconnect(index: index) }
        watcher.monitor.stop()
    }

    private static func shell(_ script: String) -> Int32 {
        var child = pid_t()
        let words: [UnsafeMutablePointer<CChar>?] = [strdup("/bin/sh"), strdup("-c"), strdup(script), nil]
        defer { for word in words { free(word) } }
        guard posix_spawn(&child, "/bin/sh", nil, nil, words, environ) == 0 else { return -1 }
        var status: Int32 = 0
        while waitpid(child, &status, 0) < 0, errno == EINTR {}
        return status >> 8 & 0xFF
    }
}
