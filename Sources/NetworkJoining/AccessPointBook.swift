import HotspotCore
import Wireless

/// Decides which access points get an ANQP question, and keeps their answers.
///
/// The frames go out over the air, and some drivers freeze on them (iwd(5), `DisableANQP`). So each access point gets one question an hour, and the
/// number of questions is limited, because anyone nearby can announce any number of access points.
public struct AccessPointBook: Sendable {
    /// The time until the next question to the same access point. Its answer is kept for the same time.
    public static let interval = Duration.seconds(3600)
    /// The largest number of questions at a time, and within ``interval``.
    static let (lookLimit, limit) = (8, 64)

    private struct Entry {
        let asked: Instant
        var answer: ANQPAnswer?
    }

    private var entries: [BSSID: Entry] = [:]

    public init() {}

    /// Returns the access points that get a question now, in the order of the candidates, and notes the time of the questions.
    public mutating func due(_ candidates: [BSSID], at now: Instant) -> [BSSID] {
        entries = entries.filter { now - $0.value.asked < Self.interval }
        var due: [BSSID] = []
        for bssid in candidates where entries[bssid] == nil && due.count < Self.lookLimit && entries.count < Self.limit {
            entries[bssid] = Entry(asked: now)
            due.append(bssid)
        }
        return due
    }

    /// Keeps the answer of an access point. If the question could not be sent, the access point may get another question.
    public mutating func note(_ outcome: ANQPOutcome, of bssid: BSSID) {
        switch outcome {
        case .answered(let answer): entries[bssid]?.answer = answer
        case .silent: break
        case .notSent: entries[bssid] = nil
        }
    }

    public func answer(of bssid: BSSID, at now: Instant) -> ANQPAnswer? {
        entries[bssid].flatMap { now - $0.asked < Self.interval ? $0.answer : nil }
    }
}
