import HotspotCore

/// The evaluate race as a machine of its own: answers in, a decision out. T8 to T16, D7, D8 and D24, behaviours 33 to 45.
public struct Race: Hashable, Sendable {
    /// One candidate that was asked.
    public struct Entrant: Hashable, Sendable {
        /// Who.
        public let candidate: Candidate
        /// The question.
        public let command: CommandID
        /// What came back, and when; `nil` while it is awaited.
        public fileprivate(set) var answer: Response?
        /// Whatever it says, any claim of another goes before (D24).
        public let isLast: Bool
    }

    /// What an entrant said.
    public struct Response: Hashable, Sendable {
        /// How sure it is; a dead helper counts as none.
        public let confidence: Confidence
        /// When.
        public let at: Instant
    }

    /// What comes of it.
    public enum Decision: Hashable, Sendable {
        /// This helper frees the network.
        case winner(String)
        /// Nobody claims it.
        case nobody
    }

    /// All who were asked.
    public private(set) var entrants: [Entrant]

    /// A race that has just begun.
    public init(_ entrants: [(Candidate, CommandID)]) {
        self.entrants = entrants.map { Entrant(candidate: $0, command: $1, answer: nil, isLast: false) }
    }

    /// A race without entrants yet.
    init(capacity: Int) {
        entrants = []
        entrants.reserveCapacity(capacity)
    }

    /// Another one is asked. Numbers ascend.
    mutating func enter(_ candidate: Candidate, asked command: CommandID, isLast: Bool = false) {
        entrants.append(Entrant(candidate: candidate, command: command, answer: nil, isLast: isLast))
    }

    /// Takes an answer. Only the first of each entrant counts (D18); `false` for any other.
    public mutating func take(_ confidence: Confidence, for command: CommandID, at now: Instant) -> Bool {
        guard let index = entrants.firstIndex(where: { $0.command == command }), entrants[index].answer == nil else {
            return false
        }
        entrants[index].answer = Response(confidence: confidence, at: now)
        return true
    }

    /// Takes helpers that are gone out of the race, whatever they said before (T16); `false` if nobody was.
    public mutating func keep(where isThere: (String) -> Bool) -> Bool {
        let count = entrants.count
        entrants.removeAll { !isThere($0.candidate.name) }
        return entrants.count < count
    }

    /// Who has not answered.
    public var silent: [Entrant] { entrants.filter { $0.answer == nil } }

    /// What they were asked, in the order of the numbers.
    var silentCommands: [CommandID] {
        var commands: [CommandID] = []
        commands.reserveCapacity(entrants.count)
        for entrant in entrants where entrant.answer == nil { commands.append(entrant.command) }
        return commands
    }

    /// The silent entrant with this question.
    func silent(_ command: CommandID) -> Entrant? { entrants.first { $0.command == command && $0.answer == nil } }

    /// There is a claim, and none that ends the race: low, or high of one that comes last.
    public var hasLow: Bool { best.map { !$0.isDecisive } ?? false }

    /// Everybody is quarantined: nobody is waited for, so all of them get the grace.
    public var isQuarantinedWhole: Bool { !entrants.isEmpty && entrants.allSatisfy(\.candidate.isQuarantined) }

    /// The decision as soon as there is one: at the first high, or when everybody who is waited for has answered.
    public var decision: Decision? {
        if let best, best.isDecisive { return .winner(best.name) }
        // Who is silent and waited for; of a field that is quarantined whole, everybody.
        let isWhole = isQuarantinedWhole
        if entrants.contains(where: { $0.answer == nil && (isWhole || !$0.candidate.isQuarantined) }) { return nil }
        return decisionNow
    }

    /// The decision at a deadline: who is silent counts as none.
    public var decisionNow: Decision { best.map { .winner($0.name) } ?? .nobody }

    /// What set a winner apart from the others, for people.
    public func reason(for winner: String) -> String {
        guard let entrant = entrants.first(where: { $0.candidate.name == winner }), let answer = entrant.answer else {
            return "nobody else is left"
        }
        if entrant.isLast, entrants.count > 1 { return "though it failed before, for nobody else of \(entrants.count) claims it" }
        let field = entrants.count == 1 ? "the only helper asked" : "of \(entrants.count) asked"
        if answer.confidence == .high { return entrants.count == 1 ? "high, \(field)" : "the first high \(field)" }
        let lows = entrants.filter { $0.answer?.confidence == .low }
        if lows.count < 2 { return entrants.count == 1 ? "low, \(field)" : "the only claim, a low, \(field)" }
        let priority = entrant.candidate.priority
        let equal = lows.filter { $0.candidate.priority == priority }
        if equal.count == 1 { return "low, priority \(priority) is the highest of \(lows.count) lows" }
        let first = equal.allSatisfy { $0.candidate.name == winner || ($0.answer.map { $0.at > answer.at } ?? true) }
        return "low, \(first ? "the earliest" : "the first by name") of \(equal.count) lows with priority \(priority)"
    }

    /// The best claim: who does not come last; then confidence; then among highs the earliest, among lows the higher priority and then the earliest; then the
    /// name, so that equal times give equal outcomes in whatever order the answers were taken.
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
        if a.0.isLast != b.0.isLast { return b.0.isLast }
        let (first, firstAnswer) = (a.0.candidate, a.1)
        let (second, secondAnswer) = (b.0.candidate, b.1)
        if firstAnswer.confidence != secondAnswer.confidence { return firstAnswer.confidence > secondAnswer.confidence }
        if firstAnswer.confidence == .low, first.priority != second.priority { return first.priority > second.priority }
        if firstAnswer.at != secondAnswer.at { return firstAnswer.at < secondAnswer.at }
        return first.name < second.name
    }
}
