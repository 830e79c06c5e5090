import Answers
import EventLoop
import ForeignText
import HelperHost
import HotspotCore
import HotspotMachine
import Varlink

/// The commands of one interface to its helpers: running commands, the secrets sent with them, and the answers.
@LoopActor final class HelperCommands {
    private let services: Services
    private let journal: Journal
    private let desk: AnswerDesk
    private let sessions: SessionKeeper
    private let problems: ProblemList
    private(set) var inFlight: [CommandID: SentCommand] = [:]
    /// Evaluate commands that were answered; their processes may still run.
    private var answeredEvaluations: [SentCommand] = []
    /// The answers of the helpers that claim the network in the race; with Authenticate, the winner gets its own portal and session back.
    private(set) var evaluations: [String: Evaluation] = [:]
    /// The network and the link of the last command, with their JSON. In a race, all helpers get the same JSON in one turn of the loop; encoding it
    /// for each of 200 helpers took most of that turn.
    private var told: (network: Network, link: Link, values: [String: JSONValue])?
    /// The helpers that were sent Evaluate in this turn, until the journal has them.
    private var asked: [String] = []
    /// The secrets that each helper was sent in this association: answers and credentials. They are masked in all words of that helper. Do not mask
    /// them in another helper's words: it could guess secrets, and the journal would show which guess was right.
    private(set) var secretsSent: [String: Set<String>] = [:]
    /// The titles of the questions that were answered in this association, by helper.
    private var titles: [String: String] = [:]
    /// The portal that people see: the last one that a helper or the prober named.
    private(set) var shownPortal: Portal?
    /// The portal in the answer directly before the next command. Only this portal decides which credential is released (D6).
    private(set) var askingPortal: Portal?
    /// Called when a helper answered, or failed to answer.
    var onAnswer: (_ id: CommandID, _ answer: CommandAnswer) -> Void = { _, _ in }

    init(services: Services, journal: Journal, desk: AnswerDesk, sessions: SessionKeeper, problems: ProblemList) {
        self.services = services
        self.journal = journal
        self.desk = desk
        self.sessions = sessions
        self.problems = problems
    }

    // MARK: The association

    func begin(remembered portal: Portal?) { shownPortal = portal }

    /// Forgets everything that belongs to the network.
    func end() {
        (shownPortal, askingPortal, secretsSent, evaluations, told) = (nil, nil, [:], [:], nil)
        titles = [:]
    }

    /// Shows the portal that the prober found, unless a helper has named one.
    func showPortal(at origin: String) {
        if shownPortal == nil { shownPortal = Portal(origin: origin, kind: "unknown") }
    }

    // MARK: Commands

    /// Sends a command to a helper.
    ///
    /// - Parameters:
    ///   - joined: the network of the command.
    ///   - network: the part of the network's description that this helper may see.
    func send(_ id: CommandID, _ command: Command, to helper: String, about joined: Joined, _ network: Network, on link: Link) {
        let sheet = desk.answers.sheet(for: helper)
        if let sheet { titles[helper] = sheet.prompt.title }
        let parameters = JSONValue.object(parameters(of: command, for: helper, joined.network, network, link))
        secretsSent[helper, default: []].formUnion(parameters.secrets)
        let known = KnownWords(
            asked: sheet?.fields ?? [], parameters: parameters, earlier: sheet?.all ?? [:],
            shown: shownPortal?.origin, title: titles[helper])
        if command == .evaluate {
            asked.append(helper)
        } else {
            journal.note { $0.helper = helper }
        }
        journal.record("command", CommandWords.text(for: command, parameters.object ?? [:]), helper: helper)
        let call = services.host.send(command, to: helper, parameters: parameters) { [weak self] outcome in
            guard let self, let sent = inFlight.removeValue(forKey: id) else { return }
            // Keep the command, because its process may still run and must end once the race is decided.
            if command == .evaluate { answeredEvaluations.append(sent) }
            let secrets = Secrets(services.host.secrets(givenTo: helper).union(secretsSent[helper] ?? []))
            receive(outcome.presentable(without: secrets, known: known, of: helper), id, command, helper, joined.network)
        }
        let attempt = journal.attempt
        call.onIgnored = { [weak self] count in
            self?.journal.record(
                "ignored", "\(command): ignored \(count) late or repeated answers", helper: helper, in: attempt)
        }
        inFlight[id] = SentCommand(call: call, command: command, helper: helper)
    }

