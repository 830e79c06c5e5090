import ControlServer
import EventLoop
import ForeignText
import HelperHost
import HotspotCore
import HotspotMachine
import Varlink

/// Commands to helpers, and what comes back.
extension InterfaceController {
    func send(_ id: CommandID, _ command: Command, to helper: String, _ justJoined: Bool) {
        guard let joined, let link = link() else { return }
        let network = joined.network(
            for: helper, chosen: machine.state.chosenHelper ?? chosen(command, helper), interface: name,
            autoJoined: machine.state.joined?.arrival.autoJoined ?? true, justJoined: justJoined)
        var parameters: [String: JSONValue] = ["network": Coding.value(network), "link": Coding.value(link)]
        switch command {
        case .filterScanList, .evaluate: break
        case .maintain, .logoff:
            named = nil
            if let session = session(of: helper) { parameters["session"] = Coding.value(session) }
        case .authenticate, .presentUI:
            if command == .authenticate, let found = evaluations.removeValue(forKey: helper) {
                named = found.portal
                portal = found.portal ?? portal
                if let session = found.session { keep(session, of: helper) }
            }
            if let named { parameters["portal"] = Coding.value(named) }
            if let session = session(of: helper) { parameters["session"] = Coding.value(session) }
            if let credential = releasedCredential(for: helper) { parameters["credential"] = Coding.value(credential) }
            parameters["consent"] = .bool(hasConsent(to: helper))
            if command == .presentUI { parameters["answers"] = Coding.value(answers?.values ?? [:]) }
        }
        secrets[helper, default: []].formUnion(JSONValue.object(parameters).secrets)
        let known = KnownWords(
            asked: answers?.helper == helper ? answers?.fields ?? [] : [], parameters: .object(parameters),
            shown: portal?.origin)
        if command != .evaluate { attempt?.helper = helper }
        record("command", Disclosure.words(for: command, parameters), helper: helper)
        if command == .evaluate { told.append(helper) }
        let call = services.host.send(command, to: helper, parameters: .object(parameters)) { [weak self] outcome in
            guard let self, let sent = commands.removeValue(forKey: id) else { return }
            // Its process may still be there, and has nothing left to do once the race is decided.
            if command == .evaluate { answered.append(sent) }
            let secrets = Secrets(services.host.secrets(givenTo: helper).union(secrets[helper] ?? []))
            received(outcome.presentable(without: secrets, known: known, of: helper), id, command, helper)
        }
        let attempt = attempt
        call.onIgnored = { [weak self] count in
            self?.record("ignored", "\(command): \(count) too late or too often; nothing changed", helper: helper, in: attempt)
        }
        commands[id] = SentCommand(call: call, command: command, helper: helper)
    }

    /// Who lost the race is ended, also if it has answered and is still there. What it found is nobody's any more.
    func endLosers() {
        guard machine.state.name != .evaluating else { return }
        if !evaluations.isEmpty { evaluations = evaluations.filter { $0.key == machine.state.chosenHelper } }
        guard !answered.isEmpty else { return }
        let losers = answered.filter { $0.helper != machine.state.chosenHelper }
        answered = []
        for loser in losers { loser.call.cancel() }
    }

    /// The race tells many helpers the same: that is one step of the journal.
    func recordDisclosures() {
        guard !told.isEmpty, let joined else { return told = [] }
        let who = "\(told.count) helper\(told.count == 1 ? "" : "s"): \(told.joined(separator: ", "))"
        told = []
        let what = "\(joined.label), addresses, gateways, resolvers\(joined.facts.portalAPI == nil ? "" : ", the portal's API")"
        record("disclosed", "\(what) to \(who)")
    }

    /// A command of a state with a chosen helper is sent in the turn that enters the state.
    private func chosen(_ command: Command, _ helper: String) -> String? {
        switch command {
        case .filterScanList, .evaluate: nil
        case .authenticate, .presentUI, .maintain, .logoff: helper
        }
    }

    private func received(_ outcome: HelperOutcome, _ id: CommandID, _ command: Command, _ helper: String) {
        let evaluates = command == .evaluate
        switch outcome {
        case .evaluation(let evaluation):
            evaluations[helper] = Found(evaluation)
            let found = evaluation.portal.map { ", \($0.kind) at \(Printable.text($0.origin, limit: 300))" } ?? ""
            record("answer", "\(evaluation.confidence.rawValue)\(found)\(said(evaluation.reason))", helper: helper)
            feed(.answered(id, .evaluated(evaluation.confidence)))
        case .reply(let reply):
            take(reply, from: helper)
            attempt?.lastWord = reply.result == .success ? nil : reply.reason.map { Printable.text($0, limit: 500) }
            record("answer", "\(reply.result.rawValue)\(said(reply.reason))", helper: helper)
            feed(
                .answered(
                    id,
                    .replied(
                        reply.result, prompt: reply.prompt, secondsRemaining: reply.session?.secondsRemaining,
                        reason: reply.reason.map { Printable.text($0, limit: 500) })))
        case .notRecognized:
            record("answer", "does not know \(command)", helper: helper)
            feed(.answered(id, evaluates ? .evaluated(.none) : .replied(.commandNotRecognized)))
        case .annotations, .value: feed(.answered(id, .garbled(reason: nil)))
        case .failed(let fault):
            record("problem", fault.sentence, helper: helper)
            if let wrote = fault.standardError { recordTrace("standard error: …\(wrote.suffix(2000))", helper: helper) }
            switch (evaluates, fault.isLackOfRoom) {
            case (true, _): break
            case (false, true): attempt?.obstacle = fault.sentence
            case (false, false): attempt?.lastWord = fault.sentence
            }
            services.log.warning(
                "\(name): \(helper): \(fault.sentence)\(fault.standardError.map { "; it wrote: \($0.suffix(500))" } ?? "")")
            // It had no part in it, so that nothing is held against it.
            if fault.isLackOfRoom {
                feed(.answered(id, .notStarted(reason: fault.sentence)))
                return report(fault.problem)
            }
            services.blame(helper, fault.problem)
            // In the race, garbage is no answer at all: it earns a strike as a crash does (D7). Elsewhere what came in time and is no
            // answer of the contract fails the command, without a strike, and it is never a good answer.
            if fault.isCrash || (evaluates && fault.isGarbage) { return feed(.answered(id, .crashed)) }
            feed(.answered(id, .garbled(reason: fault.sentence)))
            report(fault.problem)
        }
    }

    private func said(_ reason: String?) -> String { reason.map { ": " + Printable.text($0, limit: 500) } ?? "" }

    private func session(of helper: String) -> Session? { sessionOwner == helper ? session : nil }

    private func keep(_ session: Session, of helper: String) {
        var session = session
        if let memory = session.memory, Coding.encode(memory).count > Session.memoryLimit {
            session.memory = nil
            report(Problem(.memoryTooLarge, "\(helper) wants to keep more than 16 KiB; it was dropped."))
        }
        self.session = session
        sessionOwner = helper
    }

    private func take(_ reply: Reply, from helper: String) {
        named = reply.portal
        portal = reply.portal ?? portal
        if let session = reply.session {
            keep(session, of: helper)
            sessionEnd = session.secondsRemaining.flatMap { $0 >= 0 ? EventLoop.now + .seconds(min($0, 315_360_000)) : nil }
        }
        for line in reply.trace ?? [] { recordTrace(Printable.text(line, limit: 500), helper: helper) }
    }
}
