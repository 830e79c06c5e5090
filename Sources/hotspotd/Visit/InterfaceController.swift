import Answers
import EventLoop
import ForeignText
import HotspotCore
import HotspotMachine
import LinkState
import Store

/// A login that can be restored: its session, its answers, and the portal that they are for.
private struct KeptLogin {
    let session: PresentSession
    let answers: AnswerSheet?
    let portal: Portal?
}

/// An event and its cause, which the history shows.
private struct Occurrence {
    let event: Event
    var cause: String?
    var reason = LeaveReason.linkLost
}

/// The shell of one interface's machine: passes events to it and performs its actions. Only the machine has states.
@LoopActor final class InterfaceController {
    let index: Int
    let journal: Journal
    let problems = ProblemList()
    let desk: AnswerDesk
    let commands: HelperCommands
    private(set) var machine: Machine
    private(set) var joined: Joined?
    let services: Services
    let sessions: SessionKeeper
    let prober: LinkProber
    private var troubleWatch: TroubleWatch?
    private(set) var since = WallClock.now
    private var timers: MachineTimers?
    private var events: [Occurrence] = []
    private var isFeeding = false
    /// The logins to restore if the network opens late, or if their helper is switched on again.
    private var kept: [LoginID: KeptLogin] = [:]
    /// The login that was not proven before the link was lost, until the next association (D25).
    private var lostLogin: (network: NetworkID, late: LateLogin)?
    /// A random name for this run of the daemon, because the machine numbers its attempts from 1 again after a restart.
    private let run = Services.randomID()
    /// The network that the user has asked to join.
    var wanted: SSID?
    /// Whether IPv4, IPv6 or other resolvers came after the join, and there was no probe since.
    private var hasNewWay = false
    /// Whether the facts about the link were read in this turn of the loop.
    private var isJoining = false
    /// Whether the portal's API became known after the helpers were asked.
    private var learnedPortalAPI = false

    var name: String { journal.interface }

    init(index: Int, name: String, services: Services) {
        self.index = index
        self.services = services
        machine = Machine(policy: services.settings.policy)
        journal = Journal(interface: name, services: services)
        desk = AnswerDesk(services: services, journal: journal, problems: problems)
        sessions = SessionKeeper(interface: index, services: services, journal: journal, problems: problems)
        commands = HelperCommands(
            services: services, journal: journal, desk: desk, sessions: sessions, problems: problems)
        prober = LinkProber(services: services, journal: journal, commands: commands)
        // The status is incomplete while an event is handled, so it is shown afterwards.
        problems.onChange = { [weak self] in if let self, !isFeeding { self.services.events?.statusChanged() } }
        commands.onAnswer = { [weak self] in self?.feed(.answered($0, $1)) }
        timers = MachineTimers(waking: services.waking, log: services.log) { [weak self] in self?.feed(.timerFired($0)) }
        troubleWatch = TroubleWatch(waking: services.waking) { [weak self] onUse in
            self?.joined.flatMap { LinkUse(of: $0.snapshot.gateways, on: index, onUse: onUse) }
        } probe: { [weak self] done in
            self?.check { _ in done() }
        }
    }

    // MARK: Events

    /// Passes an event to the machine and performs its actions. An event that occurs meanwhile waits for its turn.
    ///
    /// - Parameters:
    ///   - cause: the reason for the event, if neither the user nor the link caused it.
    ///   - reason: why the network is left.
    func feed(_ event: Event, because cause: String? = nil, leaving reason: LeaveReason = .linkLost) {
        events.append(Occurrence(event: event, cause: cause, reason: reason))
        guard !isFeeding else { return }
        isFeeding = true
        while !events.isEmpty {
            let next = events.removeFirst()
            let actions = machine.handle(next.event, at: EventLoop.now)
            for action in actions { perform(action, among: actions, next) }
            commands.endTurn(in: machine.state, of: joined)
        }
        isFeeding = false
        askAgain()
        probeAgain()
        troubleWatch?.setWanted(machine.state.name == .authenticated)
        // Helpers that were started for this interface but not asked are ended once the interface needs none.
        if machine.state.needsNoHelper { services.host.standDown(interface: index) }
        services.events?.statusChanged()
    }

