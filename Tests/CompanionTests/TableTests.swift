import HotspotCore
import Testing

@testable import Companion

/// Each state of a link meets each message that a stranger, or a peer at the wrong time, can send.
@Suite struct TableTests {
    enum State: String, CaseIterable {
        case greeting, pairingShown, pairingEntered, opening, unproven, session, renewing
    }

    enum Outcome: String { case ignored, answered, closed }

    private static let (i, a, c) = (Outcome.ignored, Outcome.answered, Outcome.closed)

    /// The columns: pairHello, pairShare, pairKey, pairReply, pairFinish, pairRefused, sessionHello, sessionReply and unknownPeer, with meaningless
    /// octets; a type that does not exist; a frame under the session's key and one under an unknown key; the same two frames in bulk.
    private static let table: [State: [Outcome]] = [
        .greeting: [a, c, c, c, c, c, a, c, i, c, i, i, i, i],
        .pairingShown: [c, c, a, c, c, c, a, c, i, c, i, i, i, i],
        .pairingEntered: [c, c, c, c, c, c, c, c, i, c, i, i, i, i],
        .opening: [c, c, c, c, c, c, c, c, c, c, i, i, i, i],
        .unproven: [c, c, c, c, c, c, a, c, i, c, c, i, i, i],
        .session: [c, c, c, c, c, c, a, c, i, c, c, i, c, c],
        .renewing: [c, c, c, c, c, c, c, c, c, c, c, i, c, c],
    ]

