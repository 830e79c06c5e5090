import ControlAPI
import ControlServer
import EventLoop
import ForeignText
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
    var joined: Joined?
    private(set) var since = WallClock.now
    private(set) var problems: [Problem] = []
    var prompt: ShownPrompt?
    /// The portal as a helper or the prober named it last, for people.
    var portal: Portal?
    /// The portal that the answer directly before this command named; it alone decides what is released (D6).
    var named: Portal?
    var session: Session?
    /// Whose session it is: nobody else gets its memory.
    var sessionOwner: String?
    var sessionEnd: Instant?
    var attempt: RunningAttempt?

    var commands: [CommandID: SentCommand] = [:]
    var probes: [ProbeID: HelperCall] = [:]
    private var timers: [TimerID: EventSource] = [:]
    /// Evaluate commands that are answered; their processes may still be there.
    var answered: [SentCommand] = []
    /// What each helper that claims the network found in the race, for its Authenticate; the losers' goes with the race.
    var evaluations: [String: Found] = [:]
    /// The user's answers, until they are sent; then, if they shall be kept, until the login is proven.
    var answers: GivenAnswers?
    /// Who has been told of this network in this turn, until the journal has it.
    var told: [String] = []
    /// What each helper was given in this association of what the user typed or the vault released: masked in whatever it says. Of what
    /// others were given nothing is masked in its words: it could guess, and everybody would see at which guess the mark stands.
    var secrets: [String: Set<String>] = [:]
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
            endLosers()
            recordDisclosures()
        }
        isFeeding = false
        // Whoever was started for this interface and not asked, because it was not its turn, is ended as soon as nobody will ask here.
        if machine.state.isSettled { services.host.standDown(interface: index) }
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
        // Rules and times that were read anew count from here on.
        machine.adopt(services.settings.policy)
        let now = WallClock.now
        let network = joined.network
        var hold = services.store.hold(network, now: now).flatMap { stored -> Hold? in
            guard let reason = HoldReason(rawValue: stored.reason.rawValue) else { return nil }
            return Hold(reason, until: stored.until.map { EventLoop.now + .milliseconds($0 - now) }, cause: stored.sentence)
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
                    canDisassociate: joined.security != .wired)))
    }

    func leave(_ why: String) {
        guard joined != nil else { return }
        services.log.info("\(name): \(why)")
        feed(.addressLost)
        services.host.standDown(interface: index)
        joined = nil
        portal = nil
        named = nil
        dropSession()
        answers = nil
        secrets = [:]
        attempt = nil
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
        let candidates = services.candidates(for: joined.network, joined.ssid, joined.security)
        if candidates != machine.candidates { feed(.helpersChanged(candidates)) }
    }

    func report(_ problem: Problem) {
        problems.removeAll { $0.code == problem.code }
        problems.append(problem)
        services.onStatus()
    }

    func withdraw(problem code: ProblemCode) { problems.removeAll { $0.code == code } }

    // MARK: Actions

    private func perform(_ action: Action, among turn: [Action]) {
        switch action {
        case .transition(let from, let to, let cause):
            since = WallClock.now
            services.log.info("\(name): \(from.rawValue) → \(to.rawValue)\(cause.isEmpty ? "" : " (\(cause))")")
            record("transition", cause, from: from, to: to, helper: machine.state.chosenHelper)
            if to == .authenticating || to == .maintaining { attempt?.why = cause }
        case .beginAttempt(let id): beginAttempt(id)
        case .endAttempt(_, let outcome): endAttempt(outcome)
        case .setGate(let open):
            record("gate", open ? "open to ordinary traffic" : "closed to ordinary traffic")
            services.onGate()
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
        case .forgetChoice(let helper): forgetChoice(of: helper)
        case .dropSession:
            dropSession()
            if let joined { services.saving("dropping a session") { try services.store.setSealedSession(joined.network, nil) } }
        case .hold(let reason, let duration, let cause): hold(reason, duration, cause)
        case .releaseHold:
            if let joined { services.saving("releasing a hold") { try services.store.releaseHold(joined.network) } }
        case .disassociate:
            // The answer comes after this event's actions, as any other event does.
            if !services.disassociate(index) { events.append(.disassociationRefused) }
        case .strike(let helper, let reason):
            // A crash was reported with its own sentence before.
            if reason == .silence { services.blame(helper, Problem(.helperTimeout, "\(helper) did not answer in time.")) }
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
            // A session of two seconds is renewed two tenths before its end.
            case .maintain, .leave: .milliseconds(50)
            case .recheck, .watch, .retry, .pause, .hold: .milliseconds(250)
            }
        do {
            timers[id] = try EventLoop.shared.schedule(at: instant, accuracy: accuracy) { [weak self] in
                self?.services.waking.whenRead {
                    // Whatever was read meanwhile may have stopped it.
                    if self?.timers.removeValue(forKey: id) != nil { self?.feed(.timerFired(id)) }
                }
            }
        } catch {
            services.log.error("\(name): \(error)")
        }
    }

    private func hold(_ reason: HoldReason, _ duration: Duration?, _ cause: String) {
        guard let joined else { return }
        guard let stored = StoredHold.Reason(rawValue: reason.rawValue) else { return }
        let until = duration.map { WallClock.now + $0.milliseconds }
        services.saving("holding a network") {
            try services.store.setHold(joined.network, StoredHold(reason: stored, until: until, sentence: cause))
        }
    }

    func dropSession() {
        session = nil
        sessionOwner = nil
        sessionEnd = nil
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
        status.nextLogin = machine.state.nextLogin.map(WallClock.time(of:))
        status.prompt = prompt?.token
        status.problems = problems
        return status
    }
}