    func join(_ arrived: Joined, because cause: String? = nil) {
        var joined = arrived
        let known = KnownNetwork(joined, on: index, in: services.store)
        if let same = known.resumed ?? known.unproven { joined.association = same.id }
        joined.otherHardware = known.otherHardware(than: joined.snapshot.hardwareAddress)
        self.joined = joined
        prober.association = joined.association
        // Changed rules and time-outs in the settings take effect here.
        machine.adopt(services.settings.policy)
        commands.begin(remembered: known.remembered?.portal)
        sessions.restore(for: joined.network, of: known.unproven?.helper ?? known.remembered?.helper)
        if let seconds = known.secondsRemaining { sessions.setEnd(in: seconds) }
        if let lost = lostLogin {
            let isHere = lost.network == joined.network && lost.late.end > EventLoop.now
            if !isHere { (lostLogin, kept) = (nil, [:]) }
            if isHere, known.remembered?.helper ?? lost.late.helper == lost.late.helper, let id = lost.late.id,
                let session = kept[id]?.session
            {
                sessions.present = session
            }
        } else {
            kept = [:]
        }
        services.log.info("\(name): joined \(joined.label), address \(joined.snapshot.addresses.first ?? "none")")
        updateCandidates()
        isJoining = true
        feed(
            .addressAcquired(
                Arrival(
                    network: joined.network, bssid: joined.bssid, remembered: known.remembered?.helper,
                    contenders: known.remembered?.contenders, resumed: known.resumed == nil ? nil : known.schedule,
                    session: MaintainSchedule(secondsRemaining: sessions.secondsLeft, at: EventLoop.now),
                    late: lostLogin?.late ?? known.late(within: machine.policy.latePatience),
                    // If the last visit needed no login, an open network is not attributed to a login from before the daemon's start.
                    wasUpBefore: joined.wasUpBefore && !known.wasOpen, hadPortal: known.hadPortal, hold: known.hold,
                    autoJoined: wanted != joined.ssid || wanted == nil, canDisassociate: joined.security != .wired)),
            because: cause)
        (isJoining, wanted, lostLogin) = (false, nil, nil)
    }

    /// Leaves the network without ending the association, which the next daemon continues.
    func end() {
        leave("the daemon ends", as: .daemonEnds)
    }

    func leave(_ words: String, as reason: LeaveReason = .linkLost) {
        guard let joined else { return }
        services.log.info("\(name): \(words)")
        var lost: [LoginID: KeptLogin] = [:]
        if reason == .linkLost, !joined.isForgotten, joined.network.key != nil, let late = machine.lateLogin, let id = late.id {
            lostLogin = (joined.network, late)
            keep(id, of: late.helper)
            lost = kept.filter { $0.key == id }
        }
        feed(.addressLost, leaving: reason)
        endAssociation(reason)
        services.host.standDown(interface: index)
        self.joined = nil
        prober.association = nil
        hasNewWay = false
        commands.end()
        if reason != .daemonEnds { services.host.forgetSecrets() }
        sessions.drop()
        desk.feed(.left)
        kept = lost
        journal.leaveNetwork()
        problems.clear()
        services.events?.statusChanged()
    }

    /// The network that was left, and whose login may still be proven.
    var lostNetwork: NetworkID? { lostLogin?.network }

    /// Notes that the network's records were forgotten. A running session continues until it ends, is not stored, and can be logged off.
    func forgetStored() {
        joined?.isForgotten = true
        lostLogin = nil
        // Of a network that was left, only the kept logins are still here; drop them with their answers.
        if joined == nil { kept = [:] }
        desk.feed(.forgotten)
        journal.leaveNetwork()
    }

    func roam(to bssid: HardwareAddress, signal: Int?) {
        joined?.bssid = bssid
        joined?.signal = signal ?? joined?.signal
        feed(.roamed(bssid))
    }

