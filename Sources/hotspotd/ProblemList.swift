import EventLoop
import HotspotCore

/// The problems of the daemon or of one interface that are shown now, one for each code.
@LoopActor final class ProblemList {
    /// The problems, the latest one last.
    private(set) var all: [Problem] = []
    /// Called for a problem that is not yet in the list with the same words.
    var onNew: (Problem) -> Void = { _ in }
    var onChange: () -> Void = {}

    func report(_ problem: Problem) {
        if !all.contains(problem) { onNew(problem) }
        all.removeAll { $0.code == problem.code }
        all.append(problem)
        onChange()
    }

    /// Reports the problem; `nil` withdraws the problem with this code.
    func set(_ code: ProblemCode, _ problem: Problem?) { if let problem { report(problem) } else { withdraw(code) } }

    func withdraw(_ code: ProblemCode) {
        guard all.contains(where: { $0.code == code }) else { return }
        all.removeAll { $0.code == code }
        onChange()
    }

    func clear() { all = [] }
}
