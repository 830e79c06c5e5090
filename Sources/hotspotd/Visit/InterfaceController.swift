import EventLoop
import ForeignText
import HotspotCore
import HotspotMachine
import LinkState
import Store

/// The shell of one interface's machine: feeds it events and performs its actions. It decides nothing.
@LoopActor final class InterfaceController {
    let index: Int
    let journal: Journal
    let problems = ProblemList()
    let desk: PromptDesk
    let conversation: Conversation
    private(set) var machine: Machine
    private(set) var joined: Joined?
    let services: Services
    let sessions: SessionKeeper
    let prober: LinkProber
    private var troubleWatch: TroubleWatch?
    private(set) var since = WallClock.now
    private var timers: MachineTimers?
    private var events: [Event] = []
    private var isFeeding = false
    /// What a login left that counts where the network is found open.
    private var keptLogin: (session: PresentSession, answers: UserAnswers?, portal: Portal?)?
    /// Attempts are numbered by the machine, which a restart begins again.
    private let run = Services.randomID()
    private var departure = Departure.linkLost
    /// Why a login is requested, where it is not the user who asks for one.
    private var wish: String?
    /// The portal's API became known after the helpers were asked.
    private var hasNews = false

    var name: String { journal.interface }

    init(index: Int, name: String, services: Services) {
        self.index = index
        self.services = services
        machine = Machine(policy: services.settings.policy)
        journal = Journal(interface: name, services: services)
        desk = PromptDesk(services: services, journal: journal, problems: problems)
        sessions = SessionKeeper(interface: index, services: services, journal: journal, problems: problems)
        conversation = Conversation(
            services: services, journal: journal, desk: desk, sessions: sessions, problems: problems)
        prober = LinkProber(services: services, journal: journal, conversation: conversation)
        // Within the turn of an event the status is not whole yet; the end of the turn shows it.
        problems.onChange = { [weak self] in if let self, !isFeeding { self.services.events?.statusChanged() } }
        conversation.onAnswer = { [weak self] in self?.feed(.answered($0, $1)) }
        timers = MachineTimers(waking: services.waking, log: services.log) { [weak self] in self?.feed(.timerFired($0)) }
        troubleWatch = TroubleWatch(waking: services.waking) { [weak self] done in self?.check { _ in done() } }
    }

    // MARK: Events

    /// Feeds the machine an event and performs its actions. An event that comes up meanwhile waits for its turn.
    func feed(_ event: Event) {
        events.append(event)
        guard !isFeeding else { return }
        isFeeding = true
        while !events.isEmpty {
            let actions = machine.handle(events.removeFirst(), at: EventLoop.now)
            for action in actions { perform(action, among: actions) }
            conversation.endTurn(in: machine.state, of: joined)
        }
        isFeeding = false
        askAgain()
        // Helpers that were started for this interface and not asked are ended as soon as it will ask none.
        troubleWatch?.setWanted(machine.state.isOpenedPortal)
        if machine.state.needsNoHelper { services.host.standDown(interface: index) }
        services.events?.statusChanged()
    }

    func rename(to name: String) {
        guard name != self.name else { return }
        services.log.info("\(self.name) is called \(name) now")
        journal.interface = name
        services.events?.statusChanged()
    }

    func join(_ arrived: Joined) {
        var joined = arrived
        let known = KnownNetwork(joined, on: index, in: services.store)
        if let resumed = known.resumed { joined.association = resumed.id }
        self.joined = joined
        prober.association = joined.association
        // Changed rules and times count from here on.
        machine.adopt(services.settings.policy)
        conversation.begin(remembered: known.remembered?.portal)
        sessions.restore(for: joined.network, of: known.remembered?.helper)
        sessions.setEnd(in: known.secondsRemaining)
        var schedule = MaintainSchedule()
        schedule.update(secondsRemaining: known.secondsRemaining, at: EventLoop.now)
        services.log.info("\(name): joined \(joined.label), address \(joined.snapshot.addresses.first ?? "none")")
        updateCandidates()
        feed(
            .addressAcquired(
                Arrival(
                    network: joined.network, bssid: joined.bssid, remembered: known.remembered?.helper,
                    field: known.remembered?.field, resumed: known.resumed == nil ? nil : schedule,
                    // Where no login was needed before, none is needed now.
                    isFound: joined.isFound && !known.wasOpen, hold: known.hold, canDisassociate: joined.security != .wired)))
    }

    /// Leaves the network without ending the association: the next daemon goes on there.
    func end() {
        leave("the daemon ends", as: .daemonEnds)
    }

    func leave(_ reason: String, as departure: Departure = .linkLost) {
        guard joined != nil else { return }
        services.log.info("\(name): \(reason)")
        self.departure = departure
        feed(.addressLost)
        self.departure = .linkLost
        services.host.standDown(interface: index)
        joined = nil
        prober.association = nil
        conversation.end()
        sessions.drop()
        desk.leaveNetwork()
        keptLogin = nil
        journal.leaveNetwork()
        problems.clear()
        services.events?.statusChanged()
    }