    private func parameters(
        of command: Command, for helper: String, _ id: NetworkID, _ network: Network, _ link: Link
    ) -> [String: JSONValue] {
        if told?.network != network || told?.link != link {
            told = (network, link, ["network": Coding.value(network), "link": Coding.value(link)])
        }
        var parameters = told?.values ?? [:]
        switch command {
        case .filterScanList, .evaluate: break
        case .maintain, .logoff:
            askingPortal = nil
            if let session = sessions.session(of: helper) { parameters["session"] = Coding.value(session) }
        case .authenticate, .presentUI:
            if command == .authenticate, let evaluation = evaluations.removeValue(forKey: helper) {
                setPortal(evaluation.portal)
                if let session = evaluation.session { sessions.setPresent(session, of: helper) }
            }
            sessions.bringBack(for: id, of: helper)
            let session = sessions.session(of: helper)
            if let session { parameters["session"] = Coding.value(session) }
            let context = desk.context(for: helper, in: id, at: askingPortal, hasMemory: session?.memory != nil)
            if command == .authenticate { desk.feed(.loginBegan, context) }
            if let askingPortal { parameters["portal"] = Coding.value(askingPortal) }
            if let released = desk.released(context) {
                parameters["credential"] = Coding.value(released.values)
                if !released.labels.isEmpty { parameters["labels"] = Coding.value(released.labels) }
            } else if command == .authenticate, let names = context.available?.fieldNames, !names.isEmpty {
                parameters["offered"] = Coding.value(names)
            }
            parameters["consent"] = .bool(context.hasConsent)
            if command == .presentUI {
                let sheet = desk.answers.sheet(for: helper)
                parameters["answers"] = Coding.value(sheet?.open ?? [:])
                if let confirmed = sheet?.confirmedNames, !confirmed.isEmpty {
                    parameters["stored"] = Coding.value(confirmed)
                }
            }
        }
        return parameters
    }

    /// Cancels a command. The actions of the same turn show whether its helper missed the deadline.
    func cancel(_ id: CommandID, in turn: [Action]) {
        guard let sent = inFlight.removeValue(forKey: id) else { return }
        sent.call.cancel()
        guard turn.contains(.strike(helper: sent.helper, .silence)) else {
            return journal.record("withdrawn", "\(sent.command): the answer is no longer needed", helper: sent.helper)
        }
        journal.record("deadline", "\(sent.command): no answer in time", helper: sent.helper)
        if sent.command != .evaluate { journal.note { $0.obstacle = "It did not answer in time" } }
    }

    /// Ends the turn of one event: once the race is decided, ends the helpers that lost it; records which helpers were asked.
    func endTurn(in state: MachineState, of joined: Joined?) {
        if state.name != .evaluating {
            evaluations = evaluations.filter { $0.key == state.chosenHelper }
            let losers = answeredEvaluations.filter { $0.helper != state.chosenHelper }
            answeredEvaluations = []
            for loser in losers { loser.call.cancel() }
        }
        defer { asked = [] }
        guard !asked.isEmpty, let joined else { return }
        let helpers = "\(asked.count) helper\(asked.count == 1 ? "" : "s"): \(asked.joined(separator: ", "))"
        let facts = "addresses, gateways, resolvers\(joined.facts.portalAPI == nil ? "" : ", the portal's API")"
        journal.record("disclosed", "\(joined.label), \(facts) to \(helpers)")
    }

    // MARK: Answers

    private func receive(
        _ outcome: HelperOutcome, _ id: CommandID, _ command: Command, _ helper: String, _ network: NetworkID
    ) {
        switch outcome {
        case .evaluation(let evaluation):
            evaluations[helper] = evaluation.confidence == .none ? nil : evaluation
            let portal = evaluation.portal.map { ", \($0.kind) at \(Printable.text($0.origin, limit: 300))" } ?? ""
            journal.record(
                "answer", "\(evaluation.confidence.rawValue)\(portal)\(Self.suffix(evaluation.reason))", helper: helper)
            onAnswer(id, .evaluated(evaluation.confidence))
        case .reply(let reply):
            keep(reply, to: command, of: helper)
            let isLogin = reply.result == .success && (command == .authenticate || command == .presentUI)
            desk.feed(.replied(reply, to: command), desk.context(for: helper, in: network, at: askingPortal))
            let isNeedless = isLogin && desk.answers.sheet(for: helper)?.isUnsent == true
            let hasSentNothing = isLogin && reply.unsent?.isEmpty == true
            let reason = reply.reason.map { Printable.text($0, limit: 500) }
            // Stored answers count as answers, even if they were sent without a question.
            let wasAnswered = command == .presentUI || (command == .authenticate && desk.answers.released != nil)
            let refusal = wasAnswered ? reply.prompt?.message.map { Printable.text($0, limit: 500) } : nil
            journal.note { attempt in
                // Keep the helper's words: they are shown if its success cannot be proven.
                (attempt.lastWord, attempt.obstacle) = (reason, nil)
                attempt.refusal = refusal
                // Answers sent earlier in this attempt count as well: the page after them may have needed a browser.
                (attempt.isNeedless, attempt.hasSentNothing) = (isNeedless, hasSentNothing && !attempt.hasAnswered)
                if wasAnswered { attempt.hasAnswered = true }
                if isLogin { attempt.hasLoggedIn = true }
            }
            journal.record("answer", "\(reply.result.rawValue)\(Self.suffix(reply.reason ?? refusal))", helper: helper)
            onAnswer(
                id,
                .replied(
                    reply.result, prompt: reply.prompt, secondsRemaining: reply.session?.secondsRemaining,
                    maintainAfter: reply.session?.maintainAfter, reason: reason))
        case .notRecognized:
            journal.record("answer", "does not know \(command)", helper: helper)
            onAnswer(id, command == .evaluate ? .evaluated(.none) : .replied(.commandNotRecognized))
        case .annotations, .value: onAnswer(id, .garbled(reason: nil))
        case .failed(let fault): fail(fault, id, command, helper)
        }
    }

