import EventLoop
import Glibc
import HelperHost
import HotspotCore

/// Plays the six commands against one helper, as the daemon would, and says in plain words what is wrong.
@main struct Main {
    private static let usage = """
        usage: hotspot-helper-test FILE.helper | PROGRAM

        Plays Describe and the six commands against a helper, with networks that do not exist and a portal on this machine.
        Exit status: 0 nothing is wrong, 1 something is, 2 it could not be tried.
        """

    static func main() {
        let arguments = CommandLine.arguments.dropFirst()
        guard arguments.count == 1, let file = arguments.first, !file.hasPrefix("-") else {
            print(usage)
            exit(arguments.first == "--help" || arguments.first == "-h" ? 0 : 2)
        }
        do {
            let candidate = try Candidate(file)
            let portal = try RehearsalPortal()
            Task { @LoopActor in await Rehearsal(candidate, portal: portal).run() }
            exit(try EventLoop.shared.run())
        } catch {
            print("\(error)")
            exit(2)
        }
    }
}
