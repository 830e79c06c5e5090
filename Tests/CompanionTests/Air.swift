import Answers
import ForeignText
import HotspotCore
import TestSupport
import Testing

@testable import Companion

/// A laptop in tests: its companion, and the things that it shows and stores.
final class Laptop {
    var companion: Companion
    let name: String
    /// Whether its daemon stores offers; `nil` if it does not answer yet.
    var stores: Bool? = true
    var log: [Companion.Action] = []
    private(set) var (advertises, scans): (Bool, Bool) = (false, false)
    private(set) var timer: Instant?

    init(_ name: String, peers: [Peer] = []) throws {
        self.name = name
        companion = Companion(keys: try KeyPair(), name: name, peers: peers)
    }

    var id: PeerID { companion.id }
    var peer: Peer { Peer(id: id, name: name) }

    func handle(_ event: Companion.Event, at now: Instant) -> [Companion.Action] {
        let actions = companion.handle(event, at: now)
        log += actions
        for action in actions {
            switch action {
            case .advertise(let wish): advertises = wish
            case .scan(let wish): scans = wish
            case .setTimer(let time): timer = time
            case .send, .close, .wantL2CAP, .logL2CAP, .showCode, .storePeer, .removePeer, .showQuestion, .hideQuestion,
                .answerPrompt,
                .showOffer,
                .hideOffer,
                .storeOffer, .notify:
                break
            }
        }
        #expect(advertises == companion.wantsAdvertising && scans == companion.wantsScan)
        #expect(companion.links.count <= Companion.linkLimit && companion.peers.count <= Companion.peerLimit)
        return actions
    }

    var code: SecretText? {
        log.reversed().lazy.compactMap { if case .showCode(let code) = $0 { code } else { nil } }.first
    }
    var notices: [Companion.Notice] { log.compactMap { if case .notify(let notice) = $0 { notice } else { nil } } }
    var shownQuestions: [PeerQuestion] {
        log.compactMap { if case .showQuestion(let question, _) = $0 { question } else { nil } }
    }
    var shownOffers: [Offer] { log.compactMap { if case .showOffer(let offer, _) = $0 { offer } else { nil } } }
    var storedOffers: [Offer] { log.compactMap { if case .storeOffer(let offer, _) = $0 { offer } else { nil } } }
    var answers: [[String: String]] {
        log.compactMap { if case .answerPrompt(_, let values, _) = $0 { values.texts } else { nil } }
    }
}

/// The air between laptops: queues of chunks that may lose, double or reorder them, and a clock.
final class Air {
    /// In thousandths of all chunks.
    struct Faults {
        var lost = 0
        var doubled = 0
        var swapped = 0
        /// Losses on the control channel, which Bluetooth does not cause while a link is up.
        var controlLost = 0
        /// L2CAP channels that break, and chunks that go into another program's channel.
        var l2capBroken = 0
        var l2capLost = 0
        /// Links that break.
        var broken = 0
    }

    private struct Lane: Hashable, Comparable {
        let link: PeerLinkID
        let channel: Channel
        /// Whether the central is the sender.
        let isUp: Bool
        private var order: UInt64 { link.number * 6 + UInt64(Channel.allCases.firstIndex(of: channel)!) * 2 + (isUp ? 0 : 1) }
        static func < (a: Lane, b: Lane) -> Bool { a.order < b.order }
    }

    /// How the transports open L2CAP channels.
    enum L2CAP { case none, works, fails, hangs }

    private let laptops: [Laptop]
    var l2cap = L2CAP.none
    /// The links with an open channel.
    private(set) var l2capLinks: Set<PeerLinkID> = []
    private(set) var l2capOpenings = 0
    private(set) var l2capOctets = 0
    private let mtu: Int
    var faults = Faults() { didSet { sendsAgain = sendsAgain || faults.lost + faults.swapped > 0 } }
    /// Whether senders may repeat chunks, which then wait behind the chunks of the earlier window.
    var sendsAgain = false
    private var numbers: SeededNumbers
    private(set) var now = Instant(nanoseconds: 1)
    private var links: [PeerLinkID: (central: Laptop, peripheral: Laptop)] = [:]
    private var lanes: [Lane: [[UInt8]]] = [:]
    private var last: UInt64 = 0
    private(set) var bulkOctets = 0
    /// Connections are made only while this is positive.
    var connections = 100

