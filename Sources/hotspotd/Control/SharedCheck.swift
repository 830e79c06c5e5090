import EventLoop
import HotspotCore

/// Runs one probe at a time for all clients that ask about an interface. A client gets the answer of a probe that began after its question, so that
/// the answer is never old. All clients that ask during a probe, or within a second of its beginning, share the next probe. So a client that asks
/// often cannot make the checks of other clients fail, and each association is probed at most once a second.
@LoopActor final class SharedCheck<Answer> {
    typealias Begin = (@escaping (Answer) -> Void) -> Void

    private final class Round {
        let association: String
        /// The function that begins the probe; `nil` once it has begun.
        var begin: Begin?
        var clients: [(Answer) -> Void]
        var began: Instant?
        var isOver = false

        init(association: String, begin: @escaping Begin, clients: [(Answer) -> Void]) {
            self.association = association
            self.begin = begin
            self.clients = clients
        }
    }

    /// The shortest time from one probe's beginning to the next.
    static var spacing: Duration { .seconds(1) }
    /// The time after which new clients no longer wait for a probe that has not answered.
    static var patience: Duration { .seconds(20) }

    /// The running or the last probe of each interface.
    private var last: [Int: Round] = [:]
    /// The next probe of each interface, which waits for the running one.
    private var next: [Int: Round] = [:]
    private var timers: [Int: EventSource] = [:]
    private let now: () -> Instant

    init(now: @escaping () -> Instant = { EventLoop.now }) { self.now = now }

    /// Answers with a new probe of this interface in this association. The new probe begins now, or when the running probe has ended and ``spacing``
    /// has passed.
    func ask(_ index: Int, in association: String, begin: @escaping Begin, answer: @escaping (Answer) -> Void) {
        let clients = (next[index]?.clients ?? []) + [answer]
        next[index] = Round(association: association, begin: begin, clients: clients)
        proceed(index)
    }

    private func proceed(_ index: Int) {
        guard let round = next[index] else { return }
        let now = now()
        let before = last[index]
        if let before, let began = before.began, before.association == round.association {
            let age = now - began
            if before.isOver, age < Self.spacing,
                let timer = try? EventLoop.shared.schedule(after: Self.spacing - age, { [weak self] in self?.proceed(index) })
            {
                timers[index] = timer
                return
            }
            if !before.isOver, age < Self.patience { return }
        }
        // Give this probe's answer also to the clients of an earlier probe that has not ended.
        round.clients += before?.clients ?? []
        before?.clients = []
        (last[index], next[index]) = (round, nil)
        let begin = round.begin
        (round.began, round.begin) = (now, nil)
        begin? { [weak self] answer in
            guard !round.isOver else { return }
            round.isOver = true
            let clients = round.clients
            round.clients = []
            for client in clients { client(answer) }
            self?.proceed(index)
        }
    }
}
