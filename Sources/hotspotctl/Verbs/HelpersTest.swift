import ArgumentParser
import ForeignText
import Glibc
import HotspotCore

/// Plays all commands against a helper, in a separate program, which starts helpers as the daemon does.
struct HelpersTest: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "test", abstract: "Play all commands against a helper, and report its mistakes.",
        discussion: "Needs no daemon: the networks are made up, and the portal runs on this machine.")

    @Option(help: ArgumentHelp("The login page of the portal.", valueName: "file.html"), completion: .file())
    var page: String?

    @Option(help: ArgumentHelp("The name of the network.", valueName: "name"))
    var ssid: String?

    @Argument(help: "A .helper file, a folder that contains one, or the helper's program.", completion: .file())
    var path: String

    func run() throws {
        var words: [String] = []
        if let page { words.append("--page=\(page)") }
        if let ssid { words.append("--ssid=\(ssid)") }
        words.append(path.hasPrefix("-") ? "./" + path : path)
        try TestProgram.run(words)
    }
}

/// The part of `hotspot-helpers` for authors. Unlike hotspotctl, that program links the libraries for pages and portals.
enum TestProgram {
    /// Replaces this process with `hotspot-helpers`.
    static func run(_ words: [String]) throws -> Never {
        let tool = try CompanionProgram.find("hotspot-helpers")
        var arguments: [UnsafeMutablePointer<CChar>?] = ([tool, "--author"] + words).map { strdup($0) } + [nil]
        defer { for argument in arguments { free(argument) } }
        // hotspotctl ignores SIGPIPE, and execv(3) would pass that on to the new program.
        signal(SIGPIPE, SIG_DFL)
        execv(tool, &arguments)
        throw Failure(.failed, "\(Printable.text(tool)): \(String(cString: strerror(errno)))")
    }
}
