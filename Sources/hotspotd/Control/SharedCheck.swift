import EventLoop
import HotspotCore

/// One probe for all clients that ask at the same time: a client that asks while it runs, or within a second of its answer, shares that
/// answer. So a client that asks often does not make the others fail, and each interface is probed at most once a second.
@LoopActor final class SharedCheck<Answer> {
    private final class Round {
        let association: String
        let began: Instant
        var waiting: [(Answer) -> Void] = []
        var last: (at: Instant, answer: Answer)?

        init(association: String, began: Instant) {
            self.association = association
            self.began = began
        }
    }

    /// How long an answer is as good as a new one.
    static var freshness: Duration { .seconds(1) }
    /// After this time new clients do not wait for a probe without an answer.
    static var patience: Duration { .seconds(20) }

    private var rounds: [Int: Round] = [:]
    private let now: () -> Instant

    init(now: @escaping () -> Instant = { EventLoop.now }) { self.now = now }

    /// Answers from the running or the last probe of this interface in this association, or else begins one.
    func ask(
        _ index: Int, in association: String, begin: (@escaping (Answer) -> Void) -> Void, answer: @escaping (Answer) -> Void
    ) {
        let now = now()
        let before = rounds[index]
        if let before, before.association == association {
            if let last = before.last {
                if now - last.at < Self.freshness { return answer(last.answer) }
            } else if now - before.began < Self.patience {
                before.waiting.append(answer)
                return
            }
        }
        let round = Round(association: association, began: now)
        // Clients of a probe that was overtaken get the answer of the new one.
        round.waiting = (before?.waiting ?? []) + [answer]
        before?.waiting = []
        rounds[index] = round
        begin { [weak self] answer in
            guard let self, round.last == nil else { return }
            round.last = (self.now(), answer)
            let waiting = round.waiting
            round.waiting = []
            for answerer in waiting { answerer(answer) }
        }
    }
}
