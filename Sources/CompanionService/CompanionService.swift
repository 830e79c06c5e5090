// This target is the companion service. A ``Companion`` decides; a transport, the user's calls and the daemon feed it events.

import Answers
import Companion
import ControlAPI
import EventLoop
import ForeignText
import HotspotCore
import Varlink

/// Holds the companion, and performs its actions.
@LoopActor final class CompanionService {
    /// Identifies a question or an offer together with its peer.
    struct Key: Hashable {
        var peer: PeerID
        var id: String
    }

    struct ShownOffer {
        /// The offer's name for the user's calls, because the peer may reuse its own ID for another offer.
        let name = CompanionService.newID()
        var offer: Offer
        var ends: Instant
    }

    /// A waiting offer of this laptop.
    struct MadeOffer {
        var offer: Offer
        var peer: Peer
        var ends: Instant
    }

    private var companion: Companion
    private let transport: any CompanionTransport
    private let store: CompanionStore
    private let daemon: any CompanionDaemon
    private var timer: EventSource?
    private let log: (String) -> Void
    let clock: () -> Instant

    private(set) var state = CompanionTransportState.noService
    private(set) var hasDaemon = false
    var questions: [(key: Key, question: PeerQuestion)] = []
    var offers: [(key: Key, shown: ShownOffer)] = []
    /// This laptop's own offers, at most one for each peer.
    var made: [MadeOffer] = []
    private(set) var notices: [NoticeStatus] = []
    /// The networks that the daemon has joined, with their portals; the network whose portal asks a question comes first.
    private(set) var places: [Place] = []
    private var interfaces: [InterfaceStatus] = []
    /// The daemon's questions that peers may answer.
    private var asked: [String: PendingPrompt] = [:]

    // The waiting calls, which the extension in `CompanionService+Calls.swift` handles.
    var statusWatchers: [ObjectIdentifier: (call: ServerCall, wishes: CompanionStatusParameters)] = [:]
    var pairingCall: ServerCall?
    var sharing: [ObjectIdentifier: (call: ServerCall, ids: Set<String>)] = [:]
    var deciding: [Key: ServerCall] = [:]

    private static let noticeLimit = 8

    init(
        companion: consuming Companion, transport: any CompanionTransport, store: CompanionStore, daemon: any CompanionDaemon,
        log: @escaping (String) -> Void = { _ in }, clock: @escaping () -> Instant = { EventLoop.now }
    ) {
        self.companion = companion
        (self.transport, self.store, self.daemon, self.log, self.clock) = (transport, store, daemon, log, clock)
    }

    /// Returns eight random octets in hexadecimal.
    nonisolated static func newID() -> String { Hex.encode((0..<8).map { _ in UInt8.random(in: 0...255) }) }

    var name: String { companion.name }
    var peers: [Peer] { companion.peers }

    /// Ends the transport's links, which would outlive the program.
    func stop() { transport.stop() }

    func start() {
        transport.onEvent = { [weak self] event in _ = self?.handle(event) }
        transport.onStateChange = { [weak self] state in
            self?.state = state
            self?.changed()
        }
        daemon.onStatus = { [weak self] in self?.learn($0) }
        daemon.onPrompts = { [weak self] in self?.learn($0) }
        daemon.start()
    }

    // MARK: Events and actions

    /// Does all work that is due. Returns the present time, up to which all work is done.
    func catchUp() -> Instant {
        let now = clock()
        perform(companion.handle(.timerFired, at: now))
        return now
    }

    /// Does all work that is due, then handles an event and performs the actions. A caller may therefore treat every notice among the returned
    /// actions as its own.
    ///
    /// - Parameter now: the result of ``catchUp()``, if the caller has already called it.
    @discardableResult func handle(_ event: Companion.Event, at now: Instant? = nil) -> [Companion.Action] {
        let actions = companion.handle(event, at: now ?? catchUp())
        perform(actions)
        return actions
    }

    private func perform(_ actions: [Companion.Action]) {
        for action in actions { perform(action) }
        let isQuiet = actions.allSatisfy { action in
            switch action {
            case .send, .close, .wantL2CAP, .logL2CAP, .advertise, .scan, .setTimer: true
            case .showCode, .storePeer, .removePeer, .showQuestion, .hideQuestion, .answerPrompt, .showOffer, .hideOffer,
                .storeOffer,
                .notify:
                false
            }
        }
        if !isQuiet { changed() }
    }

    private func perform(_ action: Companion.Action) {
        switch action {
        case .send, .close, .wantL2CAP, .advertise, .scan: transport.perform(action)
        case .logL2CAP(_, isOpen: true): log("an L2CAP channel for long messages is open")
        case .logL2CAP(_, isOpen: false): log("the L2CAP channel has ended; GATT carries long messages")
        case .setTimer(let instant):
            timer = instant.flatMap { instant in
                try? EventLoop.shared.schedule(at: instant, accuracy: .milliseconds(50)) { [weak self] in
                    self?.handle(.timerFired)
                }
            }
        case .showCode(let code): pairingCall?.replyMore(PairReply(code: code.text, seconds: 120))
        case .storePeer(let peer):
            log("paired with \"\(peer.name)\"")
            save()
        case .removePeer: save()
        case .showQuestion(let question, let peer):
            questions.removeAll { $0.key == Key(peer: peer, id: question.id) }
            questions.append((Key(peer: peer, id: question.id), question))
        case .hideQuestion(let id, let peer): questions.removeAll { $0.key == Key(peer: peer, id: id) }
        case .answerPrompt(let id, let values, let peer): answerPrompt(id, values, from: peer)
        case .showOffer(let offer, let peer):
            offers.append(
                (Key(peer: peer, id: offer.id), ShownOffer(offer: offer, ends: clock() + .seconds(offer.seconds))))
        case .hideOffer(let id, let peer): offers.removeAll { $0.key == Key(peer: peer, id: id) }
        case .storeOffer(let offer, let peer): store(offer, from: peer)
        case .notify(let notice): note(notice)
        }
    }

