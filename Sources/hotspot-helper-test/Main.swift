import EventLoop
import Glibc
import HelperHost
import HotspotCore

/// Plays Describe, FilterScanList and Evaluate against one helper, as the daemon would, and says in plain words what came.
@main struct Main {
    static func main() {
        let arguments = CommandLine.arguments.dropFirst()
        guard arguments.count == 1, let file = arguments.first, !file.hasPrefix("-") else {
            print("usage: hotspot-helper-test FILE.helper")
            exit(arguments.first == "--help" ? 0 : 2)
        }
        do {
            let (spec, problems) = try HelperFile.read(file.hasPrefix("/") ? file : currentFolder + "/" + file)
            for problem in problems { print("note: \(problem.message)") }
            Task { @LoopActor in await Rehearsal(spec, file: file).run() }
            exit(try EventLoop.shared.run())
        } catch {
            print("\(error)")
            exit(2)
        }
    }

    private static var currentFolder: String {
        guard let pointer = getcwd(nil, 0) else { return "" }
        defer { free(pointer) }
        return String(cString: pointer)
    }
}
