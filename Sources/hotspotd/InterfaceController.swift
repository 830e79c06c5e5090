import ControlServer
import EventLoop
import HelperHost
import HotspotCore
import HotspotMachine
import Logging
import Store
import Varlink
import Vault

/// One managed interface: its machine, and what the machine's numbers stand for. It decides nothing; it feeds events and carries
/// actions out.
@LoopActor final class InterfaceController {
    let index: Int
    private(set) var name: String
    let services: Services
    private(set) var machine: Machine
    private(set) var joined: Joined?
    private(set) var since = WallClock.now
    private(set) var problems: [Problem] = []
    private(set) var prompt: ShownPrompt?
    /// The portal as the chosen helper named it last.
    private(set) var portal: Portal?
    private(set) var session: Session?
    private var sessionEnd: Instant?
    var attempt: RunningAttempt?

    private var commands: [CommandID: SentCommand] = [:]
    private var probes: [ProbeID: HelperCall] = [:]
    private var timers: [TimerID: EventSource] = [:]
    /// What each helper found in the race, for its Authenticate.
    private var evaluations: [String: Evaluation] = [:]
    /// The user's answers, until they are sent; then, if they shall be kept, until the login is proven.
    private var answers: GivenAnswers?
    /// Who has been told of this network in this turn, until the journal has it.
    private var told: [String] = []
    /// The helper whose crash is being told to the machine.
    private var crashed: String?
    private var events: [Event] = []
    private var isFeeding = false

    init(index: Int, name: String, services: Services) {
        self.index = index
        self.name = name
        self.services = services
        machine = Machine(policy: services.settings.policy)
    }

    // MARK: Events

    /// Tells the machine, and does what it says. An event that comes up meanwhile waits for its turn.
    func feed(_ event: Event) {
        events.append(event)
        guard !isFeeding else { return }
        isFeeding = true
        while !events.isEmpty {
            let actions = machine.handle(events.removeFirst(), at: EventLoop.now)
            for action in actions { perform(action, among: actions) }
            recordDisclosures()
        }
        isFeeding = false
        services.onStatus()
    }

    func renamed(to name: String) {
        guard name != self.name else { return }
        services.log.info("\(self.name) is called \(name) now")
        self.name = name
        services.onStatus()
    }

    func join(_ joined: Joined) {
        self.joined = joined
        let now = WallClock.now
        let network = joined.network
        var hold = services.store.hold(network, now: now).flatMap { stored -> Hold? in
            guard let reason = HoldReason(rawValue: stored.reason.rawValue) else { return nil }
            return Hold(reason, until: stored.until.map { EventLoop.now + .milliseconds($0 - now) })
        }
        if services.store.isDisabled(helper: nil, ssid: network.switchName) { hold = Hold(.disabled) }
        let remembered = services.store.remembered(network, now: now)
        portal = remembered?.portal
        restoreSession(helper: remembered?.helper)
        services.log.info("\(name): joined \(joined.label), address \(joined.snapshot.addresses.first ?? "none")")
        updateCandidates()
        feed(
            .addressAcquired(
                Arrival(
                    network: network, bssid: joined.bssid, remembered: remembered?.helper, hold: hold,
                    autoJoined: joined.autoJoined, canDisassociate: joined.security != .wired)))
    }

    func leave(_ why: String) {
        guard joined != nil else { return }
        services.log.info("\(name): \(why)")
        feed(.addressLost)
        joined = nil
        portal = nil
        session = nil
        sessionEnd = nil
        answers = nil
        evaluations = [:]
        problems = []
        services.onStatus()
    }

    func roam(to bssid: HardwareAddress, signal: Int?) {
        joined?.bssid = bssid
        joined?.signal = signal ?? joined?.signal
        feed(.roamed(bssid))
    }

    /// Addresses and resolvers may change under a join; the next command sees them.
    func refresh(_ change: (inout Joined) -> Void) { if joined != nil { change(&joined!) } }

