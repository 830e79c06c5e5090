import ControlAPI
import ForeignText
import HotspotCore

/// Decides which notifications the companion service's status calls for: one for each offer for the current network, and one for each question of a
/// paired laptop, until the offer or question is gone. Each turn shows the subjects that wait and have no open program. Other laptops choose the
/// names, the questions, their number, and how often they change, so all of these are limited.
struct NearbyNotices {
    /// The largest number of subjects that wait, and of notices within ``pause``.
    static let limit = 8
    /// The shortest time between two notices of the same subject. At most ``limit`` notices of all subjects are shown within this time.
    static let pause = Duration.seconds(60)

    private var waiting: [(subject: Subject, notice: Notice)] = []
    /// The subjects for which a click opened a program that still runs.
    private(set) var open: Set<Subject> = []
    /// The last notice of each subject that waits, and its time. After a program that succeeded: no notice, and the time at which the program ended.
    private var seen: [Subject: (notice: Notice?, at: Instant)] = [:]
    /// Why the last program of a subject failed, until a notification shows the reason.
    private var problems: [Subject: String] = [:]
    /// The times of the last notices.
    private var times: [Instant] = []
    /// The next time at which ``orders(at:)`` has an order.
    private(set) var next: Instant?

    /// Reads a status of the service; `nil` if the service is absent.
    mutating func update(_ status: CompanionStatus?) {
        let status = status?.checked
        // Leaves out offers for another network or portal: they cannot be used yet.
        let offers = (status?.offers ?? []).filter(\.fits).map { (Subject.offer($0.id), Self.notice(of: $0)) }
        let questions = (status?.questions ?? []).map { (Subject.question($0.id, of: $0.peer.id), Self.notice(of: $0)) }
        var subjects: Set<Subject> = []
        waiting = Array((offers + questions).filter { subjects.insert($0.0).inserted }.prefix(Self.limit))
    }

    /// Returns the orders of this turn.
    mutating func orders(at now: Instant) -> [Notices.Order] {
        let present = Set(waiting.map(\.subject))
        var orders = seen.filter { !present.contains($0.key) && $0.value.notice != nil }.keys.map { Notices.Order.close($0) }
        seen = seen.filter { present.contains($0.key) }
        next = nil
        for (subject, notice) in waiting where !open.contains(subject) && seen[subject]?.notice != notice {
            let most = times.count < Self.limit ? now : times[0] + Self.pause
            let earliest = max(most, seen[subject].map { $0.at + Self.pause } ?? now)
            guard earliest <= now else {
                next = min(next ?? earliest, earliest)
                continue
            }
            seen[subject] = (notice, now)
            times = (times + [now]).suffix(Self.limit)
            var shown = notice
            if let problem = problems.removeValue(forKey: subject) { shown.body = "\(problem)\n\(notice.body)" }
            orders.append(.show(shown, of: subject))
        }
        // The subject no longer waits, but the user must learn that the program failed.
        for (subject, problem) in problems where !present.contains(subject) {
            orders.append(.show(Notice(kind: .failed, title: "Laptops nearby", body: problem), of: subject))
        }
        problems = problems.filter { present.contains($0.key) }
        return orders
    }

    /// Notes that a click opened a program for this subject, and closed the subject's notification.
    mutating func opened(for subject: Subject) {
        open.insert(subject)
        seen[subject] = nil
    }

    /// Notes that the program has ended. A question or an offer that still waits is shown again: at once, or after ``pause`` if the program
    /// succeeded. Then the subject may soon be gone, or the program may have opened a terminal, which still shows the question.
    ///
    /// - Parameter problem: why the program failed, in the program's words; `nil` if it did not fail.
    mutating func closed(for subject: Subject, hasAnswered: Bool, problem: String?, at now: Instant) {
        open.remove(subject)
        if hasAnswered { seen[subject] = (nil, now) }
        problems[subject] = problem
    }

    private static func notice(of offer: OfferStatus) -> Notice {
        Notice(
            kind: .offer, title: Notices.title(offer.ssid),
            body: "\(Notices.quoted(offer.peer.name)) offers a login for this network and the portal \(shown(offer.portal)).",
            command: "hotspotctl companion accept", actions: [.accept])
    }

    private static func notice(of question: QuestionStatus) -> Notice {
        let things = Notices.things(question.fields, hasTerms: question.terms != nil || question.termsURL != nil)
        let portal = question.portal.map { " for the portal \(shown($0))" } ?? ""
        return Notice(
            kind: .question, title: question.ssid.map(Notices.title) ?? "Wired network",
            body: "\(Notices.quoted(question.peer.name)) asks you\(things.map { " for \($0)" } ?? "")\(portal).",
            command: "hotspotctl companion answer", actions: [.answer])
    }

    private static func shown(_ origin: String) -> String { Origin.shortened(Printable.text(origin, limit: 300)) }
}
