import HotspotCore

/// The proof of a login: gateways open late, so the prober is asked several times before the login counts as failed (D20).
public struct Proof: Hashable, Sendable {
    /// When the helper said that it is done.
    let began: Instant
    /// How often the prober was asked.
    var asked = 0
    var phase: Phase
    let secondsRemaining: Int?

    enum Phase: Hashable, Sendable {
        case looking(Probing)
        case waiting(Deadline)
    }

    var probing: Probing? { if case .looking(let probing) = phase { probing } else { nil } }
}

/// Looks at the link while somebody else may free it: the user in a browser, or time (D21).
public struct Watch: Hashable, Sendable {
    var interval: Duration
    var phase: Phase

    enum Phase: Hashable, Sendable {
        case looking(Probing)
        case waiting(Deadline)
    }

    var probing: Probing? { if case .looking(let probing) = phase { probing } else { nil } }
}

/// When the next maintain is due (D10): after the interval, or earlier where the session ends earlier.
public struct MaintainSchedule: Hashable, Sendable {
    /// When the session ends, as the helper said last.
    public private(set) var end: Instant?
    /// When to renew before that end. Once it has passed, what remains is the look at the end itself.
    public private(set) var renewal: Instant?

    /// A session of which no end is known.
    public init() {}

    /// Takes an answer's remaining time in. Negative values mean nothing.
    public mutating func update(secondsRemaining: Int?, at now: Instant) {
        guard let seconds = secondsRemaining, seconds >= 0 else {
            if let end, end <= now { self = MaintainSchedule() }
            return
        }
        let newEnd = now + .seconds(min(seconds, 10 * 365 * 86400))
        // The same end, told again a little later (portals count whole seconds): the renewal before it stays where it was.
        if let end, newEnd - end < .seconds(2), end - newEnd < .seconds(2) { return }
        let remaining = newEnd - now
        end = newEnd
        renewal = now + max(remaining - .seconds(60), remaining * 9 / 10)
    }

    /// The instant of the next maintain.
    public func next(after now: Instant, interval: Duration) -> Instant {
        let regular = now + interval
        guard let end, let renewal, end > now else { return regular }
        return min(regular, renewal > now ? renewal : end)
    }
}
