import EventLoop
import HotspotCore
import HotspotMachine
import Logging

/// The timers of one interface's machine. After a suspend, due timers wait until the links were read again (D16).
@LoopActor final class MachineTimers {
    private var timers: [TimerID: EventSource] = [:]
    private let waking: Waking
    private let log: Logger
    private let onFire: (TimerID) -> Void

    init(waking: Waking, log: Logger, onFire: @escaping (TimerID) -> Void) {
        (self.waking, self.log, self.onFire) = (waking, log, onFire)
    }

    func start(_ id: TimerID, at instant: Instant, for purpose: TimerPurpose) {
        // A long wait may be inaccurate, so that it can end together with another timer.
        let slack = min((instant - EventLoop.now) / 30, .seconds(10))
        let accuracy: Duration =
            switch purpose {
            case .command, .lowGrace, .probe, .proof: .milliseconds(1)
            case .leave: .milliseconds(50)
            // Stay accurate here: a session of two seconds is renewed two tenths of a second before its end.
            case .maintain: max(.milliseconds(50), slack)
            case .recheck, .hold: max(.milliseconds(250), slack)
            case .late, .watch, .retry, .pause: .milliseconds(250)
            }
        do {
            timers[id] = try EventLoop.shared.schedule(at: instant, accuracy: accuracy) { [weak self] in
                self?.waking.afterLinksAreRead {
                    // An event that was read meanwhile may have stopped the timer.
                    guard let self, self.timers.removeValue(forKey: id) != nil else { return }
                    self.onFire(id)
                }
            }
        } catch {
            log.error("a timer cannot be set: \(error)")
        }
    }

    func stop(_ id: TimerID) { timers.removeValue(forKey: id)?.cancel() }
}
