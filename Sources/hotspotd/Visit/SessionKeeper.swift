import EventLoop
import HotspotCore
import HotspotMachine
import Store
import Varlink
import Vault

/// A session, the helper that made it, and its end, if the helper reported it.
struct PresentSession {
    var session: Session?
    var owner: String?
    var end: Instant?
    /// The session in a successful reply to Logoff. Its memory is for the next login. The present session stays until its end is proven (D31).
    var remains: Session??
}

/// A session as it is stored.
private struct StoredSession: Codable {
    var session: Session
    /// Unix time in milliseconds.
    var ends: Int?
}

/// The session of one interface. Its memory is returned only to the helper that made it.
@LoopActor final class SessionKeeper {
    private let interface: Int
    private let services: Services
    private let journal: Journal
    private let problems: ProblemList
    /// The session in memory, which can be saved and restored.
    var present = PresentSession()
    private var session: Session? { present.session }

    init(interface: Int, services: Services, journal: Journal, problems: ProblemList) {
        self.interface = interface
        self.services = services
        self.journal = journal
        self.problems = problems
    }

    /// Returns the session as it is now, if it belongs to this helper.
    func session(of helper: String) -> Session? {
        guard present.owner == helper, var session else { return nil }
        if session.secondsRemaining != nil { session.secondsRemaining = secondsLeft }
        return session
    }

    /// The seconds until the session ends, if that is known.
    var secondsLeft: Int? { present.end.map { max(0, Int(($0 - EventLoop.now).inSeconds)) } }

    func setPresent(_ session: Session, of helper: String) {
        var session = session
        if let memory = session.memory, Coding.encode(memory).count > Session.memoryLimit {
            session.memory = nil
            problems.report(Problem(.memoryTooLarge, "\(helper) wants to store more than 16 KiB, which was dropped."))
        }
        present = PresentSession(session: session, owner: helper, end: present.end)
    }

    /// Notes the reply to Logoff, whose memory is kept for the next login.
    func setRemains(_ reply: Session?, of helper: String) {
        if present.owner == helper { present.remains = .some(reply) }
    }

    /// Notes that the session continues. Its known end stays, unless it has passed.
    func goOn() { if secondsLeft == 0 { present.end = nil } }

    /// Notes the end of the session; negative seconds mean that it is unknown.
    func setEnd(in seconds: Int?) {
        present.end = seconds.flatMap { $0 >= 0 ? EventLoop.now + .seconds(min($0, 315_360_000)) : nil }
    }

    func drop() { present = PresentSession() }

    /// Drops the session if it belongs to this helper.
    func drop(of helper: String) { if present.owner == helper { drop() } }

    // MARK: Stored sessions

    /// Seals the session into the store, if it belongs to this helper.
    func store(for network: NetworkID, of helper: String) throws {
        guard let sealed = try sealed(for: network, of: helper) else { return }
        try services.store.setSealedSession(network, of: interface, sealed)
    }

    /// Returns the session sealed, if it belongs to this helper.
    func sealed(for network: NetworkID, of helper: String) throws -> [UInt8]? {
        let purpose = Purpose.session(network: network, helper: helper, program: services.program(of: helper))
        let ends = present.end.map(WallClock.time(of:))
        return try session(of: helper).map { session in
            try services.vault.seal(Coding.encode(StoredSession(session: session, ends: ends)), for: purpose)
        }
    }

    /// Drops the session, except for the memory that its helper keeps for the next login.
    func end(in joined: Joined) {
        let over = present
        drop()
        // If the session ended without a successful Logoff, keep all of its memory, which records the accepted terms.
        if let owner = over.owner, let memory = (over.remains ?? over.session)?.memory {
            setPresent(Session(memory: memory), of: owner)
        }
        let keeps = session?.memory != nil && !joined.isForgotten && services.settings.remember != .never
        if !keeps { drop() }
        // With Remember=never, store nothing new, and keep the session that is already stored.
        let isFrozen = services.settings.remember == .never && services.store.sealedSession(joined.network, of: interface) != nil
        if isFrozen, !joined.isForgotten { return }
        services.saving("ending a session") {
            if keeps, let owner = present.owner { return try store(for: joined.network, of: owner) }
            try services.store.setSealedSession(joined.network, of: interface, nil)
            // Drop the consents as well: without the session's memory, a helper cannot notice changed terms.
            try services.store.dropConsents(joined.network)
        }
    }

    func restore(for network: NetworkID, of helper: String?) {
        present = PresentSession(owner: helper, end: present.end)
        guard let helper, let sealed = services.store.sealedSession(network, of: interface) else { return }
        do {
            let octets = try open(sealed, network, helper).withBytes { Array($0) }
            guard let stored = try? Coding.decode(StoredSession.self, from: octets) else {
                // An older version of hotspotd stored sessions without the time of their end.
                return present.session = try Coding.decode(Session.self, from: octets)
            }
            present.session = stored.session
            if present.end == nil, let ends = stored.ends, ends > WallClock.now { setEnd(in: (ends - WallClock.now) / 1000) }
        } catch {
            services.log.notice(
                "\(journal.interface): the stored session cannot be opened, or belongs to another program than the present one of \(helper): \(error)"
            )
        }
    }

    /// Restores the session of a helper if another helper's session replaced it, for example while the helper was switched off, or if the choice of
    /// the helper was forgotten after a failure. The session's memory records which terms were accepted.
    func bringBack(for network: NetworkID, of helper: String) {
        let remembered = services.store.remembered(network, now: WallClock.now)?.helper
        guard present.owner != helper, remembered ?? helper == helper else { return }
        restore(for: network, of: helper)
    }

    /// Opens a session that may have been sealed by an older daemon, which named no program.
    private func open(_ sealed: [UInt8], _ network: NetworkID, _ helper: String) throws -> SecretBytes {
        let program = services.program(of: helper)
        do {
            return try services.vault.open(sealed, for: .session(network: network, helper: helper, program: program))
        } catch {
            guard program != nil else { throw error }
            return try services.vault.open(sealed, for: .session(network: network, helper: helper))
        }
    }
}
