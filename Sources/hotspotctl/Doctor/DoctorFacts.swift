import ControlAPI
import EventLoop
import HotspotCore

/// The facts that `doctor` judges, from ``FactsReader`` or from a test. Facts that cannot be read are absent or empty.
struct DoctorFacts {
    struct Interface: Equatable {
        enum Kind { case wireless, wired, tunnel }
        var name: String
        var kind: Kind
        /// Whether, according to the kernel, packets can pass.
        var isUp: Bool
        /// The addresses, without link-local ones.
        var addresses: [String] = []
        var hasDefaultRoute = false
    }

    /// The state of a radio switch: on, switched off by a program, or by a key.
    enum RadioSwitch: Hashable { case on, offByProgram, offByKey }

    enum Daemon {
        case answers(StatusReply, helpers: [HelperStatus], check: CheckReply?)
        case fails(Failure)
    }

    /// The connectivity of NetworkManager.
    enum Desktop: Int64 { case unknown, offline, portal, limited, full }

    var interfaces: [Interface] = []
    var switches: [RadioSwitch] = []
    var resolvers: [String] = []
    var daemon: Daemon
    /// `nil` without NetworkManager.
    var desktop: Desktop?
    /// The interface that the user names.
    var wanted: String?

    // MARK: The examined interface

    var subject: String? { wanted ?? status?.interface ?? link?.name }

    var status: InterfaceStatus? {
        // If the user names no interface, examines the interface that the daemon chose for its check.
        guard let name = wanted ?? check?.interface else { return reply?.interfaces.first }
        return reply?.interfaces.first { $0.interface == name }
    }

    var link: Interface? {
        if let name = wanted ?? status?.interface { return interfaces.first { $0.name == name } }
        let candidates = interfaces.filter { $0.kind != .tunnel }
        return candidates.first { $0.hasDefaultRoute } ?? candidates.first { $0.kind == .wireless } ?? candidates.first
    }

    /// The path of the daemon's settings.
    var settings: String { reply?.settings ?? CommonOptions.defaultSettings }

    var reply: StatusReply? { if case .answers(let status, _, _) = daemon { status } else { nil } }
    var helpers: [HelperStatus] { if case .answers(_, let helpers, _) = daemon { helpers } else { [] } }
    var check: CheckReply? { if case .answers(_, _, let check) = daemon { check } else { nil } }

    var isOnline: Bool { check?.verdict == "online" }
    /// Whether no portal is in the way, even if HTTPS fails.
    var isOpen: Bool { isOnline || (check?.verdict == "limited" && status?.captive == false) }
    var isCaptive: Bool {
        switch check?.verdict {
        case "captive": true
        case "online", "limited": false
        case nil, _?: status?.captive == true
        }
    }
    var isWired: Bool { link.map { $0.kind != .wireless } ?? (status?.ssid?.hasPrefix("wired:") == true) }
    var name: String { Renderer.safe(subject ?? "the interface", limit: 32) }
    var renderer: Renderer { Renderer(style: .plain, now: WallClock.now) }

    /// A command of hotspotctl for the examined interface.
    func ours(_ command: String) -> String {
        status.map { renderer.command(command, for: $0, among: reply?.interfaces ?? []) } ?? command
    }
}
