import HotspotCore

/// The prober's part in several states: the proof of a login, and looks while something waits.
extension Machine {
    /// The prober's word, recorded here for all states. A question whose deadline has come counts as answered with `nil`, whether
    /// the loop serves its timer first or a verdict of that very instant.
    mutating func hear(_ event: Event, at now: Instant) -> Event {
        let probing = state.probing
        var heard = event
        switch event {
        case .verdictReached(let id, _, _) where id == probing?.id:
            if let probing, now >= probing.deadline.at { heard = .verdictReached(id, nil) }
        case .timerFired(let id) where id == probing?.deadline.id:
            if let probing { heard = .verdictReached(probing.id, nil) }
        case .verdictSeen: break
        default: return event
        }
        switch heard {
        case .verdictReached(_, let verdict, _): state.update { $0.lastVerdict = verdict }
        case .verdictSeen(let verdict): state.update { $0.lastVerdict = verdict }
        default: break
        }
        return heard
    }

    // MARK: Proof (D20)

    mutating func startProof(secondsRemaining: Int?, _ turn: inout Turn) -> Proof {
        Proof(
            began: turn.now, asked: 1, phase: .looking(startProbe(fresh: true, &turn)), secondsRemaining: secondsRemaining)
    }

    enum ProofStep {
        /// Not this proof's business.
        case none
        case goesOn(Proof)
        /// Not captive any more; `nil` if there is no prober, and the helper's word counts.
        case proven(Verdict?, secondsRemaining: Int?)
        /// Captive to the last.
        case refuted
    }

    mutating func advance(_ proof: Proof, _ event: Event, _ turn: inout Turn) -> ProofStep {
        var proof = proof
        switch (event, proof.phase) {
        case (.verdictReached(let id, let verdict, let seconds), .looking(let probing)) where probing.id == id:
            guard verdict == .captive else { return .proven(verdict, secondsRemaining: proof.secondsRemaining ?? seconds) }
            guard proof.asked < policy.proofDelays.count else { return .refuted }
            let next = proof.began + policy.proofDelays[proof.asked]
            if next <= turn.now { return .goesOn(look(&proof, &turn)) }
            proof.phase = .waiting(startTimer(.proof, at: next, &turn))
            return .goesOn(proof)
        case (.timerFired(let id), .waiting(let deadline)) where deadline.id == id:
            return .goesOn(look(&proof, &turn))
        default: return .none
        }
    }

    private mutating func look(_ proof: inout Proof, _ turn: inout Turn) -> Proof {
        proof.asked += 1
        proof.phase = .looking(startProbe(fresh: true, &turn))
        return proof
    }

    /// What is said when the word of a helper had to do.
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

    enum WatchStep {
        case none
        case goesOn(Watch)
        /// The Internet is there.
        case opened(secondsRemaining: Int?)
    }

    mutating func advance(_ watch: Watch, _ event: Event, _ turn: inout Turn) -> WatchStep {
        var watch = watch
        switch (event, watch.phase) {
        case (.timerFired(let id), .waiting(let deadline)) where deadline.id == id:
            watch.phase = .looking(startProbe(fresh: true, &turn))
            return .goesOn(watch)
        case (.verdictReached(let id, let verdict, let seconds), .looking(let probing)) where probing.id == id:
            if verdict?.isOpen == true { return .opened(secondsRemaining: seconds) }
            return .goesOn(waitLonger(&watch, &turn))
        case (.verdictSeen(let verdict), _) where verdict.isOpen: return .opened(secondsRemaining: nil)
        default: return .none
        }
    }

    private mutating func waitLonger(_ watch: inout Watch, _ turn: inout Turn) -> Watch {
        watch.interval = min(watch.interval * 2, policy.watchLongest)
        watch.phase = .waiting(startTimer(.watch, after: watch.interval, &turn))
        return watch
    }
}

extension Problem {
    static let proberMissing = Problem(
        .proberMissing, "There is no prober to prove the login; the helper's word is taken.",
        hint: "check [Probe] Exec= in the settings")
    static let limited = Problem(
        .internetLimited, "No portal answers, and the Internet does not either.", hint: "hotspotctl check")
    static let httpsBlocked = Problem(.httpsBlocked, "Plain HTTP reaches the Internet, HTTPS does not.")
}
