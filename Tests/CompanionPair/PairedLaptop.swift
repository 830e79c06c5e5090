import Answers
import Companion
import CompanionBluetooth
import EventLoop
import ForeignText
import Glibc
import HotspotCore

/// A companion on one adapter, with its timer, and the state that input lines change.
@LoopActor final class PairedLaptop {
    private let name: String
    private var companion: Companion
    /// `nil` for the name `lines`, whose transport is standard input and output.
    private let transport: BluetoothTransport?
    private var timer: EventSource?
    /// The offers that were shown, by ID.
    private var offers: [String: Offer] = [:]
    /// The number of chunks, and of their octets, in each direction of each channel.
    private var counts: [String: (chunks: Int, octets: Int)] = [:]
    /// The number of bulk chunks after which the program stops itself, so that the test can change the radio.
    private var chunksToStop: Int?

    init(_ name: String, usesL2CAP: Bool) throws {
        self.name = name
        companion = Companion(keys: try KeyPair(), name: name, peers: [])
        transport =
            name == "lines"
            ? nil
            : try BluetoothTransport(
                bus: try SystemBus { _ in }, adapter: name, usesL2CAP: usesL2CAP)
        transport?.onEvent = { [weak self] in self?.handle($0) }
        transport?.onStateChange = { [weak self] in self?.say("state", "\($0)") }
    }

    func stop() { transport?.stop() }

    private func say(_ words: String...) {
        let line = "\(EventLoop.now.nanoseconds / 1_000_000) \(name) \(words.joined(separator: " "))\n"
        // Unbuffered, even if the output is a pipe.
        _ = write(1, line, line.utf8.count)
    }

    // MARK: Events and actions

    private func handle(_ event: Companion.Event) {
        switch event {
        case .linkOpened(let id, let role, let mtu): say("linkOpened", "\(id.number)", "\(role)", "\(mtu)")
        case .mtuChanged(let id, let mtu): say("mtuChanged", "\(id.number)", "\(mtu)")
        case .linkClosed(let id): say("linkClosed", "\(id.number)")
        case .l2capOffered(let id): say("l2capOffered", "\(id.number)")
        case .l2capOpened(let id): say("l2capOpened", "\(id.number)")
        case .l2capClosed(let id): say("l2capClosed", "\(id.number)")
        case .chunkReceived(_, let channel, let chunk): count("received", channel, chunk)
        default: break
        }
        for action in companion.handle(event, at: EventLoop.now) { perform(action) }
    }

    private func count(_ direction: String, _ channel: Channel, _ chunk: [UInt8]) {
        let key = "\(channel)-\(direction)"
        let before = counts[key] ?? (0, 0)
        counts[key] = (before.chunks + 1, before.octets + chunk.count)
        guard direction == "received", channel != .control, let left = chunksToStop else { return }
        chunksToStop = left > 1 ? left - 1 : nil
        if left <= 1 { raise(SIGSTOP) }
    }

    private func perform(_ action: Companion.Action) {
        switch action {
        case .send(let id, let channel, let chunk):
            count("sent", channel, chunk)
            if transport == nil { say("send", "\(id.number)", "\(channel)", Hex.encode(chunk)) }
            transport?.perform(action)
        case .close(let id):
            say("close", "\(id.number)")
            transport?.perform(action)
        case .wantL2CAP(let id, let isWanted):
            say("wantL2CAP", "\(id.number)", "\(isWanted)")
            transport?.perform(action)
        case .logL2CAP(let id, let isOpen): say("logL2CAP", "\(id.number)", "\(isOpen)")
        case .advertise(let isWanted):
            say("advertise", "\(isWanted)")
            transport?.perform(action)
        case .scan(let isWanted):
            say("scan", "\(isWanted)")
            transport?.perform(action)
        case .setTimer(let time):
            timer?.cancel()
            timer = time.flatMap { try? EventLoop.shared.schedule(at: $0) { [weak self] in self?.handle(.timerFired) } }
        case .showCode(let code): say("showCode", code.text)
        case .storePeer(let peer): say("storePeer", peer.name)
        case .removePeer: say("removePeer")
        case .showQuestion(let question, _): say("showQuestion", question.id)
        case .hideQuestion(let id, _): say("hideQuestion", id)
        case .answerPrompt(let id, let values, _):
            say("answerPrompt", id, values.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value.text)" }.joined(separator: ","))
        case .showOffer(let offer, _):
            offers[offer.id] = offer
            say("showOffer", offer.id, "\(offer.portalFile?.utf8.count ?? 0)")
        case .hideOffer(let id, _): say("hideOffer", id)
        case .storeOffer(let offer, let peer):
            say("storeOffer", offer.id, "\(offer.portalFile?.utf8.count ?? 0)")
            handle(.offerStored(id: offer.id, of: peer, isStored: true))
        case .notify(let notice): say("notify", notice.message)
        }
    }

