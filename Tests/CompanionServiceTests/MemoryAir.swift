import Companion
import EventLoop
import HotspotCore

/// A radio that only notes its instructions; ``MemoryAir`` carries them out, never from within ``perform(_:)``.
final class MemoryRadio: CompanionTransport {
    var onEvent: (Companion.Event) -> Void = { _ in }
    var onStateChange: (CompanionTransportState) -> Void = { _ in }
    fileprivate var waiting: [Companion.Action] = []
    fileprivate(set) var (advertises, scans) = (false, false)

    func perform(_ action: Companion.Action) { waiting.append(action) }

    func stop() {}
}

/// The air between memory radios, in order and without loss.
@LoopActor final class MemoryAir {
    private var radios: [MemoryRadio] = []
    private var links: [PeerLinkID: (central: MemoryRadio, peripheral: MemoryRadio)] = [:]
    private var last: UInt64 = 0
    /// Whether the laptops are near each other.
    var isNear = true

    func add(_ radio: MemoryRadio) { radios.append(radio) }

    /// Carries out all waiting instructions.
    func step() {
        for radio in radios {
            while !radio.waiting.isEmpty { carryOut(radio.waiting.removeFirst(), of: radio) }
        }
        if isNear { connect() }
    }

    func breakLinks() {
        for (id, link) in links {
            links[id] = nil
            for radio in [link.central, link.peripheral] { radio.onEvent(.linkClosed(id)) }
        }
    }

    private func carryOut(_ action: Companion.Action, of radio: MemoryRadio) {
        switch action {
        case .advertise(let wish): radio.advertises = wish
        case .scan(let wish): radio.scans = wish
        case .close(let id):
            guard let link = links.removeValue(forKey: id) else { return }
            for end in [link.central, link.peripheral] { end.onEvent(.linkClosed(id)) }
        case .send(let id, let channel, let chunk):
            guard let link = links[id] else { return }
            (link.central === radio ? link.peripheral : link.central).onEvent(.chunkReceived(id, channel, chunk))
            if channel == .control { radio.onEvent(.chunkWritten(id)) }
        case .wantL2CAP, .logL2CAP, .setTimer, .showCode, .storePeer, .removePeer, .showQuestion, .hideQuestion, .answerPrompt,
            .showOffer,
            .hideOffer,
            .storeOffer, .notify:
            break
        }
    }

    private func connect() {
        for central in radios where central.scans {
            for peripheral in radios where peripheral.advertises && peripheral !== central {
                let isConnected = links.values.contains { link in
                    (link.central === central && link.peripheral === peripheral)
                        || (link.central === peripheral && link.peripheral === central)
                }
                guard !isConnected else { continue }
                last += 1
                let id = PeerLinkID(last)
                links[id] = (central, peripheral)
                peripheral.onEvent(.linkOpened(id, .peripheral, mtu: 185))
                central.onEvent(.linkOpened(id, .central, mtu: 185))
            }
        }
    }
}