    /// Stores the link's state for the next command, because it may change after the join.
    ///
    /// - Parameter facts: the facts about the link, if they were read again.
    func refresh(_ link: LinkSnapshot, facts: LinkFacts? = nil) {
        guard let before = joined else { return }
        joined?.snapshot = link
        if link.hasNewFamily(since: before.snapshot) { hasNewWay = true }
        if let facts, facts != before.facts {
            hasNewWay = hasNewWay || facts.nameservers != before.facts.nameservers
            joined?.facts = facts
            if facts.announcement != before.facts.announcement { learn(facts) }
        }
        // The association is the same one for the next daemon, although its mark changed.
        if let mark = link.associationMark, mark != before.snapshot.associationMark {
            save("following an association") { try $0.followAssociation($1, of: index, as: mark) }
        }
        probeAgain()
    }

    /// If it is not known whether the network is open, probes again with the family (IPv4 or IPv6) or the resolvers that came after the join: perhaps
    /// the endpoints answer only that way.
    private func probeAgain() {
        guard hasNewWay, !prober.isBusy else { return }
        hasNewWay = false
        if machine.state.name != .inactive, machine.state.isCaptive == nil { check { _ in } }
    }

    /// Stores facts about the link that became known after the join, and asks the helpers again if that may help.
    func learn(_ facts: LinkFacts) {
        guard joined != nil, let announcement = facts.announcement else { return }
        joined?.facts = facts
        journal.record("link", "the network announces its portal's API (\(announcement.source))")
        learnedPortalAPI = facts.portalAPI != nil
        askAgain()
    }

    /// Asks the helpers again if none of them could log in and they did not know the portal's API.
    private func askAgain() {
        guard learnedPortalAPI, journal.attempt?.outcome == .unclaimedCaptive else { return }
        learnedPortalAPI = false
        feed(.restEnded, because: "the network announced its portal's API")
    }

    func updateCandidates() {
        guard let joined else { return }
        let candidates = services.candidates(for: joined.network, joined.ssid, joined.security)
        if candidates != machine.candidates { feed(.helpersChanged(candidates)) }
    }

    /// Ends the network's hold, because the user asked to join the network (D13, D22). A network that is switched off stays so.
    func wantedAgain() {
        switch machine.state {
        case .inactive(.held(_, .disabled, _)): break
        case .inactive, .failure: feed(.restEnded, because: "you asked to join the network")
        case .evaluating, .authenticating, .presentingUI, .authenticated, .maintaining, .loggingOff: break
        }
    }

    /// Starts again after a helper or this network was switched on. Switching a helper on ends only the rest after a failed login, and a login that
    /// waits to try again or for a browser.
    func switchedOn(helper: String?) {
        let cause = helper.map { "\($0) was switched on" } ?? "the network was switched on"
        switch machine.state {
        case .failure, .inactive(.held(_, .autoJoinOff, _)), .authenticating, .presentingUI: feed(.restEnded, because: cause)
        case .inactive, .evaluating, .authenticated, .maintaining, .loggingOff:
            if helper == nil { feed(.restEnded, because: cause) }
        }
    }

    /// Passes on the user's answers, which are already checked.
    func answer(
        _ shown: ShownPrompt, _ values: [String: String], stored: Set<String> = [], remember: Bool, confirmed: Bool = false,
        from laptop: String? = nil
    ) {
        let values = values.mapValues(SecretText.init)
        desk.feed(
            .answered(shown, values, confirmed: stored, remember: remember, agreed: confirmed, from: laptop),
            desk.context(for: shown))
        feed(.promptAnswered(shown.id))
    }

    func dismiss(_ shown: ShownPrompt) {
        desk.feed(.dismissed)
        feed(.promptDismissed(shown.id))
    }

    /// Continues a login that waited only for the PIN; a prompt for anything else offers the stored answers.
    func resumeAfterPIN() {
        if let helper = desk.unlocked() { feed(.loginRequested(helper: helper, fresh: true), because: "the PIN was typed") }
    }

    // MARK: Actions

