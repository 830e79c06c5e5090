import HotspotCore

/// The rules that can be chosen; numbers such as D1 are decisions of `docs/machine-rules.md`.
public struct Policy: Hashable, Sendable {
    /// Our own rules, or the letter of Apple's documents.
    public enum Rules: String, Sendable, CaseIterable { case `default`, strict }
    /// The meaning of a missed deadline in authenticate (D1).
    public enum Timeout: String, Sendable, CaseIterable { case temporary, fatal }
    /// The fate of the link after a failure (D19).
    public enum FailureRule: String, Sendable, CaseIterable { case keep, disconnect }

    /// Deadline of every command; waiting for the user has none.
    public var commandTimeout: Duration = .seconds(45)
    /// The time from an answer to the next maintain.
    public var maintainInterval: Duration = .seconds(300)
    /// The time that the other helpers get after a low claim (D7); `nil` for the whole command deadline.
    public var lowGrace: Duration? = .seconds(5)
    /// Strikes in a row after which hotspotd no longer waits for a helper (D7); `nil` for never.
    public var quarantineAfter: Int? = 2
    /// The meaning of a missed deadline (D1).
    public var onTimeout = Timeout.temporary
    /// The fate of the link after a failure (D19).
    public var onFailure = FailureRule.keep
    /// The number of prompts in a row for which a helper may ask after the first one (D2).
    public var furtherPrompts = 8
    /// The number of wins without success after a failed maintain that exclude a helper (D11); `nil` for no limit.
    public var winCap: Int? = 2
    /// The number of temporary failures of a helper's login after which it comes last in the race (D24); `nil` for never.
    public var setbackCap: Int? = 2
    /// Whether `uiRequired` in maintain leads to authenticate rather than to evaluate (D12).
    public var maintainMayAsk = true
    /// After a temporary failure the machine evaluates again after these times (D19).
    public var retryDelays: [Duration] = [.seconds(10), .seconds(30), .seconds(60)]
    /// The number of temporary failures of one network within ``disconnectWindow`` after which the link is kept and rests (D4,
    /// strict).
    public var disconnectLimit = 3
    public var disconnectWindow: Duration = .seconds(600)
    /// The times at which a login is probed, counted from the helper's success, until its command's time ends (D25).
    public var proofDelays: [Duration] = [0, 300, 700, 1500, 3000, 5000, 8000, 12000, 17000, 23000, 30000, 37000]
        .map(Duration.milliseconds)
    /// The delays of the probes after a logoff that the helper says is done, until the portal is back; empty for never, when the
    /// helper's word counts (D31).
    public var logoffDelays: [Duration] = [0, 300, 1000, 3000].map(Duration.milliseconds)
    /// The time from the helper's success during which an open network counts as that success (D25).
    public var latePatience: Duration = .seconds(120)
    /// The time to the first probe while a prompt, a paused login, a failure, or a doubtful login waits; it doubles up to
    /// ``watchLongest`` (D21).
    public var watchFirst: Duration = .seconds(10)
    public var watchLongest: Duration = .seconds(60)
    /// An unclaimed network is probed again after this time, doubling up to ``recheckLongest`` (D9).
    public var recheckFirst: Duration = .seconds(300)
    public var recheckLongest: Duration = .seconds(3600)
    /// The time to the next probe of an unclaimed network without a verdict.
    public var retryFirst: Duration = .seconds(1)
    /// The time for which a network is held after a logoff or a dismissed prompt (D13).
    public var holdTime: Duration = .seconds(12 * 3600)
    /// The time that a link may take to end; after that it counts as a link that cannot be ended.
    public var leavePatience: Duration = .seconds(10)

    /// A shorter session does not count for D11 and D23: a minute. Like all times of D23, it is a fraction of
    /// ``maintainInterval``, of 300 s at most, so that a shorter setting shortens all of them.
    public var shortStay: Duration { longStay / 5 }
    /// The length of a session after which the pauses of D23 start again.
    public var longStay: Duration { min(maintainInterval, .seconds(300)) }
    /// The pauses from the end of a login to the next one that the user did not ask for, while logins are wanted within
    /// ``shortStay`` (D23): 10, 30 s, 1, 2 and then 5 minutes. The first three equal ``retryDelays``, so that D19's retries come
    /// on time.
    public var loginPauses: [Duration] { [longStay / 30, longStay / 10, longStay / 5, longStay * 2 / 5, longStay] }

    public init(rules: Rules = .default) {
        guard rules == .strict else { return }
        onTimeout = .fatal
        onFailure = .disconnect
        lowGrace = nil
        quarantineAfter = nil
        furtherPrompts = 0
        winCap = nil
        setbackCap = nil
        maintainMayAsk = false
        logoffDelays = []
    }
}
