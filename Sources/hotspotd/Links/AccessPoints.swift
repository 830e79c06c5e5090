import EventLoop
import HotspotCore
import NetworkJoining
import Wireless

/// The announcements of access points: the information elements that they send, and their answers to ANQP. Access points are asked only if the user
/// watches the list in detail, or joins a network.
@LoopActor final class AccessPoints {
    struct Question {
        let interface: ManagedInterface
        let bssid: BSSID
        let hasHotspot20: Bool
    }

    /// The longest time that a list or a join waits for answers. During a scan, answers take up to 2.2 s; a late answer still reaches ``book``.
    private static let patience = Duration.seconds(1)

    private let associations: Associations
    private var book = AccessPointBook()
    /// The questions to send, one after the other, and the access points that have not answered yet.
    private var queue: [Question] = []
    private var pending: Set<BSSID> = []
    private var isAsking = false
    private var waiting: [(bssids: Set<BSSID>, done: () -> Void)] = []
    /// Called when an access point has answered.
    var onAnswer: () -> Void = {}

    init(_ associations: Associations) { self.associations = associations }

    /// Returns the announcement of an access point, with the answers known so far.
    func announcement(of bss: BSS) -> AnnouncedAccess? {
        AnnouncedAccess(bss.access, bss.access.offersANQP ? book.answer(of: bss.bssid, at: EventLoop.now) : nil)
    }

    /// Asks the access points that have not been asked within the last hour; calls back once, when all have answered, or after a second.
    ///
    /// - Parameter candidates: access points that offer ANQP, the most wanted first.
    func ask(_ candidates: [Question], _ done: @escaping () -> Void) {
        for bssid in book.due(candidates.map(\.bssid), at: EventLoop.now) {
            queue.append(candidates.first { $0.bssid == bssid }!)
            pending.insert(bssid)
        }
        let open = pending.intersection(candidates.map(\.bssid))
        guard !open.isEmpty else { return done() }
        var isOver = false
        let finish = {
            guard !isOver else { return }
            isOver = true
            done()
        }
        waiting.append((open, finish))
        EventLoop.shared.later(Self.patience, finish)
        sendNext()
    }

    private func sendNext() {
        guard !isAsking, !queue.isEmpty else { return }
        isAsking = true
        let question = queue.removeFirst()
        associations.ask(question.bssid, hasHotspot20: question.hasHotspot20, on: question.interface) { [weak self] outcome in
            self?.handle(outcome, of: question.bssid)
        }
    }

    private func handle(_ outcome: ANQPOutcome, of bssid: BSSID) {
        isAsking = false
        pending.remove(bssid)
        book.note(outcome, of: bssid)
        sendNext()
        let released = waiting.filter { $0.bssids.isDisjoint(with: pending) }
        waiting.removeAll { $0.bssids.isDisjoint(with: pending) }
        for one in released { one.done() }
        if case .answered = outcome { onAnswer() }
    }
}