    func updateCandidates() {
        guard let joined else { return }
        let candidates = services.candidates(for: joined.ssid, joined.security)
        if candidates != machine.candidates { feed(.helpersChanged(candidates)) }
    }

    func report(_ problem: Problem) {
        problems.removeAll { $0.code == problem.code }
        problems.append(problem)
        services.onStatus()
    }

    func withdraw(problem code: String) { problems.removeAll { $0.code == code } }

    // MARK: Actions

    private func perform(_ action: Action, among turn: [Action]) {
        switch action {
        case .transition(let from, let to, let cause):
            since = WallClock.now
            services.log.info("\(name): \(from.rawValue) → \(to.rawValue)\(cause.isEmpty ? "" : " (\(cause))")")
            record("transition", cause, from: from, to: to, helper: machine.state.chosenHelper)
            // Whoever was started for a race and not asked, or not asked any more, has nothing to wait for.
            if to != .evaluating { services.host.standDown() }
            if to == .authenticating || to == .maintaining { attempt?.why = cause }
        case .beginAttempt(let id): beginAttempt(id)
        case .endAttempt(_, let outcome): endAttempt(outcome)
        case .setGate(let open):
            record("gate", open ? "open to ordinary traffic" : "closed to ordinary traffic")
            services.setGate(open, index, name)
        case .sendCommand(let id, let command, let helper, let justJoined): send(id, command, to: helper, justJoined)
        case .cancelCommand(let id):
            guard let sent = commands.removeValue(forKey: id) else { break }
            sent.call.cancel()
            record(sent.ending(among: turn), to: sent)
        case .startTimer(let id, let instant, let purpose): startTimer(id, instant, purpose)
        case .stopTimer(let id): timers.removeValue(forKey: id)?.cancel()
        case .startProbe(let id, let fresh): probe(id, fresh: fresh)
        case .cancelProbe(let id): probes.removeValue(forKey: id)?.cancel()
        case .showPrompt(let id, let prompt, let helper): show(id, prompt, helper)
        case .withdrawPrompt(let id):
            guard prompt?.id == id else { break }
            prompt = nil
            services.onPrompts()
        case .remember(let helper): remember(helper)
        case .forgetChoice:
            if let joined { services.saving("forgetting a choice") { try services.store.dropChoice(joined.network) } }
            session = nil
        case .dropSession:
            session = nil
            sessionEnd = nil
            if let joined { services.saving("dropping a session") { try services.store.setSealedSession(joined.network, nil) } }
        case .hold(let reason, let duration): hold(reason, duration)
        case .releaseHold:
            if let joined { services.saving("releasing a hold") { try services.store.releaseHold(joined.network) } }
        case .disassociate:
            // The answer comes after this event's actions, as any other event does.
            if !services.disassociate(index) { events.append(.disassociationRefused) }
        case .strike(let helper):
            // A crash was told by its own sentence; whoever else is struck was silent.
            if crashed != helper {
                services.blame(helper, Problem("helperTimeout", "\(helper) did not answer in time."))
            }
            services.strikes.strike(helper)
            services.onStrikes()
        case .acquit(let helper):
            services.faults[helper] = nil
            if services.strikes.count(helper) > 0 {
                services.strikes.acquit(helper)
                services.onStrikes()
            }
        case .report(let problem):
            report(problem)
            record("problem", problem.message)
            services.log.notice("\(name): \(problem.message)")
        case .clearProblems: problems = []
        }
    }

    private func startTimer(_ id: TimerID, _ instant: Instant, _ purpose: TimerPurpose) {
        let accuracy: Duration =
            switch purpose {
            case .command, .lowGrace, .probe, .proof: .milliseconds(1)
            case .maintain, .recheck, .watch, .retry, .hold: .milliseconds(250)
            }
        do {
            timers[id] = try EventLoop.shared.schedule(at: instant, accuracy: accuracy) { [weak self] in
                self?.timers[id] = nil
                self?.feed(.timerFired(id))
            }
        } catch {
            services.log.error("\(name): \(error)")
        }
    }