    private func save() {
        do throws(CompanionStore.Fault) { try store.save(companion.peers) } catch {
            note("The paired laptops cannot be saved: \(error).")
        }
    }

    // MARK: The daemon

    private func learn(_ status: [InterfaceStatus]?) {
        interfaces = status ?? []
        hasDaemon = status != nil
        // Withdraws all questions while no daemon answers.
        if status == nil { learn([PendingPrompt]()) }
        let here = interfaces.sorted { ($0.prompt != nil ? 0 : 1) < ($1.prompt != nil ? 0 : 1) }
        places = here.compactMap { status in
            guard let network = status.network.flatMap(NetworkID.init(key:)), let portal = status.portal, Origin.isValid(portal)
            else {
                return nil
            }
            return Place(
                network: network, portal: Portal(origin: portal, pin: status.portalKey, kind: status.portalKind ?? "unknown"))
        }
        handle(.placeChanged(places.first))
        changed()
    }

    private func learn(_ prompts: [PendingPrompt]) {
        // Leaves out the questions of suspicious portals: only the user who sees the warning may answer them.
        let answerable = prompts.filter { $0.withheld != true && !$0.handsOver && $0.warning == nil }
        for id in asked.keys where !answerable.contains(where: { $0.id == id }) {
            asked[id] = nil
            handle(.questionWithdrawn(id: id))
        }
        for prompt in answerable where asked[prompt.id] != prompt {
            asked[prompt.id] = prompt
            ask(prompt)
        }
    }

    private func ask(_ prompt: PendingPrompt) {
        let status = interfaces.first { $0.interface == prompt.interface }
        let portal = prompt.portal.map { origin in
            Portal(
                origin: origin, pin: status?.portal == origin ? status?.portalKey : nil, kind: status?.portalKind ?? "unknown")
        }
        // Removes stored answers, because only an offer hands them over.
        let fields = prompt.fields.map { field in
            var field = field
            if prompt.stored?.contains(field.name) == true { field.value = nil }
            return field
        }
        let hearsay = Prompt(
            title: prompt.title, message: prompt.message, fields: fields, termsURL: prompt.termsURL, terms: prompt.terms)
        handle(
            .questionAsked(
                PeerQuestion(
                    id: prompt.id, network: status?.network.flatMap(NetworkID.init(key:)) ?? .anonymous, portal: portal,
                    hearsay: hearsay)))
    }

    private func answerPrompt(_ id: String, _ values: [String: SecretText], from peer: PeerID) {
        let laptop = name(of: peer)
        daemon.answer(
            AnswerParameters(
                id: id, answers: values.mapValues(\.text), remember: true, stored: nil, confirmed: nil, from: laptop)
        ) { [weak self] result in
            guard let self else { return }
            switch result {
            case .success: note("\"\(laptop)\" answered a question of the portal.")
            case .failure(let refusal):
                note("The answers of \"\(laptop)\" were not accepted. \(refusal.message)")
                // Asks again, because the question is still waiting.
                if let prompt = asked[id] { ask(prompt) }
            }
            changed()
        }
    }

    private func store(_ offer: Offer, from peer: PeerID) {
        let key = Key(peer: peer, id: offer.id)
        guard !offer.answers.isEmpty, let network = offer.network.key else {
            // The offer has nothing to store: the user gets the portal file with the reply.
            deciding.removeValue(forKey: key)?.reply(DecideReply(portalFile: offer.portalFile))
            handle(.offerStored(id: offer.id, of: peer, isStored: true))
            return
        }
        daemon.addOffered(
            OfferedParameters(
                network: network, portal: offer.portal.origin, portalKey: offer.portal.pin,
                answers: offer.answers.mapValues(\.text), from: name(of: peer))
        ) { [weak self] result in
            guard let self else { return }
            let call = deciding.removeValue(forKey: key)
            switch result {
            case .success(let reply):
                call?.reply(
                    DecideReply(answered: reply.answered, interface: reply.interface, portalFile: offer.portalFile))
                handle(.offerStored(id: offer.id, of: peer, isStored: true))
            case .failure(let refusal):
                note("The login of \"\(name(of: peer))\" was not stored. \(refusal.message)")
                call?.fail(.failed(refusal.message))
                handle(.offerStored(id: offer.id, of: peer, isStored: false))
                changed()
            }
        }
    }

    private func name(of peer: PeerID) -> String { companion.peers.first { $0.id == peer }?.name ?? "a laptop" }

    /// Returns the place that an offer is for, if this laptop is there now.
    func place(for offer: Offer) -> Place? { places.first(where: offer.isFor) }

    // MARK: Notices

    private func note(_ notice: Companion.Notice) {
        note(notice.message)
        inform(of: notice)
    }

    private func note(_ message: String) {
        log(message)
        notices = (notices + [NoticeStatus(at: WallClock.now, message: message)]).suffix(Self.noticeLimit)
    }
}

extension ServerCall {
    func fail(_ fault: CompanionFault) {
        let (name, parameters) = fault.reply
        fail(name, parameters)
    }
}