    init(_ laptops: Laptop..., mtu: Int = 185, seed: UInt64 = 1) {
        (self.laptops, self.mtu, numbers) = (laptops, mtu, SeededNumbers(seed: seed))
    }

    /// Passes an event to a laptop, and delivers everything that follows until nothing is under way.
    func tell(_ laptop: Laptop, _ event: Companion.Event) throws {
        apply(event, to: laptop)
        try calm()
    }

    func apply(_ event: Companion.Event, to laptop: Laptop) {
        for action in laptop.handle(event, at: now) {
            switch action {
            case .send(let id, let channel, let chunk): send(chunk, channel, id, from: laptop)
            case .close(let id): breakLink(id)
            case .wantL2CAP(let id, true): openL2CAP(id)
            case .wantL2CAP(let id, false): endL2CAP(id, except: laptop)
            case .storeOffer(let offer, let peer):
                if let isStored = laptop.stores { apply(.offerStored(id: offer.id, of: peer, isStored: isStored), to: laptop) }
            case .logL2CAP, .advertise, .scan, .setTimer, .showCode, .storePeer, .removePeer, .showQuestion, .hideQuestion,
                .answerPrompt, .showOffer, .hideOffer, .notify:
                break
            }
        }
    }

    private func send(_ chunk: [UInt8], _ channel: Channel, _ id: PeerLinkID, from laptop: Laptop) {
        #expect(chunk.count <= min(mtu - 3, 500) && chunk.count > 1)
        guard let link = links[id] else { return }
        let lane = Lane(link: id, channel: channel, isUp: link.central === laptop)
        if channel == .bulk { bulkOctets += chunk.count }
        if channel == .l2cap {
            l2capOctets += chunk.count
            #expect(l2capLinks.contains(id))
        }
        lanes[lane, default: []].append(chunk)
        #expect(lanes[lane]!.count <= (channel == .control ? 1 : sendsAgain ? 64 : Frame.window))
    }

    private func openL2CAP(_ id: PeerLinkID) {
        guard let link = links[id] else { return }
        l2capOpenings += 1
        switch l2cap {
        case .none, .fails: apply(.l2capClosed(id), to: link.central)
        case .hangs: break
        case .works:
            l2capLinks.insert(id)
            for side in [link.peripheral, link.central] { apply(.l2capOpened(id), to: side) }
        }
    }

    /// Ends the channel, and loses the chunks on their way. The laptop that closed it gets no event.
    func endL2CAP(_ id: PeerLinkID, except closing: Laptop? = nil) {
        guard let link = links[id], l2capLinks.remove(id) != nil else { return }
        for lane in lanes.keys where lane.link == id && lane.channel == .l2cap { lanes[lane] = nil }
        for side in [link.central, link.peripheral] where side !== closing { apply(.l2capClosed(id), to: side) }
    }

    func breakLink(_ id: PeerLinkID) {
        guard let link = links.removeValue(forKey: id) else { return }
        l2capLinks.remove(id)
        for lane in lanes.keys where lane.link == id { lanes[lane] = nil }
        for side in [link.central, link.peripheral] { apply(.linkClosed(id), to: side) }
    }

    func breakLinks() { for id in links.keys.sorted(by: { $0.number < $1.number }) { breakLink(id) } }

    private func chance(_ thousandths: Int) -> Bool { thousandths > 0 && Int.random(in: 0..<1000, using: &numbers) < thousandths }

