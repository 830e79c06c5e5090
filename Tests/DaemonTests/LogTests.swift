import Glibc
import TestSupport
import Testing
import Varlink

@testable import hotspotd

/// The journal, imitated by a socket that nobody reads.
@Suite(.timeLimit(.minutes(10))) struct LogTests {
    private final class FullJournal {
        private let folder = TemporaryFolder()
        var path: String { folder.path + "/socket" }
        let descriptor: Int32

        init() {
            descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0)
            let bound = try? Socket.withAddress(path) { bind(descriptor, $0, $1) }
            #expect(bound == 0)
        }

        deinit {
            close(descriptor)
        }

        func next() -> String? {
            var octets = [UInt8](repeating: 0, count: 8192)
            let count = recv(descriptor, &octets, octets.count, 0)
            return count > 0 ? String(decoding: octets[..<count], as: UTF8.self) : nil
        }
    }

    @Test func aLineIsOneEntry() {
        let journal = FullJournal()
        let socket = JournalSocket(path: journal.path)
        socket.send("Online\nMESSAGE=no", priority: 6)
        #expect(journal.next() == "MESSAGE=Online MESSAGE=no\nPRIORITY=6\nSYSLOG_IDENTIFIER=hotspotd\n")
        #expect(journal.next() == nil)
    }

    /// Lost lines are counted, and reported when the journal accepts lines again.
    @Test func aFullJournalDropsLinesAndNotLogins() {
        let journal = FullJournal()
        let socket = JournalSocket(path: journal.path)
        for number in 1...20_000 { socket.send("line \(number)", priority: 6) }
        var came = 0
        while journal.next() != nil { came += 1 }
        #expect(came > 0 && came < 20_000)
        socket.send("room again", priority: 6)
        #expect(journal.next()?.hasPrefix("MESSAGE=room again\n") == true)
        #expect(journal.next()?.hasPrefix("MESSAGE=\(20_000 - came) lines before this one were lost") == true)
        #expect(journal.next() == nil)
    }

    @Test func aJournalThatIsNotThereIsNotWaitedFor() {
        JournalSocket(path: "/nowhere/socket").send("line", priority: 6)
    }
}
