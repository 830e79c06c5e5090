import HotspotCore

/// The latest verdict of a state.
package enum LatestVerdict: Hashable, Sendable {
    case awaited(RunningProbe)
    /// The verdict; `nil` if the prober is missing, died, or missed the deadline.
    case known(Verdict?, secondsRemaining: Int?)
}

/// The state of a repeated probe: one runs, or the next one waits for its time.
package enum ProbePhase: Hashable, Sendable {
    case probing(RunningProbe)
    case waiting(RunningTimer)

    var timer: RunningTimer? { if case .waiting(let timer) = self { timer } else { nil } }
}

/// The proof of a login. Gateways may open late, so several probes must fail before the login counts as failed (D25).
package struct Proof: Hashable, Sendable, StateData {
    let login: LoginID
    /// The time at which the helper reported success.
    let began: Instant
    /// The command's deadline. The last probe begins before it.
    let end: Instant
    /// The number of probes so far.
    package var probes = 1
    package var phase: ProbePhase
    let secondsRemaining: Int?

    /// Whether about 1.5 s have passed: most gateways have opened by then.
    var isDoubtful: Bool { probes > 3 }

    /// The deadlines of the session that is being proven.
    var schedule: MaintainSchedule { MaintainSchedule(secondsRemaining: secondsRemaining, at: began) }
}

/// Probes at growing intervals, because the network may open while the user works in a browser, or after some time (D9, D21).
package struct Watch: Hashable, Sendable, StateData {
    var interval: Duration
    package var phase: ProbePhase
}