    /// Delivers one chunk, or connects two laptops. Returns `false` if nothing is under way.
    func step() -> Bool {
        let full = lanes.filter { !$0.value.isEmpty }.keys.sorted()
        guard let lane = full.randomElement(using: &numbers), let link = links[lane.link] else { return connect() }
        if chance(faults.broken) {
            breakLink(lane.link)
            return true
        }
        if lane.channel == .bulk, lanes[lane]!.count > 1, chance(faults.swapped) { lanes[lane]!.swapAt(0, 1) }
        if lane.channel == .l2cap, chance(faults.l2capBroken) {
            endL2CAP(lane.link)
            return true
        }
        let chunk = lanes[lane]!.removeFirst()
        let (from, to) = lane.isUp ? (link.central, link.peripheral) : (link.peripheral, link.central)
        if lane.channel == .control { apply(.chunkWritten(lane.link), to: from) }
        let losses =
            switch lane.channel {
            case .control: faults.controlLost
            case .bulk: faults.lost
            case .l2cap: faults.l2capLost
            }
        if chance(losses) { return true }
        // An L2CAP channel delivers no chunk twice.
        let isDoubled = lane.channel != .l2cap && chance(faults.doubled)
        for _ in 0..<(isDoubled ? 2 : 1) { apply(.chunkReceived(lane.link, lane.channel, chunk), to: to) }
        return true
    }

    private func connect() -> Bool {
        for central in laptops where central.scans && connections > 0 {
            for peripheral in laptops where peripheral.advertises && peripheral !== central {
                guard
                    !links.values.contains(where: {
                        Set([$0.central.name, $0.peripheral.name]) == [central.name, peripheral.name]
                    })
                else { continue }
                connections -= 1
                last += 1
                links[PeerLinkID(last)] = (central, peripheral)
                apply(.linkOpened(PeerLinkID(last), .peripheral, mtu: mtu), to: peripheral)
                if links[PeerLinkID(last)] != nil { apply(.linkOpened(PeerLinkID(last), .central, mtu: mtu), to: central) }
                if l2cap != .none, links[PeerLinkID(last)] != nil { apply(.l2capOffered(PeerLinkID(last)), to: central) }
                return true
            }
        }
        return false
    }

    func calm() throws {
        var steps = 0
        while step() {
            steps += 1
            try #require(steps < 500_000, "never calm")
        }
    }

    /// Lets time pass, timer by timer.
    func wait(_ duration: Duration) throws {
        let end = now + duration
        while let next = laptops.compactMap(\.timer).min(), next <= end {
            now = max(now, next)
            for laptop in laptops where laptop.timer.map({ $0 <= now }) == true {
                apply(.timerFired, to: laptop)
                #expect(laptop.timer.map { $0 > now } != false, "a timer fires for nothing")
            }
            try calm()
        }
        now = end
    }

    var linkIDs: [PeerLinkID] { links.keys.sorted { $0.number < $1.number } }

    /// Pairs two laptops, and separates them again.
    func pair(_ one: Laptop, _ other: Laptop) throws {
        try tell(one, .pairingBegan)
        try tell(other, .codeEntered(try #require(one.code)))
        try #require(one.companion.peers.contains(other.peer) && other.companion.peers.contains(one.peer))
        breakLinks()
    }
}

enum Sample {
    static let network = NetworkID.wireless(SSID(printable: "Cafe Aroma")!, .open)
    static let portal = Portal(origin: "https://portal.lindenhof.example", pin: "cGlu", kind: "form", title: "Hotel Lindenhof")
    static let place = Place(network: network, portal: portal)

    static func question(_ id: String = "p1", words: String = "Surname") -> PeerQuestion {
        PeerQuestion(
            id: id, network: network, portal: portal,
            hearsay: Prompt(
                title: "Hotel Lindenhof",
                fields: [
                    Field(name: "room", label: "Room", kind: .text, required: true),
                    Field(name: "name", label: words, kind: .text, required: true),
                ]))
    }

    static func offer(_ id: String = "o1", file: Int = 0, seconds: Int = 3600) -> Offer {
        Offer(
            id: id, network: network, portal: portal, answers: ["room": SecretText("214"), "name": SecretText("Brandt")],
            portalFile: file == 0 ? nil : String(repeating: "[Portal] line\n", count: (file + 13) / 14), seconds: seconds)
    }
}
