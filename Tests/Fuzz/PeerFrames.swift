import Vault

@testable import Companion
@testable import HotspotCore

/// Plays what the air and a stranger can do to the companion: links that open and close, chunks on both channels, and time that passes.
/// Each event is an octet for its kind and link, an octet for a length, and as many octets.
enum PeerFrames {
    @Sendable static func play(_ octets: [UInt8]) {
        guard let secret = try? SecretBytes.copy(of: [UInt8](repeating: 7, count: 32)), let keys = try? KeyPair(secret: secret)
        else {
            return
        }
        let peer = Peer(id: PeerID(octets: [UInt8](repeating: 9, count: 32)), name: "other")
        var companion = Companion(keys: keys, name: "laptop", peers: [peer])
        var now = Instant(nanoseconds: 0)
        _ = companion.handle(.offerAwaited(true), at: now)
        var rest = octets[...]
        while let head = rest.popFirst() {
            let length = Int(rest.popFirst() ?? 0)
            let data = Array(rest.prefix(length))
            rest = rest.dropFirst(length)
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
            _ = companion.handle(event, at: now)
        }
        var receiver = BulkReceiver()
        for start in stride(from: 0, to: octets.count, by: 100) {
            _ = try? receiver.read(Array(octets[start..<min(octets.count, start + 100)]))
        }
    }
}
