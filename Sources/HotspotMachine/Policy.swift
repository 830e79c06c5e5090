import HotspotCore

/// The rules that can be chosen; the decisions D1 to D24 of `RULES.md` name them.
public struct Policy: Hashable, Sendable {
    /// Ours, or the letter of the sources.
    public enum Rules: String, Sendable, CaseIterable { case `default`, strict }
    /// What a missed deadline in authenticate means (D1).
    public enum Timeout: String, Sendable, CaseIterable { case temporary, fatal }
    /// What is done with the link after a failure (D19).
    public enum FailureRule: String, Sendable, CaseIterable { case keep, disconnect }

    /// Deadline of every command, the wait for the user excepted [A].
    public var commandTimeout: Duration = .seconds(45)
    /// From an answer to the next maintain [A].
    public var maintainInterval: Duration = .seconds(300)
    /// What the others get once a low is in hand (D7); `nil` for the whole command deadline.
    public var lowGrace: Duration? = .seconds(5)
    /// Misses in a row after which a helper is not waited for any more (D7); `nil` for never.
    public var quarantineAfter: Int? = 2
    /// D1.
    public var onTimeout = Timeout.temporary
    /// D19.
    public var onFailure = FailureRule.keep
    /// Questions in a row that a helper may ask (D2); 0 makes a further one a failure.
    public var furtherPrompts = 8
    /// Wins without success after a failed maintain, after which a helper is excluded (D11); `nil` for no cap.
    public var winCap: Int? = 2
    /// Logins of a helper that failed temporarily, after which it comes last in the race (D24); `nil` for never.
    public var setbackCap: Int? = 2
    /// `uiRequired` in maintain leads to authenticate rather than to evaluate (D12).
    public var maintainMayAsk = true
    /// After a temporary failure the machine evaluates again after these times (D19).
    public var retryDelays: [Duration] = [.seconds(10), .seconds(30), .seconds(60)]
    /// Temporary failures of one network within ``disconnectWindow`` after which the link is kept and rests (D4, strict).
    public var disconnectLimit = 3
    /// See ``disconnectLimit``.
    public var disconnectWindow: Duration = .seconds(600)
    /// When the proof of a login is asked for, from the helper's word on (D20).
    public var proofDelays: [Duration] = [
        .zero, .milliseconds(500), .seconds(1), .seconds(2), .seconds(4), .seconds(8),
    ]
    /// While a prompt or a failure waits: the first time between two looks (D21).
    public var watchFirst: Duration = .seconds(10)
    /// The longest time between two looks; each is twice the one before.
    public var watchLongest: Duration = .seconds(60)
    /// An unclaimed network is looked at again after this time, doubling up to ``recheckLongest`` (D9).
    public var recheckFirst: Duration = .seconds(300)
    /// See ``recheckFirst``.
    public var recheckLongest: Duration = .seconds(3600)
    /// An unclaimed network of which the prober could tell nothing is looked at again after this time, doubling likewise.
    public var retryFirst: Duration = .seconds(1)
    /// How long an interface is held after logoff or a dismissed prompt (D13).
    public var holdTime: Duration = .seconds(12 * 3600)

    /// How long a link that was asked to end may take; then it counts as one that cannot be ended.
    public var leavePatience: Duration = .seconds(10)

    /// A session that lasted no longer is none for D11 and D23: a minute. Like all times of D23 it is a part of ``maintainInterval``, of
    /// 300 s at most, so that who makes that shorter has all of it quicker.
    public var shortStay: Duration { longStay / 5 }
    /// After a session of this length everything begins anew (D23).
    public var longStay: Duration { min(maintainInterval, .seconds(300)) }
    /// From the end of a login to the next one that nobody asked for, while they are wanted within ``shortStay`` (D23): 10, 30 s, 1, 2
    /// and then 5 minutes. The first three are those of ``retryDelays``, so that D19's retries come when they are due.
    public var loginPauses: [Duration] { [longStay / 30, longStay / 10, longStay / 5, longStay * 2 / 5, longStay] }

    /// The default rules, or the strict ones.
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
    }
}
