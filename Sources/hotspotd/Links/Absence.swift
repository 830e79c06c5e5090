import EventLoop
import Glibc
import HotspotCore
import Logging

/// Logs off when the user walks away, and logs in again when the user returns. Only logind reports absence; without logind, nothing happens.
@LoopActor final class Absence {
    /// The signs that the user is away.
    enum AbsenceSign: Hashable {
        case sleep, lid, idle
        case lock(session: String)
    }

    private static let (service, path) = ("org.freedesktop.login1", "/org/freedesktop/login1")
    private let services: Services
    private let problems: ProblemList
    private let controllers: () -> [InterfaceController]
    private var bus: SystemBus?
    private var signs: Set<AbsenceSign> = []
    /// The networks that were logged off because the user is away, by interface.
    private var loggedOff: [Int: NetworkID] = [:]
    private var idleTimer: EventSource?
    private var delay = SuspendDelay.none

    /// The delay before a suspend, which logind grants.
    private enum SuspendDelay {
        case none, asked
        /// The suspend waits until this descriptor is closed, 5 s at most.
        case held(Int32)
    }

    init(services: Services, problems: ProblemList, controllers: @escaping () -> [InterfaceController]) {
        self.services = services
        self.problems = problems
        self.controllers = controllers
    }

    private var wanted: LogoffOn { services.settings.logoffOn }

    /// Listens to logind, if the settings require it.
    func applySettings() {
        guard !wanted.isEmpty else {
            (bus, idleTimer, signs) = (nil, nil, [])
            problems.withdraw(.logoffOn)
            return releaseDelay()
        }
        do throws(LoopError) {
            let bus = if let bus, bus.isOpen { bus } else { try listen() }
            self.bus = bus
            if wanted.sleep { holdDelay() } else { releaseDelay() }
            // Ask the bus whether logind runs, because there may be a bus without logind.
            let broker = SystemBus.Object("org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus")
            bus.call("NameHasOwner", of: broker, [.text(Self.service)]) { [weak self] in
                guard let self, !wanted.isEmpty else { return }
                problems.set(.logoffOn, $0?.first?.boolean == true ? nil : Self.silence("logind does not run"))
            }
        } catch {
            problems.report(Self.silence("hotspotd cannot listen to logind: \(error)"))
        }
    }

    private func listen() throws(LoopError) -> SystemBus {
        let bus = try SystemBus { [weak self] in self?.handle($0) }
        for member in ["PrepareForSleep", "SessionRemoved"] {
            try bus.listen(to: member, of: Self.service + ".Manager", from: Self.service)
        }
        for interface in ["Manager", "Session"] {
            try bus.listenToProperties(of: "\(Self.service).\(interface)", from: Self.service)
        }
        return bus
    }

    private static func silence(_ reason: String) -> Problem {
        Problem(
            .logoffOn, "LogoffOn= does nothing, because \(reason).",
            hint: "systemctl status systemd-logind; once it runs: \(OwnService.reload)")
    }

    func handle(_ signal: SystemBus.BusSignal) {
        // logind runs now, so the problem that it is missing no longer applies.
        problems.withdraw(.logoffOn)
        if let sleeps = signal.flags["PrepareForSleep"] {
            notice(.sleep, sleeps, if: wanted.sleep)
            if sleeps { stateChanged() } else { holdDelay() }
        }
        if let isClosed = signal.flags["LidClosed"] { notice(.lid, isClosed, if: wanted.lid) }
        if let isLocked = signal.flags["LockedHint"] { notice(.lock(session: signal.path), isLocked, if: wanted.lock) }
        // Treat the end of a session as unlocking, because a session that ends while locked is never unlocked.
        if signal.flags["SessionRemoved"] != nil { notice(.lock(session: signal.path), false, if: true) }
        // Use only the manager's property, which is for the whole computer; each session has an IdleHint as well.
        if let isIdle = signal.flags["IdleHint"], signal.path == Self.path { idleChanged(isIdle) }
    }

    private func idleChanged(_ isIdle: Bool) {
        idleTimer = nil
        guard isIdle, let idle = wanted.idle else { return notice(.idle, false, if: true) }
        idleTimer = try? EventLoop.shared.schedule(after: idle, accuracy: .seconds(1)) { [weak self] in
            self?.notice(.idle, true, if: true)
        }
    }

    private func notice(_ sign: AbsenceSign, _ isAway: Bool, if isWanted: Bool) {
        guard isAway else {
            signs.remove(sign)
            return stateChanged()
        }
        guard isWanted else { return }
        signs.insert(sign)
        for controller in controllers() where controller.machine.acceptsLogoff(by: .user) {
            guard let network = controller.joined?.network else { continue }
            controller.journal.record("logoff", "the user is away (LogoffOn=)")
            loggedOff[controller.index] = network
            controller.feed(.logoffRequested(by: .user))
        }
    }

    /// Lets a suspend continue once no session is being ended. On the user's return, allows logins to the networks that were logged off.
    func stateChanged() {
        let busy = Set(controllers().filter(\.machine.state.endsSession).map(\.index))
        if signs.contains(.sleep), busy.isEmpty { releaseDelay() }
        guard signs.isEmpty else { return }
        for (index, network) in loggedOff where !busy.contains(index) {
            loggedOff[index] = nil
            // Release the hold even if the network is not joined again yet.
            services.saving("releasing a hold") { try services.store.releaseHold(network) }
            controllers().first { $0.index == index && $0.joined?.network == network }?.feed(.restEnded)
        }
    }

    // MARK: Time for the logoff before a suspend

    private func holdDelay() {
        guard wanted.sleep, case .none = delay, let bus else { return }
        do throws(LoopError) {
            try bus.askForDescriptor(
                "Inhibit", of: Self.service + ".Manager", at: Self.path, from: Self.service,
                ["sleep", "hotspotd", "Logs off from the hotspot", "delay"]
            ) { [weak self] descriptor in
                guard let self, case .asked = delay else {
                    // Close the descriptor: the delay is no longer needed.
                    if let descriptor { close(descriptor) }
                    return
                }
                delay = descriptor.map { .held($0) } ?? .none
            }
            delay = .asked
        } catch {
            services.log.notice("a suspend does not wait for the logoff: \(error)")
        }
    }

    private func releaseDelay() {
        if case .held(let descriptor) = delay { close(descriptor) }
        delay = .none
    }
}
