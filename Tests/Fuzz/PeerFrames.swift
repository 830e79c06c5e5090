import Vault

@testable import Companion
@testable import HotspotCore

/// Plays what the air, a stranger and another program of a paired laptop can do to the companion: links that open and close, sessions,
/// chunks on all channels, and time that passes. Each event is an octet for its kind and link, an octet for a length, and as many octets.
enum PeerFrames {
    @Sendable static func play(_ octets: [UInt8]) {
        guard let own = keys(7), let other = keys(9) else { return }
        let peer = Peer(id: PeerID(octets: other.publicKey), name: "other")
        var companion = Companion(keys: own, name: "laptop", peers: [peer])
        var now = Instant(nanoseconds: 0)
        _ = companion.handle(.offerAwaited(true), at: now)
        var rest = octets[...]
        while let head = rest.popFirst() {
            let length = Int(rest.popFirst() ?? 0)
            let data = Array(rest.prefix(length))
            rest = rest.dropFirst(length)
            let link = PeerLinkID(UInt64(head >> 6))
            let event: Companion.Event
            switch head & 15 {
            case 0: event = .linkOpened(link, .peripheral, mtu: length)
            case 1: event = .linkOpened(link, .central, mtu: length)
            case 2: event = .chunkReceived(link, .control, data)
            case 3: event = .chunkReceived(link, .bulk, data)
            case 4: event = .linkClosed(link)
            case 5: event = .mtuChanged(link, length)
            case 6: event = .pairingBegan
            case 8: event = .l2capOffered(link)
            case 9: event = .l2capOpened(link)
            case 10: event = .l2capClosed(link)
            case 11: event = .chunkReceived(link, .l2cap, data)
            case 12: event = .chunkReceived(link, .l2cap, companion.links[link]?.session?.proofs.peer ?? data)
            case 13:
                connect(&companion, by: link, at: now)
                continue
            default: event = .timerFired
            }
            if case .timerFired = event { now = now + .seconds(length) }
            let isUnproven = (9...12).contains(head & 15) && companion.links[link].map { $0.l2cap != .open } == true
            _ = companion.handle(event, at: now)
            precondition(!isUnproven || companion.links[link] != nil, "an unproven channel has ended its link")
        }
        var receiver = BulkReceiver()
        for start in stride(from: 0, to: octets.count, by: 100) {
            _ = try? receiver.read(Array(octets[start..<min(octets.count, start + 100)]))
        }
    }

    private static func keys(_ octet: UInt8) -> KeyPair? {
        guard let secret = try? SecretBytes.copy(of: [UInt8](repeating: octet, count: 32)) else { return nil }
        return try? KeyPair(secret: secret)
    }

    /// The paired laptop connects, and both carry out the handshake.
    private static func connect(_ companion: inout Companion, by link: PeerLinkID, at now: Instant) {
        guard let own = keys(9) else { return }
        var other = Companion(keys: own, name: "other", peers: [Peer(id: companion.id, name: "laptop")])
        _ = other.handle(.listeningChanged(true), at: now)
        var waiting: [(isForOther: Bool, event: Companion.Event)] = [
            (false, .linkOpened(link, .peripheral, mtu: 517)), (true, .linkOpened(link, .central, mtu: 517)),
        ]
        for _ in 0..<64 where !waiting.isEmpty {
            let (isForOther, event) = waiting.removeFirst()
            for action in isForOther ? other.handle(event, at: now) : companion.handle(event, at: now) {
                guard case .send(link, .control, let chunk) = action else { continue }
                waiting += [(!isForOther, .chunkReceived(link, .control, chunk)), (isForOther, .chunkWritten(link))]
            }
        }
    }
}
