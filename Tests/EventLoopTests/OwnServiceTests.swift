import EventLoop
import Glibc
import Testing

@Suite struct OwnServiceTests {
    /// A command for the system's unit would reach another daemon, or no daemon.
    @Test func anInstanceOfOnesOwnIsReachedByItsProcess() {
        #expect(OwnService.reload == "kill -HUP \(getpid())" && !OwnService.restart.contains("systemctl"))
    }
}