    private func perform(_ action: Action, among turn: [Action], _ occurrence: Occurrence) {
        switch action {
        case .transition(let from, let to, let cause):
            since = WallClock.now
            let cause = occurrence.reason.cause ?? occurrence.cause ?? cause
            let because = cause.isEmpty ? "" : " (\(QuotedProblem.line(cause)))"
            services.log.info("\(name): \(from.rawValue) → \(to.rawValue)\(because)")
            journal.record("transition", cause, from: from, to: to, helper: machine.state.chosenHelper)
            // Only the cause of this transition says why the helper was chosen.
            if from == .evaluating, to == .authenticating { journal.note { $0.why = cause } }
            if [.authenticated, .maintaining, .loggingOff].contains(from) { endAssociation(occurrence.reason) }
        case .beginAttempt(let id): beginAttempt(id)
        case .endAttempt(_, let outcome):
            // If the session is not dropped, its end is not proven: the portal did not confirm the logoff (D13, D31).
            if outcome == .loggedOff { journal.note { $0.isLeftOpen = !turn.contains(.dropSession) } }
            endAttempt(outcome, occurrence.reason)
        case .setGate(let open):
            services.events?.gateChanged()
            guard services.settings.gate == .routes else { break }
            journal.record("gate", open ? "open to ordinary traffic" : "closed to ordinary traffic")
        case .sendCommand(let id, let command, let helper, let justJoined): send(id, command, to: helper, justJoined)
        case .cancelCommand(let id): commands.cancel(id, in: turn)
        case .startTimer(let id, let instant, let purpose): timers?.start(id, at: instant, for: purpose)
        case .stopTimer(let id): timers?.stop(id)
        case .startProbe(let id, let fresh):
            guard let link else { break }
            prober.start(id, about: link, fresh: fresh) { [weak self] in
                self?.feed(.verdictReached(id, $0?.verdict, secondsRemaining: $0?.secondsRemaining, place: $0?.place))
            }
        case .cancelProbe(let id): prober.cancel(id)
        case .showPrompt(let id, let prompt, let helper):
            guard let joined else { break }
            if desk.ask(prompt, id, of: helper, in: joined.network, at: commands.askingPortal) {
                events.append(Occurrence(event: .promptAnswered(id)))
            }
        case .withdrawPrompt(let id):
            desk.feed(.withdrawn(id.number, because: occurrence.reason.endOfPrompt(in: turn)))
        case .awaitProof(let helper, let end): awaitProof(of: helper, until: end)
        case .remember(let helper): remember(helper)
        case .keepLogin(let id, let helper): keep(id, of: helper)
        case .restoreLogin(let id, let helper):
            if let login = kept[id] { restore(login, of: helper) }
        case .dropLogin(let id):
            kept[id] = nil
            endAssociation(occurrence.reason)
        case .forgetChoice(let helper): forgetChoice(of: helper)
        case .dropSession: if let joined { sessions.end(in: joined) }
        case .hold(let reason, let duration, let cause):
            guard let stored = StoredHold.Reason(rawValue: reason.rawValue) else { break }
            let until = duration.map { WallClock.now + $0.milliseconds }
            save("holding a network") { try $0.setHold($1, StoredHold(reason: stored, until: until, sentence: cause)) }
        case .releaseHold:
            save("releasing a hold") { try $0.releaseHold($1) }
            if let joined { services.events?.holdReleased(joined.ssid) }
        case .disassociate:
            var (ssid, duration): (SSID?, Duration?)
            for case .hold(_, let time, _) in turn { (ssid, duration) = (joined?.ssid, time) }
            // The result is handled after this event's actions, like any other event.
            if services.events?.disassociate(index, keepingAway: ssid, for: duration) != true {
                events.append(Occurrence(event: .disassociationRefused))
            }
        case .strike(let helper, let reason):
            // A crash was reported before, with its own sentence.
            if reason == .silence { services.blame(helper, Problem(.helperTimeout, "\(helper) did not answer in time.")) }
            services.strikes.strike(helper)
            services.events?.strikesChanged()
        case .acquit(let helper):
            services.faults[helper] = nil
            if services.strikes.count(helper) > 0 {
                services.strikes.acquit(helper)
                services.events?.strikesChanged()
            }
        case .report(let problem): report(problem)
        case .clearProblems: problems.clear()
        }
    }

