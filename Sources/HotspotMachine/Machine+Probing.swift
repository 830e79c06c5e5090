import HotspotCore

/// The probes in several states: the proof of a login, and the watch while a state waits.
extension Machine {
    mutating func startProbe(fresh: Bool, _ turn: inout Turn) -> RunningProbe {
        let id: ProbeID = issue()
        turn.act(.startProbe(id, fresh: fresh))
        return RunningProbe(id: id, deadline: startTimer(.probe, after: policy.commandTimeout, &turn))
    }

    // MARK: Proof (D25)

    mutating func startProof(of helper: String, until end: Instant, secondsRemaining: Int?, _ turn: inout Turn) -> Proof {
        // Start the probe before `awaitProof`, which waits for the disk.
        let probe = startProbe(fresh: true, &turn)
        if state.joined?.standing?.ground != .fresh {
            turn.act(.awaitProof(of: helper, until: turn.now + policy.latePatience))
        }
        return Proof(login: issue(), began: turn.now, end: end, phase: .probing(probe), secondsRemaining: secondsRemaining)
    }

    /// Begins the proof of a login; `next` makes the next state.
    mutating func prove(
        _ helper: String, until end: Instant, secondsRemaining: Int?, _ next: (Proof) -> MachineState, _ turn: inout Turn
    ) {
        state = next(startProof(of: helper, until: end, secondsRemaining: secondsRemaining, &turn))
        state.update { $0.trail.handleLast() }
    }

    enum ProofProgress {
        case continues(Proof)
        /// The network is not captive; the verdict is `nil` if there is no prober, so that the helper's answer counts.
        case proven(Verdict?, secondsRemaining: Int?)
        /// The network stayed captive.
        case refuted
    }

    /// Returns the effect of an event on a proof; `nil` for none.
    mutating func advance(_ proof: Proof, _ event: StateEvent, _ turn: inout Turn) -> ProofProgress? {
        switch event {
        case .probed(let verdict, let seconds):
            guard verdict == .captive else { return .proven(verdict, secondsRemaining: proof.secondsRemaining ?? seconds) }
            guard proof.probes < policy.proofDelays.count else { return .refuted }
            let next = max(turn.now, proof.began + policy.proofDelays[proof.probes])
            guard next < proof.end else { return .refuted }
            if next == turn.now { return .continues(probeAgain(proof, &turn)) }
            let timer = startTimer(.proof, at: next, &turn)
            return .continues(proof.with { $0.phase = .waiting(timer) })
        case .timerFired(let id): return id == proof.phase.timer?.id ? .continues(probeAgain(proof, &turn)) : nil
        case .verdictSeen(let verdict):
            return verdict.isOpen ? .proven(verdict, secondsRemaining: proof.secondsRemaining) : nil
        case .answered, .raceAnswered, .promptAnswered, .promptDismissed, .logoffRequested, .restEnded, .disassociationRefused:
            return nil
        }
    }

    /// Starts over if the network now leads to another portal than the one that asked the user or received the answers (D32). Returns whether it
    /// started over.
    mutating func leaveOtherPortal(_ verdict: Verdict?, _ turn: inout Turn) -> Bool {
        guard verdict == .captive, var joined = state.joined, joined.trail.leadsElsewhere else { return false }
        if let proof = state.proof, let helper = state.chosenHelper {
            keepUnproven(proof, of: helper, in: &joined, &turn)
        } else if !state.waitsForUser {
            return false
        }
        joined.pace = Pace()
        joined.temporaryFailures = 0
        evaluate(joined, "the network leads to another portal now", &turn)
        return true
    }

    enum LogoffProgress {
        case continues(Proof)
        /// The portal is back, or a probe did not find the network open.
        case confirmed
        /// The network stayed open.
        case refuted
    }

    /// Returns the effect of an event on the probes after a logoff (D31); `nil` for none.
    mutating func advanceLogoff(_ proof: Proof, _ event: StateEvent, _ turn: inout Turn) -> LogoffProgress? {
        switch event {
        case .probed(let verdict, _):
            guard verdict?.isOpen == true else { return .confirmed }
            guard proof.probes < policy.logoffDelays.count else { return .refuted }
            let next = max(turn.now, proof.began + policy.logoffDelays[proof.probes])
            let timer = startTimer(.proof, at: next, &turn)
            return .continues(proof.with { $0.phase = .waiting(timer) })
        case .timerFired(let id): return id == proof.phase.timer?.id ? .continues(probeAgain(proof, &turn)) : nil
        case .verdictSeen(let verdict): return verdict == .captive ? .confirmed : nil
        case .answered, .raceAnswered, .promptAnswered, .promptDismissed, .logoffRequested, .restEnded, .disassociationRefused:
            return nil
        }
    }

    private mutating func probeAgain(_ proof: Proof, _ turn: inout Turn) -> Proof {
        var next = proof
        next.probes += 1
        next.phase = .probing(startProbe(fresh: true, &turn))
        return next
    }

    /// Reports that a result is not proven, because only the helper's answer supports it.
    func reportUnproven(_ verdict: Verdict?, _ turn: inout Turn) {
        switch verdict {
        case nil: turn.act(.report(.proberMissing))
        case .limited: turn.act(.report(.limited))
        case .partial: turn.act(.report(.httpsBlocked))
        case .online, .captive: break
        }
    }

    // MARK: Watch (D21)

    mutating func startWatch(_ turn: inout Turn) -> Watch {
        Watch(interval: policy.watchFirst, phase: .waiting(startTimer(.watch, after: policy.watchFirst, &turn)))
    }

    enum WatchProgress {
        case continues(Watch)
        /// The network is open.
        case opened(secondsRemaining: Int?)
    }

    /// Returns the effect of an event on a watch; `nil` for none.
    mutating func advance(_ watch: Watch, _ event: StateEvent, _ turn: inout Turn) -> WatchProgress? {
        switch event {
        case .timerFired(let id):
            guard id == watch.phase.timer?.id else { return nil }
            let probe = startProbe(fresh: true, &turn)
            return .continues(watch.with { $0.phase = .probing(probe) })
        case .probed(let verdict, let seconds):
            return verdict?.isOpen == true ? .opened(secondsRemaining: seconds) : .continues(pause(watch, &turn))
        case .verdictSeen(let verdict): return verdict.isOpen ? .opened(secondsRemaining: nil) : nil
        case .answered, .raceAnswered, .promptAnswered, .promptDismissed, .logoffRequested, .restEnded, .disassociationRefused:
            return nil
        }
    }

    /// Returns the watch, waiting for its next probe. While a login may still open the network late, the pauses do not grow (D25).
    mutating func pause(_ watch: Watch, _ turn: inout Turn) -> Watch {
        let growth = state.joined?.standing?.end == nil ? 2 : 1
        let interval = min(watch.interval * growth, policy.watchLongest)
        return Watch(interval: interval, phase: .waiting(startTimer(.watch, after: interval, &turn)))
    }
}

extension Problem {
    static let proberMissing = Problem(
        .proberMissing, "There is no prober to prove the login, so hotspotd relies on the helper.",
        hint: "check [Probe] Exec= in the settings")
    static let proberSilent = Problem(
        .proberMissing, "The prober does not answer, so hotspotd assumes that the last portal is still there.",
        hint: "hotspotctl check")
    static let limited = Problem(
        .internetLimited, "The Internet does not answer, and there is no portal.", hint: "hotspotctl check")
    public static let httpsBlocked = Problem(.httpsBlocked, "Plain HTTP reaches the Internet, but HTTPS does not.")
}
