import EventLoop
import Foundation
import HotspotCore
import NetworkJoining
import TestSupport
import Testing

@testable import hotspotd

/// The questions to access points, with a control socket that does not exist or does not answer.
@Suite(.timeLimit(.minutes(10))) struct AccessPointsTests {
    init() { EventLoop.startThread() }

    private static let question = AccessPoints.Question(
        interface: ManagedInterface(index: 3, name: "wlan9"), bssid: HardwareAddress("02:00:00:00:00:01")!, hasHotspot20: false)

    @Test @LoopActor func withoutWPASupplicantNothingIsWaitedFor() {
        let folder = TemporaryFolder()
        let points = AccessPoints(Associations(sockets: folder.path))
        var calls = 0
        for _ in 0..<3 { points.ask([Self.question]) { calls += 1 } }
        #expect(calls == 3, "no frame was sent, so that it may be tried again")
        points.ask([]) { calls += 1 }
        #expect(calls == 4)
    }

    @Test @LoopActor func aListDoesNotWaitForASilentOne() async throws {
        let folder = TemporaryFolder()
        let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
        defer { close(descriptor) }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: "\(folder.path)/wlan9".utf8) }
        let bound = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        #expect(bound == 0)
        let points = AccessPoints(Associations(sockets: folder.path))
        var calls = 0
        // The second caller waits for the first caller's question.
        for _ in 0..<2 { points.ask([Self.question]) { calls += 1 } }
        #expect(calls == 0)
        while calls < 2 {
            await withCheckedContinuation { done in EventLoop.shared.later(.milliseconds(5)) { done.resume() } }
        }
        // Only one question is sent, whatever the number of callers.
        var octets = [UInt8](repeating: 0, count: 64)
        let count = recv(descriptor, &octets, octets.count, Int32(MSG_DONTWAIT))
        #expect(String(decoding: octets.prefix(max(0, count)), as: UTF8.self) == "ATTACH")
        #expect(recv(descriptor, &octets, octets.count, Int32(MSG_DONTWAIT)) < 0)
    }
}