    private func hold(_ reason: HoldReason, _ duration: Duration?) {
        guard let joined else { return }
        guard let stored = StoredHold.Reason(rawValue: reason.rawValue) else { return }
        let until = duration.map { WallClock.now + $0.milliseconds }
        let sentence = problems.last?.message ?? reason.rawValue
        services.saving("holding a network") {
            try services.store.setHold(joined.network, StoredHold(reason: stored, until: until, sentence: sentence))
        }
    }

    // MARK: Helpers

    private func send(_ id: CommandID, _ command: Command, to helper: String, _ justJoined: Bool) {
        guard let joined, let link = link() else { return }
        let network = joined.network(
            for: helper, chosen: machine.state.chosenHelper ?? chosen(command, helper), interface: name, justJoined: justJoined)
        var parameters: [String: JSONValue] = ["network": Coding.value(network), "link": Coding.value(link)]
        switch command {
        case .filterScanList, .evaluate: break
        case .maintain, .logoff: if let session { parameters["session"] = Coding.value(session) }
        case .authenticate, .presentUI:
            if command == .authenticate, let found = evaluations.removeValue(forKey: helper) {
                portal = found.portal ?? portal
                session = found.session ?? session
            }
            if let portal { parameters["portal"] = Coding.value(portal) }
            if let session { parameters["session"] = Coding.value(session) }
            if let credential = releasedCredential(for: helper) { parameters["credential"] = Coding.value(credential) }
            parameters["consent"] = .bool(hasConsent)
            if command == .presentUI { parameters["answers"] = Coding.value(answers?.values ?? [:]) }
        }
        if command != .evaluate { attempt?.helper = helper }
        record("command", Disclosure.words(for: command, parameters), helper: helper)
        if command == .evaluate { told.append(helper) }
        let call = services.host.send(command, to: helper, parameters: .object(parameters)) { [weak self] outcome in
            guard let self, commands.removeValue(forKey: id) != nil else { return }
            received(outcome.masked(Disclosure.secrets(in: parameters)), id, command, helper)
        }
        commands[id] = SentCommand(call: call, command: command, helper: helper)
    }