    private func fail(_ fault: HelperFault, _ id: CommandID, _ command: Command, _ helper: String) {
        let evaluates = command == .evaluate
        journal.record("problem", fault.sentence, helper: helper)
        if let wrote = fault.standardError { journal.recordTrace("standard error: …\(wrote.suffix(2000))", helper: helper) }
        services.log.warning(
            "\(journal.interface): \(helper): \(QuotedProblem.line(fault.sentence))\(fault.standardError.map { "; it wrote: \($0.suffix(500))" } ?? "")"
        )
        // Do not blame the helper, because it was never asked.
        if fault.isLackOfRoom {
            if !evaluates { journal.note { $0.obstacle = fault.sentence } }
            onAnswer(id, .notStarted(reason: fault.sentence))
            return problems.report(fault.problem)
        }
        if !evaluates { journal.note { $0.lastWord = fault.sentence } }
        services.blame(helper, fault.problem)
        // In the race, an unreadable answer counts as a crash: it is no claim, and earns a strike (D7). Elsewhere, an answer that breaks the contract
        // fails the command; it neither earns a strike nor forgives earlier ones.
        if fault.isCrash || (evaluates && fault.isGarbage) { return onAnswer(id, .crashed) }
        onAnswer(id, .garbled(reason: fault.sentence))
        problems.report(fault.problem)
    }

    private func keep(_ reply: Reply, to command: Command, of helper: String) {
        setPortal(reply.portal)
        let isSuccess = reply.result == .success
        if command == .logoff, isSuccess {
            sessions.setRemains(reply.session, of: helper)
        } else if let session = reply.session {
            sessions.setPresent(session, of: helper)
            // Keep the known end: a helper that could not check the session only returns the session that it was given.
            if command == .maintain, !isSuccess || session.secondsRemaining == nil {
                sessions.goOn()
            } else {
                sessions.setEnd(in: session.secondsRemaining)
            }
        }
        for line in reply.trace ?? [] { journal.recordTrace(Printable.text(line, limit: 500), helper: helper) }
    }

    private func setPortal(_ portal: Portal?) {
        askingPortal = portal
        shownPortal = portal ?? shownPortal
    }

    private static func suffix(_ reason: String?) -> String { reason.map { ": " + Printable.text($0, limit: 500) } ?? "" }
}

/// A command that runs.
struct SentCommand {
    let call: HelperCall
    let command: Command
    let helper: String
}

/// The journal's words for a command and for the data that its helper receives.
enum CommandWords {
    /// Returns the text of a command for the journal. Of credentials and answers, it contains only the names of the fields.
    static func text(for command: Command, _ parameters: [String: JSONValue]) -> String {
        var words: [String] = []
        if parameters["network"]?["justJoined"] == true { words.append("just joined") }
        if let portal = parameters["portal"], let origin = portal["origin"]?.string {
            words.append("for \(Printable.text(origin, limit: 300))")
        }
        for (key, name) in [("credential", "credential"), ("answers", "answers")] {
            guard let fields = parameters[key]?.object, !fields.isEmpty else { continue }
            let names = fields.keys.sorted().prefix(16).map { Printable.text($0, limit: 64) }
            words.append("\(name) \(names.joined(separator: ", ")) (masked)")
        }
        if parameters["consent"] == true { words.append("with consent") }
        if parameters["session"] != nil { words.append("with the session's memory") }
        return command.description + (words.isEmpty ? "" : ": " + words.joined(separator: "; "))
    }
}
