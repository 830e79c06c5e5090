import EventLoop
import HotspotCore
import HotspotMachine
import Store
import Varlink
import Vault

/// A session, the helper that made it, and when it ends, if the helper said so.
struct PresentSession {
    var session: Session?
    var owner: String?
    var end: Instant?
}

/// The session of one interface. Its memory goes back to the helper that made it and to no other.
@LoopActor final class SessionKeeper {
    private let services: Services
    private let journal: Journal
    private let problems: ProblemList
    /// What is in memory, to be kept aside and put back.
    var present = PresentSession()
    private var session: Session? { present.session }

    init(services: Services, journal: Journal, problems: ProblemList) {
        self.services = services
        self.journal = journal
        self.problems = problems
    }

    var bytesRemaining: Int? { session?.bytesRemaining }

    func session(of helper: String) -> Session? { present.owner == helper ? session : nil }

    func keep(_ session: Session, of helper: String) {
        var session = session
        if let memory = session.memory, Coding.encode(memory).count > Session.memoryLimit {
            session.memory = nil
            problems.report(Problem(.memoryTooLarge, "\(helper) wants to keep more than 16 KiB; it was dropped."))
        }
        (present.session, present.owner) = (session, helper)
    }

    /// Notes the end of the session; negative seconds say that it is unknown.
    func setEnd(in seconds: Int?) {
        present.end = seconds.flatMap { $0 >= 0 ? EventLoop.now + .seconds(min($0, 315_360_000)) : nil }
    }

    func drop() { present = PresentSession() }

    /// Drops the session if it belongs to this helper.
    func drop(of helper: String) { if present.owner == helper { drop() } }

    // MARK: Stored sessions

    /// Seals the session into the store, if it belongs to this helper.
    func store(for network: NetworkID, of helper: String) throws {
        guard let session = session(of: helper) else { return }
        let purpose = Purpose.session(network: network, helper: helper, program: services.program(of: helper))
        try services.store.setSealedSession(network, try services.vault.seal(Coding.encode(session), for: purpose))
    }

    func restore(for network: NetworkID, of helper: String?) {
        (present.session, present.owner) = (nil, helper)
        guard let helper, let sealed = services.store.sealedSession(network) else { return }
        do {
            present.session = try Coding.decode(Session.self, from: try open(sealed, network, helper).withBytes { Array($0) })
        } catch {
            services.log.notice(
                "\(journal.interface): the stored session cannot be opened, or belongs to another program than \(helper)'s of now: \(error)"
            )
        }
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
