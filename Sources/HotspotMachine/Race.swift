import HotspotCore

/// The race of all helpers as a separate machine: takes answers and returns a decision (T8 to T16, D7, D8 and D24, behaviours 33 to 45).
public struct Race: Hashable, Sendable {
    /// One candidate that was asked.
    public struct Entrant: Hashable, Sendable {
        public let candidate: Candidate
        public let command: CommandID
        /// The answer; `nil` until it comes.
        public fileprivate(set) var answer: Response?
        /// Whether this entrant's claim comes after all other claims (D24).
        public let isLast: Bool
        /// Claims of a lower rank come first.
        fileprivate var rank: Int { candidate.isLastResort ? 2 : isLast ? 1 : 0 }
    }

    public struct Response: Hashable, Sendable {
        /// The confidence; `none` for a helper that crashed.
        public let confidence: Confidence
        public let at: Instant
    }

    public private(set) var entrants: [Entrant]
    /// The reason why an entrant was never asked: its process could not be started for lack of resources.
    var lack: String?

    public init(_ entrants: [(Candidate, CommandID)]) {
        self.entrants = entrants.map { Entrant(candidate: $0, command: $1, answer: nil, isLast: false) }
    }

    init(capacity: Int) {
        entrants = []
        entrants.reserveCapacity(capacity)
    }

    /// Adds an entrant. The numbers of the commands must ascend.
    mutating func enter(_ candidate: Candidate, asked command: CommandID, isLast: Bool = false) {
        entrants.append(Entrant(candidate: candidate, command: command, answer: nil, isLast: isLast))
    }

    /// Records an answer. Only an entrant's first answer counts (D18); returns `false` for any other answer.
    public mutating func record(_ confidence: Confidence, for command: CommandID, at now: Instant) -> Bool {
        guard let index = entrants.firstIndex(where: { $0.command == command }), entrants[index].answer == nil else {
            return false
        }
        entrants[index].answer = Response(confidence: confidence, at: now)
        return true
    }

    /// Removes helpers by name, whatever they answered before (T16); returns whether there were any.
    public mutating func removeAll(where isGone: (String) -> Bool) -> Bool {
        let count = entrants.count
        entrants.removeAll { isGone($0.candidate.name) }
        return entrants.count < count
    }

    /// The entrants without an answer.
    public var silent: [Entrant] { entrants.filter { $0.answer == nil } }

    /// The commands without an answer, in the order of their numbers.
    var silentCommands: [CommandID] {
        var commands: [CommandID] = []
        commands.reserveCapacity(entrants.count)
        for entrant in entrants where entrant.answer == nil { commands.append(entrant.command) }
        return commands
    }

    /// Returns the entrant with this command, if it is unanswered.
    func silent(_ command: CommandID) -> Entrant? { entrants.first { $0.command == command && $0.answer == nil } }

    /// Whether there is a claim that does not end the race: a low claim, or a high claim of an entrant that comes last.
    public var hasOpenClaim: Bool { best.map { !$0.isDecisive } ?? false }

    /// Whether all entrants are quarantined. The race then waits for all of them, but only for the grace time.
    public var isQuarantinedWhole: Bool { !entrants.isEmpty && entrants.allSatisfy(\.candidate.isQuarantined) }

    /// The decision, once there is one: at the first high claim, or when all entrants that the race waits for have answered.
    public var decision: RaceDecision? {
        if let best, best.isDecisive { return .winner(best.name) }
        let waitsForAll = isQuarantinedWhole
        if entrants.contains(where: { $0.answer == nil && (waitsForAll || !$0.candidate.isQuarantined) }) { return nil }
        return decisionNow
    }

    /// The decision at a deadline: a helper that has not answered does not claim the network.
    public var decisionNow: RaceDecision { best.map { .winner($0.name) } ?? .noWinner }

    /// Returns the reason why the winner won, for people.
    public func reason(for winner: String) -> String {
        guard let entrant = entrants.first(where: { $0.candidate.name == winner }), let answer = entrant.answer else {
            return "there is no other helper"
        }
        if entrant.isLast, entrants.count > 1 {
            let others = entrants.filter { $0.candidate.name != winner && ($0.answer?.confidence ?? .none) != .none }
            if others.isEmpty { return "although it failed before, because no other helper claims the network" }
            return others.allSatisfy(\.candidate.isLastResort)
                ? "although it failed before, because the others claim the network only as a last resort"
                : "although it failed before, because all others that claim the network failed too"
        }
        let field = entrants.count == 1 ? "the only helper asked" : "of the \(entrants.count) helpers asked"
        if answer.confidence == .high { return entrants.count == 1 ? field : "the first sure claim \(field)" }
        let lows = entrants.filter { $0.answer?.confidence == .low }
        if lows.count < 2 { return entrants.count == 1 ? field : "the only claim \(field)" }
        let priority = entrant.candidate.priority
        let equal = lows.filter { $0.candidate.priority == priority }
        if equal.count == 1 {
            return "its priority \(priority) is the highest of the \(lows.count) helpers that claim the network"
        }
        let first = equal.allSatisfy { $0.candidate.name == winner || ($0.answer.map { $0.at > answer.at } ?? true) }
        return "\(first ? "the earliest" : "the first by name") of \(equal.count) with priority \(priority) that claim it"
    }

    /// The best claim. The order is: rank (ordinary, comes last, last resort), then confidence; then the earliest among high claims, and priority
    /// before the earliest among low ones; then the name. So equal times give the same winner, in whatever order they were recorded.
    private var best: (name: String, isDecisive: Bool)? {
        var winner: (entrant: Entrant, answer: Response)?
        for entrant in entrants {
            guard let answer = entrant.answer, answer.confidence != .none else { continue }
            if let best = winner, !Self.beats((entrant, answer), best) { continue }
            winner = (entrant, answer)
        }
        return winner.map { ($0.entrant.candidate.name, $0.answer.confidence == .high && !$0.entrant.isLast) }
    }

    private static func beats(_ a: (Entrant, Response), _ b: (Entrant, Response)) -> Bool {
        if a.0.rank != b.0.rank { return a.0.rank < b.0.rank }
        let (first, firstAnswer) = (a.0.candidate, a.1)
        let (second, secondAnswer) = (b.0.candidate, b.1)
        if firstAnswer.confidence != secondAnswer.confidence { return firstAnswer.confidence > secondAnswer.confidence }
        if firstAnswer.confidence == .low, first.priority != second.priority { return first.priority > second.priority }
        if firstAnswer.at != secondAnswer.at { return firstAnswer.at < secondAnswer.at }
        return first.name < second.name
    }
}

public enum RaceDecision: Hashable, Sendable {
    case winner(String)
    /// No helper claims the network.
    case noWinner
}
