import Foundation
import Testing

/// The cost of the machine over time, in a process of its own, because other tests share the heap.
@Suite(.enabled(if: Machine.runs(Machine.hasRelease), "make build makes the release binaries that these tests run"))
struct CostTests {
    @Test("10,000 days end with the memory they began with") func endurance() throws {
        let run = try Finished.run(Machine.release.appendingPathComponent("benchmarks").path, ["endurance"])
        print(run.output)
        #expect(run.status == 0, "\(run.output)")
        #expect(run.output.components(separatedBy: "10000 days with Rules=").count == 3)
        #expect(run.output.contains("500 days with a journal"))
    }

    /// Printed and not asserted: a machine that runs tests at the same time has no reliable speed. `make bench` asserts.
    @Test func figures() throws {
        let run = try Finished.run(Machine.release.appendingPathComponent("benchmarks").path, ["events", "scan"])
        print(run.output)
        #expect(run.output.contains("100 helpers:") && run.output.contains("1000 patterns"))
    }

    /// The parts of a first visit stay below twice the instructions that they took. Instructions do not depend on how busy the machine is.
    @Test(
        .enabled(
            if: Machine.runs(geteuid() == 0 && Machine.has("valgrind")), "needs valgrind, and root for a network namespace"))
    func aFirstVisitTakesFewInstructions() throws {
        let script = Machine.checkout.appendingPathComponent("Tests/Benchmarks/instructions.py").path
        let run = try Finished.run(script, ["--bin", Machine.release.path, "--check"])
        print(run.output)
        #expect(run.status == 0 && run.output.contains("PresentUI"), "\(run.output)")
    }
}