    private func restore(_ login: KeptLogin, of helper: String) {
        sessions.present = login.session
        desk.feed(.restored(login.answers))
        commands.begin(remembered: login.portal)
        journal.note { ($0.helper, $0.why, $0.lastWord) = (helper, RunningAttempt.earlierLogin, nil) }
    }

    private func report(_ reported: Problem) {
        var reported = reported
        // Add the portal's answer to the login that did not open the network.
        if reported.code == .stillCaptive { reported.message = QuotedProblem.join(reported.message, journal.attempt?.lastWord) }
        let problem = reported.code == .internetLimited ? prober.unreachableProblem ?? reported : reported
        // Report the machine's own problem here, because the status adds the last probe's result.
        problems.report(reported)
        journal.record("problem", problem.message)
        services.log.notice("\(name): \(QuotedProblem.line(problem.message))")
    }

    func save(_ what: String, _ body: (Store, NetworkID) throws -> Void) {
        guard let joined else { return }
        services.saving(what) { try body(services.store, joined.network) }
    }

    var link: Link? {
        joined?.link(
            attempt: journal.attempt?.id, interface: name, settings: services.settings, probeAddresses: services.probeAddresses)
    }

    /// Keeps the login as it is now. A login that is already kept, over a lost link or before an attempt that sent nothing more, stays unchanged.
    private func keep(_ id: LoginID, of helper: String) {
        if let before = kept[id], desk.answers.hasSentNothing,
            lostLogin?.late.id == id || (before.answers != nil && before.session.owner == helper)
        {
            return
        }
        let answers = desk.answers.sheet(for: helper)
        kept = [id: KeptLogin(session: sessions.present, answers: answers, portal: commands.shownPortal)]
    }

    private func beginAttempt(_ id: AttemptID) {
        guard let joined else { return }
        // Read the facts again: a DHCP record may have come after the join, with other resolvers and the portal's API.
        if !isJoining, let facts = services.events?.facts(for: joined.snapshot) { self.joined?.facts = facts }
        learnedPortalAPI = false
        services.events?.attemptBegan()
        journal.beginAttempt("\(run)-\(id.number)", in: joined.network, label: joined.label)
    }

    private func endAttempt(_ outcome: AttemptOutcome, _ reason: LeaveReason) {
        guard let joined, journal.attempt?.isOpen == true else { return }
        let context = desk.context(for: machine.state.chosenHelper ?? "", in: joined.network, at: commands.shownPortal)
        if outcome == .online {
            desk.feed(.succeeded(kept: kept.values.first?.answers), context)
        } else if !machine.state.isKeptFree {
            // Answers are for the login in which they were typed, not for a later one.
            desk.feed(.failed(mayReturn: machine.awaitsLateOpening || lostLogin != nil), context)
        }
        if !kept.isEmpty { journal.note { $0.hasEarlierLogin = true } }
        journal.endAttempt(outcome, reason, in: joined.network, portal: commands.shownPortal)
        guard outcome == .online else { return }
        services.events?.loginProven(on: index)
    }

    func send(_ id: CommandID, _ command: Command, to helper: String, _ justJoined: Bool) {
        // A new login is stored again, but its helper gets nothing that was forgotten, such as accepted terms.
        if command == .authenticate, joined?.isForgotten == true {
            joined?.isForgotten = false
            sessions.drop()
        }
        guard let joined, let link else { return }
        // When a state with a chosen helper is entered, its command is sent in the same turn.
        let chosen = machine.state.chosenHelper ?? (command == .evaluate ? nil : helper)
        let network = joined.network(
            for: helper, chosen: chosen, interface: name,
            autoJoined: machine.state.joined?.arrival.autoJoined ?? true, justJoined: justJoined)
        commands.send(id, command, to: helper, about: joined, network, on: link)
    }
}