    /// Notes that what is stored of the network was forgotten. A session goes on until it ends, is not stored, and can be logged off.
    func forgetStored() {
        joined?.isForgotten = true
        desk.forgetOutcome()
        journal.leaveNetwork()
    }

    func roam(to bssid: HardwareAddress, signal: Int?) {
        joined?.bssid = bssid
        joined?.signal = signal ?? joined?.signal
        feed(.roamed(bssid))
    }

    /// Stores the link's addresses for the next command: they may change under a join.
    func refresh(_ link: LinkSnapshot) { joined?.snapshot = link }

    /// Stores what became known of the link after the join, and lets the helpers look again where it may help.
    func learn(_ facts: LinkFacts) {
        guard joined != nil, let announcement = facts.announcement else { return }
        joined?.facts = facts
        journal.record("link", "the network announces its portal's API (\(announcement.source))")
        hasNews = facts.portalAPI != nil
        askAgain()
    }

    /// Asks the helpers again if none of them could log in, and they did not know of the portal's API.
    private func askAgain() {
        guard hasNews, journal.attempt?.outcome == .unclaimedCaptive else { return }
        hasNews = false
        wish = "the network announced its portal's API"
        feed(.released)
        wish = nil
    }

    func updateCandidates() {
        guard let joined else { return }
        let candidates = services.candidates(for: joined.network, joined.ssid, joined.security)
        if candidates != machine.candidates { feed(.helpersChanged(candidates)) }
    }

    /// Tries again what failed while a helper or this network was switched off. A network that is left alone stays so when it is only a
    /// helper that was switched on.
    func switchedOn(helper: String?) {
        switch machine.state {
        case .failure, .inactive(.held(_, .autoJoinOff, _)), .presentingUI: feed(.released)
        case .inactive, .evaluating, .authenticating, .authenticated, .maintaining, .loggingOff:
            if helper == nil { feed(.released) }
        }
    }

    /// Passes on the user's answers, which were checked before.
    func answer(
        _ shown: ShownPrompt, _ values: [String: String], stored: Set<String> = [], remember: Bool, confirmed: Bool = false
    ) {
        desk.accept(values, stored: stored, remember: remember, confirmed: confirmed, for: shown)
        journal.record("prompt", "answered", helper: shown.helper)
        feed(.promptAnswered(shown.id))
    }

    func dismiss(_ shown: ShownPrompt) {
        desk.dismissed()
        feed(.promptDismissed(shown.id))
    }

    /// Goes on with a login that waited for the PIN alone; a prompt for anything else offers what is stored.
    func unlocked() {
        guard let helper = desk.prompt?.helper, desk.unlocked() else { return }
        wish = "the PIN was given"
        feed(.loginRequested(helper: helper, fresh: true))
        wish = nil
    }

    /// Probes for a client; the machine hears the verdict too.
    func check(_ answer: @escaping (ProbeAnswer?) -> Void) {
        guard let link else { return answer(nil) }
        prober.ask(about: link, fresh: true) { [weak self] found in
            if let found { self?.feed(.verdictSeen(found.verdict)) }
            answer(found)
        }
    }

    // MARK: Actions

