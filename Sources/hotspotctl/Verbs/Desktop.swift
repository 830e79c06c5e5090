import ArgumentParser
import EventLoop
import Glibc
import HotspotCore
import Varlink

struct DesktopVerb: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "desktop", abstract: "Turn off the desktop's own portal window, or restore it.",
        discussion: """
            Desktops open a window for a portal when NetworkManager's check finds one. 'takeover' turns the check off for all users of \
            this computer, so that hotspotd alone asks. 'give-back' restores the check, as does removing the package. Until then, NetworkManager assumes that every \
            default route reaches the Internet: its icon and the programs that listen to it do not notice portals. If two \
            links are up, ordinary traffic stays on the link behind a portal, unless Gate=routes keeps it off.
            """,
        subcommands: [DesktopStatus.self, DesktopTakeover.self, DesktopGiveBack.self], defaultSubcommand: DesktopStatus.self)
}

struct DesktopStatus: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status", abstract: "Show which programs check for portals.")

    @OptionGroup var common: CommonOptions

    func run() throws {
        let check = PortalCheck()
        if let mode = common.jsonMode { return Output.print(Coding.value(check), mode) }
        Output.print(common.renderer.lines(check))
    }
}

struct DesktopTakeover: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "takeover", abstract: "Turn off NetworkManager's check, so that the desktop opens no portal window.")

    func run() throws {
        // A second takeover must not overwrite the remembered state.
        guard !PortalCheck.isTakenOver else { return Output.print(["hotspotd had already taken over the portal check."]) }
        guard let properties = NetworkManager.properties() else {
            throw Failure(.failed, "NetworkManager does not run.", hint: "systemctl status NetworkManager")
        }
        try PortalCheck.takeOver(wasEnabled: properties["ConnectivityCheckEnabled"]?.boolean == true)
        try NetworkManager.reload()
        Output.print(["NetworkManager no longer checks for portals; only hotspotd does."])
    }
}

struct DesktopGiveBack: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "give-back", abstract: "Restore NetworkManager's check as it was before 'takeover'.")

    func run() throws {
        guard PortalCheck.isTakenOver else { return Output.print(["Nothing was taken over."]) }
        try PortalCheck.giveBack()
        // If NetworkManager is not running, it reads its settings when it starts.
        if NetworkManager.properties() != nil { try NetworkManager.reload() }
        Output.print(["NetworkManager's check is restored."])
    }
}

/// NetworkManager's check for portals.
struct PortalCheck: Codable, Equatable {
    /// Whether hotspotd took over the check and has not given it back.
    var takenOver: Bool
    /// Whether NetworkManager checks for portals; absent if it does not run.
    var networkManagerChecks: Bool?
}

extension PortalCheck {
    /// The file that turns the check off and overrides all other files. Its existence is the only record of the takeover.
    private static let path = "/etc/NetworkManager/conf.d/zz-hotspotd.conf"

    /// Reads the current state.
    init() {
        let properties = NetworkManager.properties()
        self.init(
            takenOver: Self.isTakenOver,
            networkManagerChecks: properties.map {
                $0["ConnectivityCheckEnabled"]?.boolean == true && $0["ConnectivityCheckAvailable"]?.boolean == true
            })
    }

    static var isTakenOver: Bool { access(path, F_OK) == 0 }

    /// Writes the file. If the check was already off, the file must contain no setting: a program may have switched the check off over D-Bus, and a
    /// changed setting would undo that.
    static func takeOver(wasEnabled: Bool) throws(Failure) {
        let text = """
            # Written by 'hotspotctl desktop takeover'; 'hotspotctl desktop give-back' removes it.
            \(wasEnabled ? "[connectivity]\nenabled=false" : "# The check was off before.")

            """
        guard FilePath.create(path, text, mode: 0o644) else { throw failure("takeover") }
    }

    static func giveBack() throws(Failure) {
        guard unlink(path) == 0 else { throw failure("give-back") }
    }

    private static func failure(_ verb: String) -> Failure {
        Failure(
            .failed, "\(path): \(String(cString: strerror(errno))).",
            hint: geteuid() == 0 ? nil : "sudo hotspotctl desktop \(verb)")
    }
}

extension Renderer {
    func lines(_ check: PortalCheck) -> [String] {
        let giveBack = "  to undo: sudo hotspotctl desktop give-back"
        return switch (check.takenOver, check.networkManagerChecks) {
        case (true, false): ["Taken over: NetworkManager no longer checks for portals; only hotspotd does.", giveBack]
        case (true, true): ["Taken over, but another program has turned NetworkManager's check on again.", giveBack]
        case (true, nil): ["hotspotd has taken over the portal check; NetworkManager is not running.", giveBack]
        case (false, true):
            [
                "NetworkManager also checks for portals, and the desktop may open a window for them.",
                "  try: sudo hotspotctl desktop takeover",
            ]
        case (false, false): ["NetworkManager does not check for portals: its check is off, or no address is set."]
        case (false, nil): ["NetworkManager does not run."]
        }
    }
}
