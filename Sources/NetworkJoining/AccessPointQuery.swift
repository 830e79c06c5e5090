import EventLoop
import ForeignText
import HotspotCore
import Wireless

/// The result of a question to an access point.
public enum ANQPOutcome: Hashable, Sendable {
    case answered(ANQPAnswer)
    case silent
    /// There is no wpa_supplicant, or it refused: the question was not sent.
    case notSent
}

/// One ANQP question to an access point, which need not be joined, through the control socket of wpa_supplicant (2.10).
///
/// wpa_supplicant's D-Bus interface has no call for ANQP. While wpa_supplicant runs, the kernel refuses ANQP frames from other programs (EALREADY).
@LoopActor final class AccessPointQuery {
    /// The longest wait for an answer. Measured: 11 to 25 ms, and 2.2 s during a scan; NetworkManager's scans of all channels may take longer.
    /// wpa_supplicant ends a question itself, with an event. If that event is lost, because only few events fit into a socket's queue
    /// (net.unix.max_dgram_qlen), hotspotd reads the answer at the end of this time.
    static let patience = Duration.seconds(30)

    private let bssid: BSSID
    private var control: WPAControl?
    private var timer: EventSource?
    private var done: ((ANQPOutcome) -> Void)?

    /// Sends the question; calls back once.
    ///
    /// - Parameters:
    ///   - path: the path of the interface's control socket.
    ///   - hasHotspot20: whether to ask for the operator's name as well.
    init(
        path: String, bssid: BSSID, hasHotspot20: Bool, patience: Duration = patience, _ done: @escaping (ANQPOutcome) -> Void
    ) {
        (self.bssid, self.done) = (bssid, done)
        control = try? WPAControl(path: path)
        // The timer keeps this object alive until the timer fires.
        timer = try? EventLoop.shared.schedule(after: patience) { self.read() }
        guard let control, timer != nil else {
            finish(.notSent)
            return
        }
        control.onEvent = { [weak self] in if Self.ends($0, bssid) { self?.read() } }
        control.order(["ATTACH", Self.question(bssid, hasHotspot20: hasHotspot20)]) { [weak self] refusal in
            if refusal != nil { self?.finish(.notSent) }
        }
    }

    /// Returns the command that asks for venue name (258), authentication type (260), consortia (261), realms (263), domains (268), venue URL (277),
    /// and the operator's name of Hotspot 2.0.
    nonisolated static func question(_ bssid: BSSID, hasHotspot20: Bool) -> String {
        "ANQP_GET \(bssid) 258,260,261,263,268,277\(hasHotspot20 ? ",hs20:3" : "")"
    }

    nonisolated static func ends(_ event: String, _ bssid: BSSID) -> Bool {
        event.hasPrefix("ANQP-QUERY-DONE addr=\(bssid) ")
    }

    /// Reads the lines of `BSS`: each is an element's name and its octets in hexadecimal digits. An answer that is too long ends in the middle of an
    /// element, perhaps even in the middle of an octet.
    nonisolated static func answer(_ text: String) -> ANQPAnswer {
        var answer = ANQPAnswer()
        for line in text.split(separator: "\n") {
            let parts = line.split(separator: "=", maxSplits: 1)
            guard parts.count == 2, let element = ANQPAnswer.Element(rawValue: String(parts[0])) else { continue }
            let digits = Array(parts[1].utf8)
            if let octets = Hex.decode(digits.dropLast(digits.count % 2)) { answer.read(element, octets) }
        }
        return answer
    }

    private func read() {
        guard let control else { return finish(.silent) }
        // The mask selects the address and the ANQP elements (wpa_ctrl.h, WPA_BSS_MASK_INTERNETW). The closure keeps this object, because the timer
        // keeps it only until the timer fires.
        control.ask("BSS \(bssid) MASK=0x8002") { text in self.finish(text.map { .answered(Self.answer($0)) } ?? .silent) }
    }

    private func finish(_ outcome: ANQPOutcome) {
        guard let done else { return }
        self.done = nil
        timer?.cancel()
        timer = nil
        if let control {
            control.onEvent = { _ in }
            control.ask("DETACH") { _ in _ = control }
        }
        control = nil
        done(outcome)
    }
}