    /// The race tells many helpers the same: that is one step of the journal.
    private func recordDisclosures() {
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
            evaluations[helper] = evaluation
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
                        reply.result, prompt: reply.prompt.map(\.limited), secondsRemaining: reply.session?.secondsRemaining,
                        reason: reply.reason.map { Printable.text($0, limit: 500) })))
        case .notRecognized:
            record("answer", "does not know \(command)", helper: helper)
            feed(.answered(id, evaluates ? .evaluated(.none) : .replied(.commandNotRecognized)))
        case .annotations, .value:
            feed(.answered(id, evaluates ? .evaluated(.none) : .replied(.failure)))
        case .failed(let fault):
            record("problem", fault.sentence, helper: helper)
            if let wrote = fault.standardError { record("trace", "standard error: …\(wrote.suffix(2000))", helper: helper) }
            if !evaluates { attempt?.lastWord = fault.sentence }
            services.log.warning(
                "\(name): \(helper): \(fault.sentence)\(fault.standardError.map { "; it wrote: \($0.suffix(500))" } ?? "")")
            // In the race, garbage is no answer at all: it earns a strike as a crash does, and never an acquittal (D7).
            if fault.isCrash || (evaluates && fault.isGarbage) {
                services.blame(helper, fault.problem)
                crashed = helper
                feed(.answered(id, .crashed))
                crashed = nil
                return
            }
            feed(.answered(id, evaluates ? .evaluated(.none) : .replied(.failure, reason: fault.sentence)))
            // After the machine's word, which may be an acquittal: it came in time, and it was still not right.
            services.blame(helper, fault.problem)
            report(fault.problem)
        }
    }

    private func said(_ reason: String?) -> String { reason.map { ": " + Printable.text($0, limit: 500) } ?? "" }

    private func take(_ reply: Reply, from helper: String) {
        if let portal = reply.portal { self.portal = portal }
        if var session = reply.session {
            if let memory = session.memory, Coding.encode(memory).count > Session.memoryLimit {
                session.memory = nil
                report(Problem("memoryTooLarge", "\(helper) wants to keep more than 16 KiB; it was dropped."))
            }
            self.session = session
            sessionEnd = session.secondsRemaining.flatMap { $0 >= 0 ? EventLoop.now + .seconds(min($0, 315_360_000)) : nil }
        }
        for line in (reply.trace ?? []).prefix(100) { record("trace", Printable.text(line, limit: 500), helper: helper) }
    }

    // MARK: The prober

    private func probe(_ id: ProbeID, fresh: Bool) {
        askProber(fresh: fresh) { [weak self] call in
            self?.probes[id] = call
        } answer: { [weak self] answer in
            guard let self, probes.removeValue(forKey: id) != nil else { return }
            feed(.verdictReached(id, answer?.verdict, secondsRemaining: answer?.secondsRemaining))
        }
    }

    /// Asks for a verdict on this link; `nil` if there is no prober, or it died.
    func askProber(fresh: Bool, started: (HelperCall) -> Void, answer: @escaping (ProbeAnswer?) -> Void) {
        guard let link = link() else { return answer(nil) }
        let parameters = ProbeRequest(
            link: link, endpoints: link.probeURL.map { [.init(url: $0, expect: link.probeExpect ?? "204")] } ?? [],
            httpsURL: services.settings.probeHTTPSURL, fresh: fresh)
        started(
            services.host.probe(parameters: Coding.value(parameters)) { [weak self] outcome in
                guard let self else { return }
                var verdict: ProbeAnswer?
                switch outcome {
                case .value(let value):
                    do {
                        verdict = try Coding.decode(ProbeAnswer.self, from: value)
                    } catch {
                        record("problem", "The prober's answer is malformed: \(error)")
                    }
                case .failed(let fault): record("problem", "The prober: \(fault.sentence)")
                case .evaluation, .reply, .annotations, .notRecognized: record("problem", "The prober does not know Probe.")
                }
                if let verdict { record(verdict) }
                answer(verdict)
            })
    }

    private func record(_ answer: ProbeAnswer) {
        let problem = answer.problem.map { " (\(Printable.text($0, limit: 100)))" } ?? ""
        let origin = answer.origin.map { ", portal \($0)" } ?? ""
        record("verdict", answer.verdict.rawValue + origin + problem)
        for evidence in answer.evidence.prefix(8) { record("trace", evidence.line) }
        if portal == nil, answer.verdict == .captive, let origin = answer.origin {
            portal = Portal(origin: origin, kind: "unknown")
        }
    }

    func link() -> Link? {
        guard let joined else { return nil }
        let settings = services.settings
        return Link(
            attempt: attempt?.id ?? joined.association, association: joined.association, interface: name, index: index,
            addresses: joined.snapshot.addresses, gateways: joined.snapshot.gateways,
            nameservers: settings.probeNameservers.isEmpty ? joined.facts.nameservers : settings.probeNameservers,
            portalAPI: joined.facts.portalAPI, probeURL: settings.probeURL,
            probeExpect: settings.probeURL == nil ? nil : settings.probeExpect)
    }

    // MARK: Prompts

    private func show(_ id: PromptID, _ prompt: Prompt, _ helper: String) {
        self.prompt = ShownPrompt(
            id: id, token: self.prompt?.id == id ? self.prompt!.token : Token.random(octets: 4), helper: helper, prompt: prompt,
            since: WallClock.now)
        record("prompt", "\(Printable.text(prompt.title, limit: 200)) asks", helper: helper)
        services.onPrompts()
    }

    /// Takes the user's answers in. They are checked before.
    func give(_ values: [String: String], remember: Bool, to prompt: ShownPrompt) {
        answers = GivenAnswers(values: values, remember: remember, prompt: prompt.prompt, helper: prompt.helper)
        feed(.promptAnswered(prompt.id))
    }

    // MARK: What is kept

    /// The answers that were kept for this network, this helper and this portal; D6 and the vault's rule.
    private func releasedCredential(for helper: String) -> [String: String]? {
        // Who could read the daemon's folders gets nothing that is kept there.
        guard let joined, let portal, services.host.isKeptFromFolders(helper) else { return nil }
        let asking = CredentialOwner(network: joined.network, helper: helper, origin: portal.origin, pin: portal.pin)
        guard
            case .allowed = Release.decide(
                stored: asking, asking: asking, allowPlain: services.settings.allowPlainHTTPCredentials),
            let sealed = services.store.credential(joined.network, helper: helper, origin: portal.origin, pin: portal.pin)
        else { return nil }
        do {
            let credential = try services.vault.openAnswers(sealed, for: asking.purpose)
            record("credential", "released for \(Printable.text(portal.origin, limit: 300))", helper: helper)
            return credential
        } catch {
            report(Problem("vault", "The stored answers cannot be opened: \(error)", hint: "hotspotctl forget SSID"))
            return nil
        }
    }

    private var hasConsent: Bool {
        switch services.settings.acceptTerms {
        case .yes: true
        case .ask: false
        case .remembered:
            if let joined, let portal { services.store.consent(joined.network, origin: portal.origin) != nil } else { false }
        }
    }

    private func remember(_ helper: String) {
        guard let joined, joined.network.key != nil else { return }
        let network = joined.network
        services.saving("remembering a choice") {
            try services.store.remember(network, Remembered(helper: helper, portal: portal, committed: WallClock.now))
            if let session {
                let sealed = try services.vault.seal(Coding.encode(session), for: .session(network: network, helper: helper))
                try services.store.setSealedSession(network, sealed)
            }
        }
        keepAnswers(network, helper)
        answers = nil
    }

    /// Answers are kept only now: the login that they were for is proven.
    private func keepAnswers(_ network: NetworkID, _ helper: String) {
        guard let answers, answers.helper == helper, let portal else { return }
        if services.settings.acceptTerms == .remembered, answers.prompt.hasTerms {
            services.saving("remembering a consent") {
                try services.store.setConsent(
                    network, origin: portal.origin, terms: answers.prompt.terms ?? answers.prompt.termsURL ?? "")
            }
        }
        guard answers.remember else { return }
        let kept = Release.keepable(answers.values, fields: answers.prompt.fields)
        guard !kept.isEmpty else { return }
        let purpose = Purpose.credential(network: network, helper: helper, origin: portal.origin, pin: portal.pin)
        services.saving("keeping answers") {
            let sealed = try services.vault.seal(kept, for: purpose)
            try services.store.setCredential(
                network, helper: helper, origin: portal.origin, pin: portal.pin, fieldNames: kept.keys.sorted(), sealed: sealed)
        }
    }

    private func restoreSession(helper: String?) {
        session = nil
        guard let helper, let joined, let sealed = services.store.sealedSession(joined.network) else { return }
        do {
            let secret = try services.vault.open(sealed, for: .session(network: joined.network, helper: helper))
            session = try Coding.decode(Session.self, from: secret.withBytes { Array($0) })
        } catch {
            services.log.notice("\(name): the stored session cannot be opened: \(error)")
        }
    }

    // MARK: Status

    var status: InterfaceStatus {
        var status = InterfaceStatus(interface: name, state: machine.state.name, since: since)
        if let joined {
            status.ssid = joined.label
            status.ssidHex = joined.ssid.hex
            status.bssid = joined.bssid?.description
        }
        status.helper = machine.state.chosenHelper
        status.portal = portal.map { Printable.text($0.origin, limit: 300) }
        status.captive = machine.state.isCaptive
        status.secondsRemaining = sessionEnd.flatMap { end in
            machine.gateIsOpen ? max(0, Int((end - EventLoop.now).inSeconds)) : nil
        }
        status.bytesRemaining = session?.bytesRemaining
        status.nextMaintain = machine.state.nextMaintain.map(WallClock.time(of:))
        status.prompt = prompt?.token
        status.problems = problems
        return status
    }
}
