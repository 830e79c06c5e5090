import ControlAPI
import ForeignText
import HotspotCore

/// Decides which notifications the companion service's status calls for: one for each offer that can be used here, and one for each
/// question of a paired laptop, until it is gone. Names of laptops and networks, and the questions, are words of others.
struct NearbyNotices {
    /// The subjects that wait, with their notices.
    private var waiting: [Subject: Notice] = [:]
    /// The subjects with a program that a click opened.
    private(set) var open: Set<Subject> = []

    /// Returns the orders for a status; `nil` without the service.
    mutating func orders(for status: CompanionStatus?) -> [Notices.Order] {
        let before = waiting
        // An offer for another network can be used only after joining that network.
        let offers = (status?.offers ?? []).filter(\.fits).map { (Subject.offer($0.id), Self.notice(of: $0)) }
        let questions = (status?.questions ?? []).map { (Subject.question($0.id, of: $0.peer.id), Self.notice(of: $0)) }
        waiting = Dictionary(offers + questions) { first, _ in first }
        let gone = before.keys.filter { waiting[$0] == nil && !open.contains($0) }.map { Notices.Order.close($0) }
        let shown = (offers + questions).filter { before[$0.0] != $0.1 && !open.contains($0.0) }
        return gone + shown.map { .show($0.1, of: $0.0) }
    }

    /// Notes that a click opened a program for this subject.
    mutating func opened(for subject: Subject) { open.insert(subject) }

    /// Notes that the program has ended. A question or an offer that is waiting is shown again, unless the program did its work: then
    /// its terminal may still be open.
    ///
    /// - Parameter problem: why the program failed, in its words, if the user did not end it.
    mutating func closed(for subject: Subject, hasAnswered: Bool, problem: String?) -> [Notices.Order] {
        open.remove(subject)
        guard !hasAnswered else { return [] }
        if var notice = waiting[subject] {
            if let problem { notice.body = "\(problem)\n\(notice.body)" }
            return [.show(notice, of: subject)]
        }
        return problem.map { [.show(Notice(kind: .failed, title: "Laptops nearby", body: $0), of: subject)] } ?? []
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
