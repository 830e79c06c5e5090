import EventLoop
import Gate
import Testing

@testable import hotspotd

/// When hotspotd checks the gate, with a gate that fails on demand and a clock that the test sets.
@Suite struct GateKeeperTests {
    init() { EventLoop.startThread() }

    @LoopActor private final class Stage {
        final class Work: GateWork {
            var closed: [Int: String] = [:]
            var passes = 0
            var error: GateError?
            var isUndone = false
            var isStopped = false

            func apply(closed wanted: [Int: String], strays: Set<Int>) throws(GateError) -> Bool {
                passes += 1
                if let error { throw error }
                closed = wanted
                return isUndone
            }

            func stop() throws(GateError) {
                if let error { throw error }
                isStopped = true
            }
        }

        let keeper = GateKeeper()
        let work = Work()
        var wanted: [Int: String] = [:]
        var troubles: [GateKeeper.Trouble?] = []
        /// The requested pauses.
        var pauses: [Duration] = []
        var due: (() -> Void)?
        var makeError: GateError?

        init() {
            keeper.wishes = { [unowned self] in (wanted, []) }
            keeper.onTrouble = { [unowned self] in troubles.append($0) }
            keeper.make = { [unowned self] () throws(GateError) in
                if let makeError { throw makeError }
                return work
            }
            keeper.restore = { () throws(GateError) in false }
            keeper.watch = { _ in nil }
            keeper.schedule = { [unowned self] pause, body in
                pauses.append(pause)
                due = body
                return nil
            }
        }

        func pauseEnds() {
            let body = due
            due = nil
            body?()
        }
    }

    private static let busy = GateError.noMainRule

    @Test @LoopActor func whatTheMachinesWantIsDoneAtOnceAndOnce() {
        let stage = Stage()
        stage.keeper.setWanted(true)
        stage.wanted = [3: "w0"]
        for _ in 0..<5 { stage.keeper.machinesMoved() }
        #expect(stage.work.closed == [3: "w0"] && stage.work.passes == 2)
        stage.wanted = [:]
        stage.keeper.machinesMoved()
        #expect(stage.work.closed == [:] && stage.pauses == [] && stage.troubles == [])
    }

    @Test @LoopActor func aFailureIsShownAndTriedAgainWithGrowingPauses() {
        let stage = Stage()
        stage.wanted = [3: "w0"]
        stage.keeper.setWanted(true)
        // The gate cannot be opened.
        stage.work.error = Self.busy
        stage.wanted = [:]
        stage.keeper.machinesMoved()
        #expect(stage.troubles == [.failed(Self.busy)] && stage.work.closed == [3: "w0"])
        for _ in 0..<20 {
            // The same wish and changes of links wait for the pause's end.
            stage.keeper.machinesMoved()
            stage.keeper.linksChanged()
            stage.pauseEnds()
        }
        #expect(stage.pauses.prefix(4) == [.milliseconds(500), .seconds(1), .seconds(2), .seconds(4)])
        #expect(stage.pauses.last == GateKeeper.longestPause && stage.work.passes == 22)
        stage.work.error = nil
        stage.pauseEnds()
        #expect(stage.work.closed == [:] && stage.troubles == [.failed(Self.busy), nil] && stage.due == nil)
        // And the next failure begins with the first pause.
        stage.work.error = Self.busy
        stage.keeper.linksChanged()
        #expect(stage.pauses.last == .milliseconds(500))
    }

    @Test @LoopActor func anotherWishDoesNotWaitForAPause() {
        let stage = Stage()
        stage.keeper.setWanted(true)
        stage.work.error = Self.busy
        stage.wanted = [3: "w0"]
        stage.keeper.machinesMoved()
        stage.work.error = nil
        stage.wanted = [3: "w0", 4: "w1"]
        stage.keeper.machinesMoved()
        #expect(stage.work.closed == stage.wanted && stage.troubles.last == .some(nil))
        stage.pauseEnds()
        #expect(stage.pauses.count == 1)
    }

    @Test @LoopActor func aProgramThatKeepsUndoingItIsShownAndDoesNotKeepUsBusy() {
        let stage = Stage()
        stage.wanted = [3: "w0"]
        stage.keeper.setWanted(true)
        stage.work.isUndone = true
        for _ in 0..<100 { stage.keeper.linksChanged() }
        #expect(stage.work.passes == 2 && stage.troubles == [], "once happens")
        stage.pauseEnds()
        #expect(stage.work.passes == 3 && stage.troubles == [.undone])
        stage.work.isUndone = false
        stage.pauseEnds()
        #expect(stage.troubles == [.undone, nil] && stage.due == nil)
    }

    @Test @LoopActor func aGateThatCouldNotBeSetUpIsSetUpLater() {
        let stage = Stage()
        stage.makeError = .noMainRule
        stage.wanted = [3: "w0"]
        stage.keeper.setWanted(true)
        #expect(stage.troubles == [.failed(.noMainRule)] && stage.work.passes == 0)
        stage.makeError = nil
        stage.pauseEnds()
        #expect(stage.work.closed == [3: "w0"] && stage.troubles == [.failed(.noMainRule), nil])
    }

    @Test @LoopActor func withoutTheCapabilityNothingIsTriedUntilTheSettingsAreReadAgain() {
        let stage = Stage()
        stage.makeError = .notPermitted
        stage.keeper.setWanted(true)
        stage.wanted = [3: "w0"]
        stage.keeper.machinesMoved()
        stage.keeper.linksChanged()
        #expect(stage.troubles == [.failed(.notPermitted)] && stage.pauses == [])
        stage.makeError = nil
        stage.keeper.setWanted(true)
        #expect(stage.work.closed == [3: "w0"] && stage.troubles.last == .some(nil))
    }

    @Test @LoopActor func aGateThatCannotBeTakenAwayIsShownAndTakenAwayLater() {
        let stage = Stage()
        stage.wanted = [3: "w0"]
        stage.keeper.setWanted(true)
        stage.work.error = Self.busy
        stage.keeper.setWanted(false)
        #expect(stage.troubles == [.failed(Self.busy)] && !stage.work.isStopped)
        stage.work.error = nil
        stage.pauseEnds()
        #expect(stage.work.isStopped && stage.troubles == [.failed(Self.busy), nil])
        stage.keeper.linksChanged()
        #expect(stage.work.passes == 1)
    }
}
