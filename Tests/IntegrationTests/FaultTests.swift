import Foundation
import Testing

/// Calls that fail in hotspotd and hotspotctl, and kills of hotspotd, one in a journey (`Tests/Faults`). `make faults` plays all.
@Suite(
    .serialized, .timeLimit(.minutes(10)),
    .enabled(if: Machine.runs(Machine.hasRelease && geteuid() == 0), "needs make build, root, iproute2 and a C compiler"))
struct FaultTests {
    /// - Parameter words: a sample of all points; the calls that once ended the daemon, or left it without links or helpers; and some
    ///   of those that once left a helper unasked, or the gate closed.
    @Test(arguments: [
        ["--every", "151"], ["--calls", "epoll_create1|eventfd|socket netlink|hotspotd-filter|fopen /proc/self/maps"],
        ["--calls", "write socket|read anon_inode:.timerfd", "--every", "5"],
    ])
    func nothingBreaks(_ words: [String]) throws {
        let run = try Finished.run(
            Machine.checkout.appendingPathComponent("Tests/Faults/faults").path, ["--bin", Machine.release.path] + words)
        #expect(run.status == 0, "\(run.output)")
        print(run.output)
    }
}
