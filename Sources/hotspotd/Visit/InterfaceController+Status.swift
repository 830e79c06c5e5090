import ControlAPI
import EventLoop
import ForeignText
import HotspotCore
import HotspotMachine

extension InterfaceController {
    var status: InterfaceStatus {
        var status = InterfaceStatus(interface: name, state: machine.state.name, since: since)
        // Ask the machine too, because it knows before the controller that the network was left.
        if let joined, machine.state.joined != nil {
            status.ssid = joined.label
            status.ssidHex = joined.ssid.hex
            status.bssid = joined.bssid?.description
            status.link = joined.details(with: services.settings)
            status.network = joined.network.key
        }
        status.helper = machine.state.chosenHelper ?? machine.switchedOffOwner
        status.outcome = journal.attempt.flatMap { attempt in attempt.outcome.map { attempt.word($0) } }
        status.portal = commands.shownPortal.map { Printable.text($0.origin, limit: 300) }
        status.portalKind = commands.shownPortal.map { Printable.text($0.kind, limit: 64) }
        status.portalKey = commands.shownPortal?.pin.map { Printable.text($0, limit: 64) }
        status.captive = machine.state.isCaptive
        // A session whose time is over is not shown with 0 s left; the next probe decides.
        status.secondsRemaining = machine.gateIsOpen ? sessions.secondsLeft.flatMap { $0 > 0 ? $0 : nil } : nil
        status.bytesRemaining = status.helper.flatMap { sessions.session(of: $0)?.bytesRemaining }
        status.nextMaintain = machine.state.nextMaintain.map(WallClock.time(of:))
        status.nextLogin = machine.state.nextLogin.map(WallClock.time(of:))
        if let (until, isProof) = machine.state.awaited {
            status.awaits = (isProof ? Awaited.open : .portal).rawValue
            status.awaitsUntil = WallClock.time(of: until)
        }
        status.prompt = desk.prompt?.token
        status.handsOver = desk.prompt?.prompt.handsOver == true ? true : nil
        status.reason = desk.prompt == nil ? nil : journal.attempt?.lastWord
        status.warning = warning
        status.answers = desk.answers.outcome?.words
        status.said = journal.attempt?.said
        // Let the last verdict decide whether HTTPS is blocked, even if it came in an earlier attempt.
        let isLimited = machine.state.joined?.lastVerdict == .partial
        status.problems = problems.all.filter { $0.code != .httpsBlocked } + (isLimited ? [.httpsBlocked] : [])
        // The prober is a helper's program, too. If there is no sandbox, show only the problem of the sandbox.
        if services.host.sandboxProblem != nil { status.problems.removeAll { $0.code == .proberMissing } }
        if isLimited, let clock = prober.clockProblem { status.problems.append(clock) }
        // Show the result of the last probe, which may be later than the probe that led to the problem.
        if let silence = prober.unreachableProblem {
            status.problems = status.problems.map { $0.code == .internetLimited ? silence : $0 }
        }
        if let obstacle {
            // Show only the obstacle, because it explains why nothing answers.
            status.problems.removeAll { $0.code == .internetLimited || $0.code == obstacle.code }
            status.problems.append(obstacle)
        }
        // If the portal asks the user again, the changed hardware address is a likely reason.
        if desk.prompt != nil, let before = joined?.otherHardware { status.problems.append(Self.macChanged(before)) }
        if let owner = machine.switchedOffOwner { status.problems.append(switchedOff(owner)) }
        if joined?.isForgotten == true, machine.keepsLogin || machine.state.endsSession { status.problems.append(forgotten) }
        return status
    }

    /// Why the user should not trust the portal, for status, notifications and Browse alike; `nil` while the network is open.
    var warning: String? {
        guard let joined, !machine.gateIsOpen else { return nil }
        return desk.warning(about: desk.prompt?.portal ?? commands.askingPortal, in: joined.network)
    }

    /// The rule or address of this computer that blocks answers.
    var obstacle: Problem? { problems.all.first { $0.code == .addressConflict } ?? prober.firewallProblem }

    func rename(to name: String) {
        guard name != self.name else { return }
        services.log.info("\(self.name) is now called \(name)")
        journal.interface = name
        services.events?.statusChanged()
    }

    /// Whether the network is closed, and a login may begin.
    var waitsForLogin: Bool {
        guard let joined, machine.acceptsLogin, !machine.gateIsOpen else { return false }
        return !services.store.isDisabled(helper: nil, ssid: joined.network.switchName)
    }

    /// The helper whose session here was logged off. It logs in next, as it would on a return to the network, unless another helper has appeared or
    /// changed since.
    var returning: String? {
        guard case .inactive(.held(_, .loggedOff, _)) = machine.state, let joined,
            let choice = services.store.remembered(joined.network, now: WallClock.now)
        else { return nil }
        let others = machine.candidates.filter { choice.contenders?.contains($0.mark) == false }
        return others.isEmpty && machine.candidates.contains { $0.name == choice.helper } ? choice.helper : nil
    }

    /// Returns why a session can be neither maintained nor ended, with the command that helps.
    func switchedOff(_ owner: String) -> Problem {
        let helper = services.displayName(owner)
        guard services.hasHelper(owner) else {
            return Problem(.disabled, "\(helper) logged in here but is no longer installed, so nothing keeps the session.")
        }
        let isOffHere = !services.store.isDisabled(helper: owner, ssid: nil)
        let network = isOffHere ? joined.flatMap { ShellWord.argument($0.label) }.map { " \($0)" } ?? "" : ""
        return Problem(
            .disabled, "\(helper) logged in here but is switched off, so hotspotd can neither keep nor end the session.",
            hint: "hotspotctl enable --helper \(owner)\(network), then hotspotctl logoff \(name)")
    }

    private static func macChanged(_ before: HardwareAddress) -> Problem {
        Problem(
            .macChanged,
            "The last login here used the hardware address \(before), so the portal will see a new device.",
            hint: "keep the same address for this network (NetworkManager: cloned-mac-address=stable)")
    }

    private var forgotten: Problem {
        Problem(
            .forgotten,
            "hotspotd has forgotten this network, but the session continues. You can end the session until you leave the network or hotspotd restarts.",
            hint: "hotspotctl logoff \(name)")
    }

    // MARK: Questions to the prober outside of attempts

    /// The link for a separate probe, which does not reuse the result of a probe during a login.
    var linkOfItsOwn: Link? {
        var link = link
        link?.attempt = Services.randomID()
        return link
    }

    /// Probes for a client; the machine gets the verdict too.
    func check(_ answer: @escaping (ProbeAnswer?) -> Void) {
        guard let link = linkOfItsOwn else { return answer(nil) }
        prober.ask(about: link, fresh: true, asksNames: true) { [weak self] found in
            if let found { self?.feed(.verdictSeen(found.verdict, place: found.place)) }
            answer(found)
        }
    }
}
