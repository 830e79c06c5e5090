import Vault

@testable import Companion
@testable import HotspotCore

/// Plays what the air and a stranger can do to the companion: links that open and close, chunks on both channels, and time that passes.
/// Each event is an octet for its kind and link, and an octet for an MTU, seconds, or the length of the chunk after it.
enum PeerFrames {
    @Sendable static func play(_ octets: [UInt8]) -> [String: Bool] {
        guard let secret = try? SecretBytes.copy(of: [UInt8](repeating: 7, count: 32)), let keys = try? KeyPair(secret: secret)
        else { return [:] }
        let peer = Peer(id: PeerID(octets: [UInt8](repeating: 9, count: 32)), name: "other")
        var companion = Companion(keys: keys, name: "laptop", peers: [peer])
        var (now, receiver) = (Instant(nanoseconds: 0), BulkReceiver())
        var (isAnswered, isWhole) = (false, false)
        _ = companion.handle(.offerAwaited(true), at: now)
        var rest = octets[...]
        while let head = rest.popFirst() {
            let length = Int(rest.popFirst() ?? 0)
            let data = [2, 3].contains(head & 7) ? Array(rest.prefix(length)) : []
            rest = rest.dropFirst(data.count)
            let link = PeerLinkID(UInt64(head >> 6))
            let event: Companion.Event =
                switch head & 7 {
                case 0: .linkOpened(link, .peripheral, mtu: length)
                case 1: .linkOpened(link, .central, mtu: length)
                case 2: .chunkReceived(link, .control, data)
                case 3: .chunkReceived(link, .bulk, data)
                case 4: .linkClosed(link)
                case 5: .mtuChanged(link, length)
                case 6: .pairingBegan
                default: .timerFired
                }
            if head & 7 == 7 { now = now + .seconds(length) }
            let actions = companion.handle(event, at: now)
            if actions.contains(where: { if case .send = $0 { true } else { false } }) { isAnswered = true }
            guard case .chunkReceived(_, .bulk, let chunk) = event, case .whole? = try? receiver.read(chunk) else { continue }
            isWhole = true
        }
        return ["an answer": isAnswered, "a whole frame": isWhole]
    }

    private static func keys(_ octet: UInt8) -> KeyPair? {
        guard let secret = try? SecretBytes.copy(of: [UInt8](repeating: octet, count: 32)) else { return nil }
        return try? KeyPair(secret: secret)
    }

    /// The paired laptop connects, and both laptops carry out the handshake.
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
