import HelperKit
import HotspotCore

/// The one loop that logs in, by forms, portal files and WISPr. ``LoginSteps`` decide, and a ``LoginCarrier`` sends; the driver handles terms of use,
/// late opening, changed keys, the session's memory and the reply.
package struct LoginDriver<Steps: LoginSteps, Carrier: LoginCarrier> {
    /// Adds the data of one way to log in to the driver's reply and memory, after the last move.
    package typealias Finish = (Steps, LoginMove, inout Reply, inout SessionMemory) -> Void

    private let command: HelperCommand
    private let isTypedNow: Bool
    private var steps: Steps
    /// The steps before the last move.
    private var before: Steps
    private var carrier: Carrier
    private var memory: SessionMemory
    private var terms: AcceptedTerms
    /// Whether the user had accepted the terms before the last move.
    private var hadConsent = false
    /// Whether the answers of a form were held back.
    private var wasHeldBack = false
    /// Whether the key of the last form's target has changed, so that nothing was sent to the target.
    private var hasChangedKey = false
    /// Checks whether the network is open.
    package var isOpen: () -> Bool
    /// Waits this number of seconds; `false` if the command's time is over.
    package var pause: (Int) -> Bool

    /// - Parameter isTypedNow: whether the user has just typed the command's answers, as in PresentUI.
    package init(_ command: HelperCommand, _ steps: Steps, by carrier: Carrier, isTypedNow: Bool) {
        (self.command, self.steps, self.carrier, self.isTypedNow) = (command, steps, carrier, isTypedNow)
        before = steps
        (isOpen, pause) = (command.isOpen, command.pause)
        memory = SessionMemory(command.session)
        terms = AcceptedTerms(memory, isTypedNow: isTypedNow)
        // Forgets the answered question, because the steps have already read it.
        (memory.page, memory.impliedAgreements, memory.asked, memory.sent) = (nil, nil, nil, nil)
    }

    /// Logs in.
    ///
    /// - Parameter first: the first move, if the steps do not decide it.
    package mutating func run(from first: LoginMove? = nil, finish: Finish) -> Reply {
        var pending = first
        while true {
            let move = settled(pending ?? next())
            switch move {
            case .submit(let filled, let form):
                trace(filled, form)
                pending = carry(move, to: filled.target) { carrier, steps throws(TransferError) in
                    try carrier.submit(filled, for: steps)
                }
            case .request(let request, let carriesAnswers, let follows, let wait):
                guard pause(wait) else {
                    return command.reply(
                        TransferError(command.scope.cancellation.isCancelled ? .cancelled : .timeout), portal: steps.asking)
                }
                pending = carry(move, to: request.url) { carrier, steps throws(TransferError) in
                    try carrier.send(request, carriesAnswers: carriesAnswers, follows: follows, for: steps)
                }
            case .render(let rule, let other): pending = render(because: rule, orElse: other)
            case .probe(let seconds): pending = steps.probed(isOpen: isOpen(within: seconds))
            case .ask(var prompt, _, let reason):
                if reason == nil, !hadConsent { terms.show(steps.shownTerms, carrier.client, command.scope) }
                if let change = terms.change { prompt.begin(change) }
                memory.impliedAgreements = steps.impliedAgreements.isEmpty ? nil : steps.impliedAgreements
                return reply(move, prompt, reason, finish)
            case .done: return reply(move, nil, nil, finish)
            case .end(let result, let reason):
                let reply = command.reply(result, portal: steps.asking, reason: reason)
                return isTypedNow && !steps.hasSent ? command.sendingLater(reply) : reply
            case .leave(let company): return command.leave(steps.asking, imitating: company)
            }
        }
    }

    /// Returns the next move of the steps. If the accepted terms have changed, the move carries no consent.
    private mutating func next() -> LoginMove {
        before = steps
        var move = steps.next()
        if steps.engine.consent, terms.haveChanged(steps.shownTerms, carrier.client, command.scope) {
            steps = before
            steps.engine.consent = false
            move = steps.next()
        }
        hadConsent = steps.engine.consent
        return move
    }

    /// Returns the move to carry out. Probes first if the move depends on whether the network is open.
    private mutating func settled(_ move: LoginMove) -> LoginMove {
        guard let patience = steps.patience(before: move) else { return move }
        return steps.settle(move, isOpen: isOpen() || (patience == .seconds && command.opensLate()))
    }

    /// Carries out a move. Returns the next move, or `nil` if the steps decide it.
    private mutating func carry(
        _ move: LoginMove, to target: WebURL, by send: (inout Carrier, Steps) throws(TransferError) -> RedirectChain
    ) -> LoginMove? {
        let acceptsTerms = isTypedNow && !steps.engine.consent && steps.shownTerms != nil
        if acceptsTerms { terms.accept() }
        steps.begin(move, acceptingTerms: acceptsTerms)
        do throws(TransferError) {
            return steps.arrive(try send(&carrier, steps))
        } catch {
            if [.elsewhere, .asksAnew].contains(error.code), !wasHeldBack, let chain = carrier.shown {
                wasHeldBack = true
                // The page has changed its target or its questions, so the user decides.
                steps = before
                steps.show(chain)
                return nil
            }
            guard error.code == .keyChanged, target.origin != steps.asking.origin else { return steps.fail(error, of: move) }
            // The user decides again about an origin whose key has changed.
            var again = steps
            again.engine.forgetAgreements(for: target)
            guard case .ask(var prompt, let form, let reason) = again.next() else { return steps.fail(error, of: move) }
            steps = again
            carrier.forgetKey(of: target)
            prompt.begin(keyChanged: target)
            hasChangedKey = true
            return .ask(prompt, keeping: form, reason: reason)
        }
    }

    /// Opens the page in a browser. Returns the other move if there is no browser; `nil` if the steps decide after they see the browser's page.
    private mutating func render(because rule: RuleName, orElse other: LoginMove) -> LoginMove? {
        do throws(TransferError) {
            guard let chain = try carrier.render(for: steps, because: rule) else {
                return carrier.missingBrowser.map { other.adding($0) } ?? other
            }
            steps.show(chain)
            return nil
        } catch {
            command.scope.trace.add("the page was not rendered: \(error)")
            return error.code == .cancelled ? .end(.temporaryFailure, error.description) : other
        }
    }

    private func isOpen(within seconds: Int) -> Bool {
        for _ in 0..<max(1, seconds / 2) {
            if isOpen() { return true }
            if !pause(2) { return false }
        }
        return false
    }

    private func trace(_ filled: FilledForm, _ form: HTMLForm) {
        command.scope.trace.add("form with \(form.controls.count) controls\(filled.carriesAnswers ? ", with answers" : "")")
        guard !filled.ticked.isEmpty else { return }
        command.scope.trace.add("boxes as the page has ticked them: \(filled.ticked.joined(separator: ", "))")
    }

    /// Asks the user, or reports success; writes the memory for later commands.
    private mutating func reply(_ move: LoginMove, _ prompt: Prompt?, _ reason: String?, _ finish: Finish) -> Reply {
        let portal = prompt == nil ? steps.live : steps.asking
        terms.keep(in: &memory)
        if prompt == nil { memory.shownTerms = nil }
        (memory.origin, memory.pin) = (portal.origin, portal.pin)
        memory.agreed = steps.engine.agreed.isEmpty ? nil : steps.engine.agreed.sorted()
        carrier.keep(in: &memory, isAsking: prompt?.fields.isEmpty == false)
        var reply = command.reply(
            prompt == nil ? .success : .uiRequired, prompt: prompt, portal: portal, session: Session(), reason: reason)
        finish(steps, move, &reply, &memory)
        if hasChangedKey, prompt != nil { reply.refused = nil }
        if reply.session?.memory == nil { reply.session?.memory = memory.value }
        return reply
    }
}

extension LoginMove {
    /// Returns the move with a sentence added to its message for the user.
    fileprivate func adding(_ sentence: String) -> LoginMove {
        guard case .ask(var prompt, let form, let reason) = self else { return self }
        prompt.message = [prompt.message, sentence].compactMap(\.self).joined(separator: " ")
        return .ask(prompt, keeping: form, reason: reason)
    }
}

extension HelperCommand {
    /// Returns the reply; for a temporary failure, notes that no answer was sent. The daemon sends the answers when the portal asks the same question
    /// again.
    func sendingLater(_ reply: Reply) -> Reply {
        var reply = reply
        if reply.result == .temporaryFailure { reply.unsent = answered }
        return reply
    }

    /// Checks whether the network is open.
    package func isOpen() -> Bool { probe(fresh: true)?.verdict.isOpen == true }

    /// Waits this number of seconds; `false` if the command's time is over.
    package func pause(seconds: Int) -> Bool { seconds == 0 || scope.pause(milliseconds: seconds * 1000) }
}
