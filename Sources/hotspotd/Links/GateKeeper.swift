import EventLoop
import Gate
import HotspotCore

/// Applies the gate's rules: ``Gate``, or a fake in tests.
protocol GateWork: AnyObject {
    /// See ``Gate/apply(closed:strays:)``.
    func apply(closed wanted: [Int: String], strays: Set<Int>) throws(GateError) -> Bool
    /// See ``Gate/stop()``.
    func stop() throws(GateError)
}

extension Gate: GateWork {}

/// Applies the gate's rules. With `Gate=routes`, ordinary programs cannot use a link until its machine opens it. The rules are applied at once when
/// machines, links or rules change, and after a failure with growing pauses.
@LoopActor final class GateKeeper {
    /// The links to close, with their names by index, and other links that seem to be in the gate's group.
    typealias Wishes = (closed: [Int: String], strays: Set<Int>)

    /// Why the gate does not work as it should.
    enum Trouble: Hashable {
        case failed(GateError)
        /// Another program removes the gate's rules again and again.
        case undone
    }

    static let firstPause = Duration.milliseconds(500)
    static let longestPause = Duration.seconds(60)

    var wishes: () -> Wishes = { ([:], []) }
    /// Called with each change of the trouble; `nil` if there is none.
    var onTrouble: (Trouble?) -> Void = { _ in }
    /// Called when the rules of an earlier daemon were removed.
    var onLeftovers: () -> Void = {}
    var make: () throws(GateError) -> any GateWork = { () throws(GateError) in try Gate() }
    var restore: () throws(GateError) -> Bool = { () throws(GateError) in try Gate.restore() }
    /// Watches for changed rules. If it cannot watch, only changes of links cause a check.
    var watch: (_ onChange: @escaping () -> Void) -> RuleWatch? = { try? RuleWatch(onChange: $0) }
    var schedule: (Duration, @escaping () -> Void) -> EventSource? = { pause, body in
        try? EventLoop.shared.schedule(after: pause, body)
    }

    private var isWanted = false
    private var gate: (any GateWork)?
    private var rules: RuleWatch?
    private var trouble: Trouble?
    /// The links to close in the last pass, whether it succeeded or not.
    private var tried: [Int: String]?
    private var pause = GateKeeper.firstPause
    private var timer: EventSource?
    private var isPausing = false
    /// Whether the capability is missing, so that trying again is useless.
    private var isBarred = false

    /// Turns the gate on or off: at the start, and when the settings were read again.
    func setWanted(_ isWanted: Bool) {
        self.isWanted = isWanted
        isBarred = false
        if !isWanted {
            rules?.stop()
            rules = nil
        } else if rules == nil {
            rules = watch { [weak self] in self?.linksChanged() }
        }
        applyRules()
    }

    /// Applies the rules again if other links are to be closed than in the last pass.
    func machinesMoved() {
        guard isWanted, !isBarred, wishes().closed != tried else { return }
        applyRules()
    }

    /// Applies the rules again after links, addresses, routes, groups or rules changed: another program may have removed some of the gate's rules.
    /// During a pause before a retry, does nothing; otherwise two programs that undo each other's changes would keep the computer busy.
    func linksChanged() {
        guard isWanted, !isBarred, !isPausing else { return }
        applyRules()
    }

    /// Opens all links. If some stay closed, `--restore-routes` opens them.
    func end() {
        timer?.cancel()
        rules?.stop()
        isWanted = false
        do throws(GateError) {
            try gate?.stop()
            gate = nil
        } catch {
            report(.failed(error))
        }
    }

    // MARK: One pass

    /// Applies the rules. Tries again later if that fails, or if another program had undone them.
    private func applyRules() {
        do throws(GateError) {
            if try applyOnce() {
                // When another program starts, one such pass is normal; two in a row are a problem.
                if pause > Self.firstPause { report(.undone) }
                retryLater()
            } else {
                if !isPausing { pause = Self.firstPause }
                report(nil)
            }
        } catch {
            report(.failed(error))
            if error == .notPermitted { isBarred = true } else { retryLater() }
        }
    }

    /// Applies the rules once. Returns whether another program had undone something.
    private func applyOnce() throws(GateError) -> Bool {
        guard isWanted else {
            tried = nil
            if let gate {
                try gate.stop()
                self.gate = nil
            } else if try restore() {
                onLeftovers()
            }
            return false
        }
        let wishes = wishes()
        tried = wishes.closed
        let gate = if let gate { gate } else { try make() }
        self.gate = gate
        return try gate.apply(closed: wishes.closed, strays: wishes.strays)
    }

    private func retryLater() {
        guard !isPausing else { return }
        isPausing = true
        timer = schedule(pause) { [weak self] in
            self?.isPausing = false
            self?.applyRules()
        }
        pause = min(pause * 2, Self.longestPause)
    }

    private func report(_ trouble: Trouble?) {
        guard trouble != self.trouble else { return }
        self.trouble = trouble
        onTrouble(trouble)
    }
}

extension GateKeeper.Trouble {
    /// The problem that people see.
    var problem: Problem {
        switch self {
        case .failed(let error):
            let hint = error == .notPermitted ? "run hotspotd as a service, or set [Policy] Gate=none" : "set [Policy] Gate=none"
            return Problem(.gate, "\(error)", hint: hint)
        case .undone:
            return Problem(
                .gate,
                "Another program keeps changing the gate's routing rules or the links' group, so links may be open.",
                hint: "ManageForeignRoutingPolicyRules=no in networkd.conf, or set [Policy] Gate=none")
        }
    }
}
