import EventLoop
import Glibc
import HelperHost
import HotspotCore

/// Plays the six commands against one helper, as the daemon would, and reports mistakes to its author. Also implements the part of `hotspotctl
/// portals` that checks, tries and records portal files.
package enum AuthorProgram {
    /// The first command-line argument that selects this tool.
    package static let option = "--author"

    /// - Parameter arguments: the arguments after the option.
    package static func run(_ arguments: [String]) -> Never {
        if arguments.first == Recorder.option { Recorder.run(Array(arguments.dropFirst())) }
        if arguments.first == PortalsTool.word { PortalsTool.run(Array(arguments.dropFirst())) }
        do {
            guard let options = try Options.read(arguments) else {
                print(Options.usage)
                exit(0)
            }
            let helper = try HelperUnderTest(options.path)
            let networks = try RehearsalNetworks(helper.spec, ssid: options.ssid)
            let portal = try RehearsalPortal(page: options.page)
            Task { @LoopActor in await Rehearsal(helper, networks: networks, portal: portal).run() }
            exit(try EventLoop.shared.run())
        } catch let misuse as Options.Misuse {
            print("\(misuse)\n\(Options.usage)")
            exit(2)
        } catch {
            print("\(error)")
            exit(2)
        }
    }
}
