import EventLoop
import Glibc
import HelperHost
import HotspotCore

/// Plays the six commands against one helper, as the daemon would, and says in plain words what is wrong.
@main struct Main {
    static func main() {
        let arguments = Array(CommandLine.arguments.dropFirst())
        if arguments.first == Recorder.option { Recorder.run(Array(arguments.dropFirst())) }
        do {
            guard let options = try Options.read(arguments) else {
                print(Options.usage)
                exit(0)
            }
            let candidate = try Candidate(options.path)
            let networks = try RehearsalNetworks(candidate.spec, ssid: options.ssid)
            let portal = try RehearsalPortal(page: options.page)
            Task { @LoopActor in await Rehearsal(candidate, networks: networks, portal: portal).run() }
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
