import ControlAPI
import Glibc
import TestSupport
import Testing
import Varlink

@testable import Notifications

/// The notifier, with a companion service that was taken over, or that starts later.
@Suite(.timeLimit(.minutes(1))) struct NearbyServiceTests {
    private static func status(_ name: String) -> [UInt8] {
        let status = CompanionStatus(
            state: "ready", message: nil, name: name, daemon: true, pairing: false, peers: [], questions: [], offers: [],
            made: [],
            notices: [])
        return Coding.encode(Answer(parameters: Coding.value(status), continues: true)) + [0]
    }

    @Test func aServiceThatAcceptsNothingIsNotAwaited() throws {
        let folder = TemporaryFolder()
        let path = folder.path + "/socket"
        let listener = try Socket.listen(path: path, mode: 0o600)
        var waiting: [Int32] = []
        defer { for socket in waiting { close(socket) } }
        while let socket = try? Socket.connect(path: path, nonblocking: true).take() { waiting.append(socket) }
        #expect(waiting.count > Int(Socket.backlog) && NearbyService(path: path, awaitsQuestions: true) == nil)
        #expect(listener.raw >= 0)
    }

    /// Each turn reads once, however much the service sends, and only the last status counts.
    @Test func aServiceThatSendsWithoutEndIsReadOnceATurn() throws {
        let folder = TemporaryFolder()
        let path = folder.path + "/socket"
        let listener = try Socket.listen(path: path, mode: 0o600)
        let service = try #require(NearbyService(path: path, awaitsQuestions: false))
        let peer = accept(listener.raw, nil, nil)
        _ = fcntl(peer, F_SETFL, O_NONBLOCK)
        _ = fcntl(peer, F_SETFD, FD_CLOEXEC)
        defer { close(peer) }
        #expect(try service.status() == nil)
        for octets in [Self.status("one"), Self.status("two"), Array(Self.status("three").dropLast(9))] {
            #expect(send(peer, octets, octets.count, 0) == octets.count)
        }
        #expect(try service.status()?.name == "two")
        #expect(send(peer, Array(Self.status("three").suffix(9)), 9, 0) == 9)
        #expect(try service.status()?.name == "three")
        let many = Array((0..<1000).map { _ in Self.status("many") }.joined())
        #expect(send(peer, many, many.count, 0) > 64 * 1024)
        #expect(try service.status()?.name == "many")
        var rest = pollfd(fd: service.descriptor, events: Int16(POLLIN), revents: 0)
        #expect(poll(&rest, 1, 0) == 1, "the rest is for the next turn")
    }

    @Test func aServiceThatComesLaterIsNoticed() throws {
        let parent = TemporaryFolder()
        let folder = parent.path + "/run"
        var watch = SocketWatch(folder + "/socket")
        func hasNews() -> Bool {
            var news = pollfd(fd: watch.descriptor, events: Int16(POLLIN), revents: 0)
            guard poll(&news, 1, 0) > 0 else { return false }
            watch.drain()
            watch.arm()
            return true
        }
        watch.arm()
        #expect(!hasNews())
        mkdir(folder, 0o700)
        #expect(hasNews())
        // The watch on the parent folder has ended, which is its last event.
        _ = hasNews()
        parent.write("other", "")
        #expect(!hasNews())
        for _ in 0..<2 {
            let listener = try Socket.listen(path: folder + "/socket", mode: 0o600)
            #expect(listener.raw >= 0 && hasNews() && NearbyService(path: folder + "/socket", awaitsQuestions: false) != nil)
            unlink(folder + "/socket")
            _ = hasNews()
        }
        rmdir(folder)
        #expect(hasNews())
        mkdir(folder, 0o700)
        #expect(hasNews())
    }
}