    /// A laptop whose link is in the state.
    private func laptop(in state: State) throws -> Laptop {
        let (laptop, other) = (try Laptop("laptop"), try Laptop("other"))
        let air = Air(laptop, other)
        func open(_ role: Role) { _ = laptop.handle(.linkOpened(Self.id, role, mtu: 517), at: air.now) }
        switch state {
        case .greeting: open(.peripheral)
        case .pairingShown:
            _ = laptop.handle(.pairingBegan, at: air.now)
            open(.peripheral)
            try deliver(ClearMessage.pairHello.rawValue, to: laptop, at: air.now)
        case .pairingEntered:
            _ = laptop.handle(.codeEntered(.init("12345678")), at: air.now)
            open(.central)
        case .opening:
            laptop.companion.peers = [other.peer]
            _ = laptop.handle(.listeningChanged(true), at: air.now)
            open(.central)
        case .unproven:
            laptop.companion.peers = [other.peer]
            open(.peripheral)
            let run = try OpeningRun(peer: laptop.id, tried: [], own: other.companion.keys)
            let hello = try run.hello(own: other.companion.keys)
            try deliver(ClearMessage.sessionHello.rawValue, hello, to: laptop, at: air.now)
            #expect(laptop.companion.links[Self.id]?.session?.isProven == false)
        case .session, .renewing:
            try air.pair(laptop, other)
            let (central, peripheral) = state == .session ? (other, laptop) : (laptop, other)
            try air.tell(central, .listeningChanged(true))
            try air.tell(peripheral, .questionAsked(Sample.question()))
            if state == .renewing { _ = laptop.handle(.timerFired, at: air.now + LinkSession.lifetime) }
            laptop.companion.links = [Self.id: try #require(laptop.companion.links.values.first)]
        }
        return laptop
    }

    private static let id = PeerLinkID(2)

    private func deliver(_ type: UInt8, _ data: [UInt8] = [UInt8](repeating: 65, count: 70), to laptop: Laptop, at now: Instant)
        throws
    {
        let number = try #require(laptop.companion.links[Self.id]).control.number
        for chunk in Frame(key: .clear, data: [type] + data).chunks(limit: 500, first: number) {
            _ = laptop.handle(.chunkReceived(Self.id, .control, chunk), at: now)
        }
        _ = laptop.handle(.chunkWritten(Self.id), at: now)
    }

    private func outcome(_ state: State, _ column: Int) throws -> Outcome {
        let laptop = try laptop(in: state)
        let link = try #require(laptop.companion.links[Self.id])
        let now = state == .renewing ? Instant(nanoseconds: 1) + LinkSession.lifetime : Instant(nanoseconds: 1)
        // The chunks before were written, so that an answer is visible at once.
        for _ in 0..<8 { _ = laptop.handle(.chunkWritten(Self.id), at: now) }
        let data = [UInt8](repeating: 65, count: 70)
        let session = link.session?.key ?? KeyID(octets: [9, 9, 9, 9])
        let frame =
            switch column {
            case 0..<9: Frame(key: .clear, data: [ClearMessage.allCases[column].rawValue] + data)
            case 9: Frame(key: .clear, data: [200] + data)
            case 10, 12: Frame(key: session, data: data)
            default: Frame(key: KeyID(octets: [8, 8, 8, 8]), data: data)
            }
        let channel: Channel = column < 12 ? .control : .bulk
        let number = channel == .control ? link.control.number : link.receiver.reader.number
        var actions: [Companion.Action] = []
        for chunk in frame.chunks(limit: 500, first: number) {
            actions += laptop.handle(.chunkReceived(Self.id, channel, chunk), at: now)
        }
        if actions.contains(.close(Self.id)) { return .closed }
        return actions.contains { if case .send = $0 { true } else { false } } ? .answered : .ignored
    }

    @Test(arguments: State.allCases) func table(_ state: State) throws {
        let outcomes = try (0..<14).map { try outcome(state, $0) }
        #expect(outcomes == Self.table[state], "\(outcomes.map { String($0.rawValue.prefix(1)) }.joined(separator: ", "))")
    }

    /// Every event of users, daemon and transport, in every state: nothing crashes, and no event opens another laptop's link.
    @Test(arguments: State.allCases) func events(_ state: State) throws {
        let stranger = PeerID(octets: [UInt8](repeating: 9, count: 32))
        let events: [Companion.Event] = [
            .linkOpened(Self.id, .central, mtu: 23), .linkOpened(PeerLinkID(9), .central, mtu: 23), .mtuChanged(Self.id, 23),
            .chunkReceived(PeerLinkID(9), .control, [0xC0, 1]), .chunkReceived(Self.id, .control, []),
            .chunkReceived(Self.id, .bulk, [3]), .chunkReceived(Self.id, .l2cap, [3]),
            .l2capOffered(Self.id), .l2capOpened(Self.id), .l2capClosed(Self.id), .l2capOpened(PeerLinkID(9)),
            .chunkWritten(Self.id), .linkClosed(PeerLinkID(9)), .linkClosed(Self.id), .timerFired, .pairingBegan,
            .codeEntered(.init("12345678")), .pairingCancelled, .forgotten(stranger), .listeningChanged(true),
            .offerAwaited(true),
            .questionAnswered(id: "p1", of: stranger, [:]), .offerMade(Sample.offer(), to: stranger), .offerCancelled(id: "o1"),
            .offerDecided(Sample.offer(), of: stranger, isAccepted: true), .questionAsked(Sample.question("p3")),
            .questionWithdrawn(id: "p3"), .offerStored(id: "o1", of: stranger, isStored: true),
            .placeChanged(Sample.place), .placeChanged(nil),
        ]
        for event in events {
            let laptop = try laptop(in: state)
            for _ in 0..<2 { _ = laptop.handle(event, at: Instant(nanoseconds: 1) + LinkSession.lifetime) }
            #expect(laptop.storedOffers.isEmpty && laptop.answers.isEmpty && laptop.companion.peers.count <= 1)
            let last = laptop.handle(.timerFired, at: Instant(nanoseconds: .max))
            #expect(
                laptop.companion.pairing == nil && !last.contains { if case .send = $0 { true } else { false } }
                    || state == .session || state == .renewing)
        }
    }
}