    // MARK: Lines

    /// Returns the event of a radio that input lines play: `opened LINK ROLE MTU`, `chunk LINK CHANNEL HEX`, `written LINK`, `closed LINK`.
    private static func event(_ verb: String, _ words: [String]) -> Companion.Event? {
        guard let id = words.first.flatMap({ UInt64($0) }).map(PeerLinkID.init) else { return nil }
        switch (verb, words.count) {
        case ("opened", 3):
            guard let role = Role.allCases.first(where: { "\($0)" == words[1] }), let mtu = Int(words[2]) else { return nil }
            return .linkOpened(id, role, mtu: mtu)
        case ("chunk", 3):
            guard let channel = Channel.allCases.first(where: { "\($0)" == words[1] }), let chunk = Hex.decode(words[2]) else {
                return nil
            }
            return .chunkReceived(id, channel, chunk)
        case ("written", 1): return .chunkWritten(id)
        case ("closed", 1): return .linkClosed(id)
        default: return nil
        }
    }

    private static let network = NetworkID.wireless(SSID(printable: "Cafe Aroma")!, .open)
    private static let portal = Portal(
        origin: "https://portal.lindenhof.example", pin: "cGlu", kind: "form", title: "Hotel Lindenhof")
    private static let answers = ["room": SecretText("214"), "name": SecretText("Brandt")]

    /// Returns `false` for a line that is not a command.
    func obey(_ verb: String, _ words: [String]) -> Bool {
        let id = words.first ?? ""
        switch verb {
        case "pair": handle(.pairingBegan)
        case "code": handle(.codeEntered(SecretText(id)))
        case "listen": handle(.listeningChanged(id == "on"))
        case "await": handle(.offerAwaited(id == "on"))
        case "place": handle(.placeChanged(Place(network: Self.network, portal: Self.portal)))
        case "ask":
            let fields = ["room", "name"].map { Field(name: $0, label: $0, kind: .text, required: true) }
            let prompt = Prompt(title: "Hotel Lindenhof", fields: fields)
            handle(.questionAsked(PeerQuestion(id: id, network: Self.network, portal: Self.portal, hearsay: prompt)))
        case "answer":
            guard let peer = companion.peers.first else { return false }
            handle(.questionAnswered(id: id, of: peer.id, Self.answers))
        case "offer":
            guard let peer = companion.peers.first, let octets = words.dropFirst().first.flatMap({ Int($0) }) else {
                return false
            }
            let file = octets == 0 ? nil : String(String(repeating: "[Portal] line\n", count: octets / 14 + 1).prefix(octets))
            let offer = Offer(
                id: id, network: Self.network, portal: Self.portal, answers: Self.answers, portalFile: file, seconds: 3600)
            handle(.offerMade(offer, to: peer.id))
        case "accept":
            guard let peer = companion.peers.first, let offer = offers[id] else { return false }
            handle(.offerDecided(offer, of: peer.id, isAccepted: true))
        case "forget":
            guard let peer = companion.peers.first else { return false }
            handle(.forgotten(peer.id))
        case "opened", "chunk", "written", "closed":
            guard let event = Self.event(verb, words) else { return false }
            handle(event)
        case "stop": chunksToStop = Int(id)
        case "counts":
            let parts = counts.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value.chunks)/\($0.value.octets)" }
            say("counts", parts.joined(separator: " "))
            counts = [:]
        default: return false
        }
        return true
    }
}