    private func perform(_ action: Action, among turn: [Action]) {
        switch action {
        case .transition(let from, let to, let cause):
            since = WallClock.now
            let cause = departure.cause ?? wish ?? cause
            let because = cause.isEmpty ? "" : " (\(Hearsay.line(cause)))"
            services.log.info("\(name): \(from.rawValue) → \(to.rawValue)\(because)")
            journal.record("transition", cause, from: from, to: to, helper: machine.state.chosenHelper)
            // Another cause says why something was begun, and not why it succeeded.
            if from == .evaluating, to == .authenticating { journal.note { $0.why = cause } }
            if [.authenticated, .maintaining].contains(from), !machine.keepsLogin, departure != .daemonEnds {
                save("ending an association") { try $0.endAssociation($1, of: index) }
            }
        case .beginAttempt(let id): beginAttempt(id)
        case .endAttempt(_, let outcome): endAttempt(outcome)
        case .setGate(let open):
            services.events?.gateChanged()
            guard services.settings.gate == .routes else { break }
            journal.record("gate", open ? "open to ordinary traffic" : "closed to ordinary traffic")
        case .sendCommand(let id, let command, let helper, let justJoined): send(id, command, to: helper, justJoined)
        case .cancelCommand(let id): conversation.cancel(id, in: turn)
        case .startTimer(let id, let instant, let purpose): timers?.start(id, at: instant, for: purpose)
        case .stopTimer(let id): timers?.stop(id)
        case .startProbe(let id, let fresh):
            guard let link else { break }
            prober.start(id, about: link, fresh: fresh) { [weak self] answer in
                self?.feed(.verdictReached(id, answer?.verdict, secondsRemaining: answer?.secondsRemaining))
            }
        case .cancelProbe(let id): prober.cancel(id)
        case .showPrompt(let id, let prompt, let helper):
            guard let joined else { break }
            desk.show(id, prompt, from: helper, in: joined.network, portal: conversation.askingPortal)
        case .withdrawPrompt(let id): desk.withdraw(id, in: turn, departure)
        case .remember(let helper): remember(helper)
        case .keepLogin: keptLogin = (sessions.present, desk.answers, conversation.shownPortal)
        case .restoreLogin(let helper):
            guard let kept = keptLogin else { break }
            (sessions.present, desk.answers) = (kept.session, kept.answers)
            conversation.begin(remembered: kept.portal)
            journal.note { ($0.helper, $0.why, $0.lastWord) = (helper, "it had logged in before", nil) }
        case .dropLogin:
            keptLogin = nil
            if !machine.keepsLogin { save("ending an association") { try $0.endAssociation($1, of: index) } }
        case .forgetChoice(let helper): forgetChoice(of: helper)
        case .dropSession: if let joined { sessions.end(in: joined) }
        case .hold(let reason, let duration, let cause):
            guard let stored = StoredHold.Reason(rawValue: reason.rawValue) else { break }
            let until = duration.map { WallClock.now + $0.milliseconds }
            save("holding a network") { try $0.setHold($1, StoredHold(reason: stored, until: until, sentence: cause)) }
        case .releaseHold: save("releasing a hold") { try $0.releaseHold($1) }
        case .disassociate:
            // The answer comes after this event's actions, as any other event does.
            if services.events?.disassociate(index) != true { events.append(.disassociationRefused) }
        case .strike(let helper, let reason):
            // A crash was reported with its own sentence before.
            if reason == .silence { services.blame(helper, Problem(.helperTimeout, "\(helper) did not answer in time.")) }
            services.strikes.strike(helper)
            services.events?.strikesChanged()
        case .acquit(let helper):
            services.faults[helper] = nil
            if services.strikes.count(helper) > 0 {
                services.strikes.acquit(helper)
                services.events?.strikesChanged()
            }
        case .report(let problem):
            problems.report(problem)
            journal.record("problem", problem.message)
            services.log.notice("\(name): \(Hearsay.line(problem.message))")
        case .clearProblems: problems.clear()
        }
    }

    private func save(_ what: String, _ body: (Store, NetworkID) throws -> Void) {
        guard let joined else { return }
        services.saving(what) { try body(services.store, joined.network) }
    }

    var link: Link? { joined?.link(attempt: journal.attempt?.id, interface: name, settings: services.settings) }

    private func beginAttempt(_ id: AttemptID) {
        guard let joined else { return }
        // The record may have come after the join, with other resolvers and the portal's API.
        if let facts = services.events?.facts(for: joined.snapshot) { self.joined?.facts = facts }
        hasNews = false
        services.events?.attemptBegan()
        journal.beginAttempt("\(run)-\(id.number)", in: joined.network, label: joined.label)
    }

    private func endAttempt(_ outcome: AttemptOutcome) {
        guard let joined, journal.attempt?.isOpen == true else { return }
        // Answers are for the login that they were given for, and for no later one.
        if outcome != .online { desk.dropAnswers(mayReturn: keptLogin != nil) }
        journal.endAttempt(outcome, departure, in: joined.network, portal: conversation.shownPortal)
        if outcome == .online { services.events?.loginProven(on: index) }
    }

    func send(_ id: CommandID, _ command: Command, to helper: String, _ justJoined: Bool) {
        // A new login is remembered again.
        if command == .authenticate { joined?.isForgotten = false }
        guard let joined, let link else { return }
        // A command of a state with a chosen helper is sent in the turn that enters the state.
        let chosen = machine.state.chosenHelper ?? (command == .evaluate ? nil : helper)
        let network = joined.network(
            for: helper, chosen: chosen, interface: name,
            autoJoined: machine.state.joined?.arrival.autoJoined ?? true, justJoined: justJoined)
        conversation.send(id, command, to: helper, about: joined, network, on: link)
    }

    private func remember(_ helper: String) {
        guard let joined, joined.network.key != nil, !joined.isForgotten else { return }
        let association = joined.snapshot.associationMark.map {
            StoredAssociation(
                interface: index, helper: helper, link: $0, id: joined.association,
                ends: machine.state.sessionEnd.map(WallClock.time(of:)))
        }
        save("remembering a choice") { store, network in
            try store.remember(
                network,
                RememberedChoice(
                    helper: helper, field: machine.state.joined?.field, portal: conversation.shownPortal, committed: WallClock.now
                ),
                in: association)
            if services.settings.remember != .never { try sessions.store(for: network, of: helper) }
        }
        desk.keepAnswers(for: joined.network, of: helper, hasMemory: sessions.session(of: helper)?.memory != nil)
    }

    /// Forgets the choice of this helper; another helper that is remembered stays.
    private func forgetChoice(of helper: String) {
        sessions.drop(of: helper)
        guard let joined, services.store.remembered(joined.network, now: WallClock.now)?.helper == helper else { return }
        save("forgetting a choice") { try $0.dropChoice($1) }
    }
}
