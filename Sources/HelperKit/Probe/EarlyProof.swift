import EventLoop
import HotspotCore

/// Checks whether a network is open while the answer to a login is still on its way, so that the proof is ready earlier (D25).
///
/// A gateway opens some milliseconds after the login reached it, and keeps older connections away from the Internet. So there are several checks,
/// each with its own connections, and only a check that finds the network open counts.
final class EarlyProof: Sendable {
    struct Looks {
        private(set) var running = 0
        /// Whether the proof itself has begun, so that no further check begins.
        var isOver = false
        private(set) var open: (result: ProbeResult, at: Instant)?
        var own: ProbeResult?

        /// Returns the result of a check that found the network open at most this many milliseconds ago.
        func proof(within lifetime: Int) -> ProbeResult? {
            open.flatMap { $0.at.millisecondsAgo < lifetime ? $0.result : nil }
        }

        mutating func begin() -> Bool {
            if isOver { return false }
            running += 1
            return true
        }

        mutating func end(_ result: ProbeResult) {
            running -= 1
            if Self.isProof(result), open == nil { open = (result, .now) }
        }

        static func isProof(_ result: ProbeResult) -> Bool { result.verdict == .online && result.problem == nil }
    }

    private let looks = Locked(Looks())
    private let lifetime: Int
    private let cancellation = Cancellation()
    /// The request with which each check of the network begins.
    private let asked: String
    private static let place = ", during the login"

    /// Begins to check. Does nothing if no thread is free.
    ///
    /// - Parameters: - delays: the milliseconds before each check of the network. - lifetime: the milliseconds for which a check that found the
    ///   network open counts as the proof. - asked: the request with which each check begins, in words. - trace: gets the requests of the checks,
    ///   except the requests of the check that becomes the proof, which are in the prober's answer.
    init(
        delays: [Int], lifetime: Int = 2000, asked: String = "", trace: Trace = Trace(),
        _ look: @escaping @Sendable (Scope) -> ProbeResult
    ) {
        (self.lifetime, self.asked) = (lifetime, asked)
        let scope = Scope(cancellation: cancellation, deadline: .after(milliseconds: VerdictTable.patience))
        for delay in delays {
            let (looks, place) = (looks, Self.place)
            Worker.startAside {
                guard scope.pause(milliseconds: delay), looks.with({ $0.begin() }) else { return }
                let own = Trace()
                let result = look(Scope(cancellation: scope.cancellation, deadline: scope.deadline, trace: own))
                let lines = own.lines.isEmpty ? ["\(asked) → answer not needed"] : own.lines
                if !Looks.isProof(result) { for line in lines { trace.add(line + place) } }
                looks.with { $0.end(result) }
            }
        }
    }

    deinit { cancellation.cancel() }

    /// The checks that have no answer yet, for the trace of a command that ends now.
    var underWay: [String] { Array(repeating: "\(asked) → no answer yet\(Self.place)", count: looks.with { $0.running }) }

    /// Whether a check has just found the network open.
    var isProven: Bool { looks.with { $0.proof(within: lifetime) != nil } }

    /// Returns the result of a check that finds the network open, otherwise the result of `proof`, which runs at the same time.
    func result(or proof: @escaping @Sendable (Scope) -> ProbeResult, in scope: Scope) -> ProbeResult {
        let (known, isLooking) = looks.with { looks in
            looks.isOver = true
            return (looks.proof(within: lifetime), looks.running > 0)
        }
        if let known { return known }
        guard isLooking else { return proof(scope) }
        let own = Cancellation()
        let handler = scope.cancellation.onCancel { own.cancel() }
        defer {
            scope.cancellation.removeHandler(handler)
            own.cancel()
            cancellation.cancel()
        }
        Worker.start { [looks] in
            let result = proof(Scope(cancellation: own, deadline: scope.deadline, trace: scope.trace))
            looks.with { $0.own = result }
        }
        // The wait is short even without an open network: `proof` returns at once when it is cancelled or overdue.
        return looks.wait(until: .after(milliseconds: 2 * VerdictTable.patience)) { $0.open?.result ?? $0.own }
            ?? ProbeResult(.limited, problem: "timeout")
    }
}
