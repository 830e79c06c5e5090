import CSystemd
import Glibc
import HotspotCore
import Testing

@testable import EventLoop

/// What the loop does for descriptors that epoll has no room for. Only the descriptors of a test are refused: others run beside
/// it.
@Suite(.serialized, .timeLimit(.minutes(10))) struct PollFallbackTests {
    init() { EventLoop.startThread() }

    /// Runs the body with two ends of a socket of which epoll takes neither.
    @LoopActor private func withRefused(
        thread: Bool = true, _ body: @LoopActor (_ near: Int32, _ far: Int32) async throws -> Void
    ) async throws {
        var ends: [Int32] = [0, 0]
        let type = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        try #require(socketpair(AF_UNIX, type, 0, &ends) == 0)
        let mine = ends
        PollFallback.shared.refusal = { mine.contains($0) ? ENOSPC : 0 }
        PollFallback.shared.refusesThread = !thread
        defer {
            PollFallback.shared.refusal = { _ in 0 }
            PollFallback.shared.refusesThread = false
            for end in mine { close(end) }
        }
        try await body(ends[0], ends[1])
        #expect(PollFallback.shared.count == 0)
    }

    private static func write(_ text: String, to descriptor: Int32) {
        let octets = Array(text.utf8)
        #expect(Glibc.write(descriptor, octets, octets.count) == octets.count)
    }

    /// Closes what is behind a number and keeps the number, which another test could be given.
    private static func closeFile(of descriptor: Int32) {
        let null = open("/dev/null", O_RDWR | O_CLOEXEC)
        #expect(dup2(null, descriptor) == descriptor)
        close(null)
    }

    /// Readiness is a level: one octet is read in each call, and each call is followed by another until nothing is left.
    @Test(arguments: [true, false]) @LoopActor func itIsServedAllTheSame(_ hasThread: Bool) async throws {
        try await withRefused(thread: hasThread) { near, far in
            var text = ""
            let source = try EventLoop.shared.watch(near) { events in
                #expect(events & UInt32(EPOLLIN.rawValue) != 0)
                var octet: UInt8 = 0
                if read(near, &octet, 1) == 1 { text.unicodeScalars.append(Unicode.Scalar(octet)) }
            }
            #expect(PollFallback.shared.count == 1 && source.isActive)
            await pause(.milliseconds(30))
            #expect(text == "")
            Self.write("level", to: far)
            #expect(await eventually { text == "level" })
            Self.write("!", to: far)
            #expect(await eventually { text == "level!" })
            source.cancel()
            #expect(!source.isActive)
        }
    }

    @Test @LoopActor func roomToWriteAndTheEndAreTold() async throws {
        try await withRefused { near, far in
            let chunk = [UInt8](repeating: 0, count: 64 * 1024)
            while Glibc.write(near, chunk, chunk.count) > 0 {}
            var told: UInt32 = 0
            var source: EventSource?
            source = try EventLoop.shared.watch(near, for: UInt32(EPOLLOUT.rawValue)) { events in
                told |= events
                source?.cancel()
            }
            await pause(.milliseconds(30))
            #expect(told == 0)
            var octets = chunk
            while read(far, &octets, octets.count) > 0 {}
            #expect(await eventually { told != 0 })
            #expect(told & UInt32(EPOLLOUT.rawValue) != 0)
            told = 0
            source = try EventLoop.shared.watch(near) { events in
                told |= events
                source?.cancel()
            }
            Self.closeFile(of: far)
            #expect(await eventually { told & UInt32(EPOLLHUP.rawValue) != 0 })
        }
    }

    /// The number of a closed descriptor is given out again at once. Its former owner hears nothing of it, and the other side of
    /// what was closed hears of the end although the thread was waiting for it.
    @Test @LoopActor func aNumberThatIsUsedAgainIsAnotherEntry() async throws {
        try await withRefused { near, far in
            for round in 0..<50 {
                var former = 0
                var latter = 0
                let first = try EventLoop.shared.watch(near) { _ in former += 1 }
                if round % 2 == 0 { await pause(.milliseconds(1)) }
                var others: [Int32] = [0, 0]
                #expect(pipe(&others) == 0)
                defer { others.forEach { close($0) } }
                Self.write("x", to: others[1])
                let saved = dup(near)
                defer { close(saved) }
                first.cancel()
                // The pipe takes the socket's number, and is readable.
                #expect(dup2(others[0], near) == near)
                var second: EventSource?
                second = try EventLoop.shared.watch(near) { _ in
                    latter += 1
                    second?.cancel()
                }
                #expect(await eventually { latter == 1 })
                #expect(former == 0 && latter == 1)
                second = nil
                #expect(dup2(saved, near) == near)
            }
            let source = try EventLoop.shared.watch(near) { _ in }
            await pause(.milliseconds(5))
            source.cancel()
            Self.closeFile(of: near)
            var octet: UInt8 = 0
            #expect(await eventually { read(far, &octet, 1) == 0 })
        }
    }

    /// Whoever is cancelled by another one's handler in the same turn is not called, and the more urgent is called first.
    @Test @LoopActor func theUrgentGoFirstAndMayCancelTheOthers() async throws {
        try await withRefused { near, far in
            var order: [String] = []
            let late = try EventLoop.shared.watch(near) { _ in order.append("late") }
            late.setPriority(5)
            var early: EventSource?
            early = try EventLoop.shared.watch(far) { _ in
                order.append("early")
                late.cancel()
                early?.cancel()
            }
            // Both at once, from the loop's own thread.
            Self.write("a", to: near)
            Self.write("b", to: far)
            #expect(await eventually { early?.isActive == false })
            await pause(.milliseconds(20))
            #expect(order == ["early"])
        }
    }

    @Test @LoopActor func aShortageIsToldInATurnOfItsOwn() async throws {
        try await withRefused { near, far in
            var told = 0
            let observer = EventLoop.shared.onShortage { told += 1 }
            let sources = try [near, far].map { try EventLoop.shared.watch($0) { _ in } }
            #expect(told == 0)
            #expect(await eventually { told == 1 })
            sources.forEach { $0.cancel() }
            observer.cancel()
            let last = try EventLoop.shared.watch(near) { _ in }
            await pause(.milliseconds(20))
            #expect(told == 1)
            last.cancel()
        }
    }

    /// Every other error is still one.
    @Test @LoopActor func whatCannotBeWatchedAtAllIsRefused() async throws {
        #expect(throws: LoopError.self) { try EventLoop.shared.watch(-1) { _ in } }
        let file = open("/proc/self/stat", O_RDONLY | O_CLOEXEC)
        defer { close(file) }
        #expect(throws: LoopError(operation: "sd_event_add_io", code: EPERM)) {
            PollFallback.shared.refusal = { $0 == file ? EPERM : 0 }
            defer { PollFallback.shared.refusal = { _ in 0 } }
            return try EventLoop.shared.watch(file) { _ in }
        }
    }
}

/// Looks again every few milliseconds; the time is only an upper limit.
@LoopActor func eventually(_ condition: () -> Bool) async -> Bool {
    for _ in 0..<2000 {
        if condition() { return true }
        await pause(.milliseconds(5))
    }
    return condition()
}
