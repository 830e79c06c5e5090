import HotspotCore

/// The rules that can be chosen; numbers such as D1 are decisions of `docs/machine-rules.md`.
public struct Policy: Hashable, Sendable {
    /// hotspotd's own rules, or the literal rules of Apple's documents.
    public enum Rules: String, Sendable, CaseIterable { case `default`, strict }
    /// How a missed deadline in authenticate counts (D1).
    public enum Timeout: String, Sendable, CaseIterable { case temporary, fatal }
    /// The treatment of the link after a failure (D19).
    public enum FailureRule: String, Sendable, CaseIterable { case keep, disconnect }

    /// Deadline of every command; waiting for the user has none.
    public var commandTimeout: Duration = .seconds(45)
    /// The time from an answer to the next maintain.
    public var maintainInterval: Duration = .seconds(300)
    /// The time that the other helpers get after a low claim (D7); `nil` for the whole command deadline.
    public var lowGrace: Duration? = .seconds(5)
    /// Strikes in a row after which hotspotd no longer waits for a helper (D7); `nil` for never.
    public var quarantineAfter: Int? = 2
    /// How a missed deadline counts (D1).
    public var onTimeout = Timeout.temporary
    /// The treatment of the link after a failure (D19).
    public var onFailure = FailureRule.keep
    /// The number of further prompts in a row that a helper may show (D2).
    public var furtherPrompts = 8
    /// The number of wins without success, after a failed Maintain, that excludes a helper (D11); `nil` for no limit.
    public var winCap: Int? = 2
    /// The number of temporary failures of a helper's login after which it comes last in the race (D24); `nil` for never.
    public var setbackCap: Int? = 2
    /// Whether `uiRequired` in Maintain leads to authenticate rather than to evaluate (D12).
    public var maintainMayAsk = true
    /// The delays between temporary failures and the next evaluation (D19).
    public var retryDelays: [Duration] = [.seconds(10), .seconds(30), .seconds(60)]
    /// The number of temporary failures of one network within ``disconnectWindow`` after which the link is kept and nothing is started (strict form
    /// of D4).
    public var disconnectLimit = 3
    public var disconnectWindow: Duration = .seconds(600)
    /// The delays of the probes after a helper's success, until the command's time ends (D25).
    public var proofDelays: [Duration] = [0, 300, 700, 1500, 3000, 5000, 8000, 12000, 17000, 23000, 30000, 37000]
        .map(Duration.milliseconds)
    /// The delays of the probes after a logoff that the helper confirms, until the portal is back; empty for none, so that the helper's answer counts
    /// (D31).
    public var logoffDelays: [Duration] = [0, 300, 1000, 3000].map(Duration.milliseconds)
    /// The time in which an open network still counts as the success of a helper's login (D25).
    public var latePatience: Duration = .seconds(120)
    /// The delay of the first probe while a prompt, a paused login, a failure or a doubtful login waits; it doubles up to ``watchLongest`` (D21).
    public var watchFirst: Duration = .seconds(10)
    public var watchLongest: Duration = .seconds(60)
    /// The delay of the next probe of an unclaimed network; it doubles up to ``recheckLongest`` (D9).
    public var recheckFirst: Duration = .seconds(300)
    public var recheckLongest: Duration = .seconds(3600)
    /// The delay of the next probe of an unclaimed network without a verdict.
    public var retryFirst: Duration = .seconds(1)
    /// The time for which a network is held after a logoff or a dismissed prompt (D13).
    public var holdTime: Duration = .seconds(12 * 3600)
    /// The time that a link may take to end. After this time, the link counts as one that cannot be ended.
    public var leavePatience: Duration = .seconds(10)

    /// The shortest session that counts for D11 and D23: a minute. Like all times of D23, it is a fraction of ``maintainInterval`` (or of 300 s, if
    /// that is shorter), so that a shorter setting shortens all of them.
    public var shortStay: Duration { longStay / 5 }
    /// The length of a session after which the pauses of D23 start again.
    public var longStay: Duration { min(maintainInterval, .seconds(300)) }
    /// The pauses between a login's end and the next login, while each login follows within ``shortStay`` (D23): 10 s, 30 s, 1, 2 and then 5 minutes.
    /// A login that the user asks for does not wait. The first three pauses equal ``retryDelays``, so that D19's retries are not delayed.
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
