import ForeignText
import HotspotCore

struct Options: Equatable {
    /// A `.helper` file, a folder with such a file, or a program.
    var path: String
    /// A file with the login page that the made-up portal serves.
    var page: String?
    /// The name of the made-up network.
    var ssid: SSID?

    static let usage = """
        usage: hotspotctl helpers test [--page FILE.html] [--ssid NAME] FILE.helper | FOLDER | PROGRAM

        Plays Describe and the six commands against a helper, with made-up networks and a portal on this machine.
          --page FILE.html  the portal serves this page; its first form, sent as a browser would send it, opens the portal
          --ssid NAME       the name of the made-up network, instead of the first one that SSID= covers
        Exit status: 0 nothing is wrong, 1 something is wrong, 2 the test is not possible.
        """

    /// The reason why the command line is not valid.
    struct Misuse: Error, CustomStringConvertible {
        var description: String
    }

    /// Reads the words after the program's name; `nil` if the user asks for help.
    static func read(_ words: some Sequence<String>) throws(Misuse) -> Options? {
        var rest = Array(words)[...]
        var paths: [String] = []
        var options = Options(path: "")
        while let word = rest.popFirst() {
            let parts = word.split(separator: "=", maxSplits: 1).map(String.init)
            switch parts.first ?? "" {
            case "-h", "--help": return nil
            case "--page", "--ssid":
                guard let value = parts.count == 2 ? parts[1] : rest.popFirst() else {
                    throw Misuse(description: "\(parts[0]) needs a value")
                }
                if parts[0] == "--page" {
                    options.page = value
                } else {
                    guard let ssid = SSID(printable: value), !ssid.octets.isEmpty else {
                        let shown = Printable.text(value, limit: 80)
                        throw Misuse(description: "--ssid takes 1 to 32 octets, \\xNN for one that cannot be typed: \"\(shown)\"")
                    }
                    options.ssid = ssid
                }
            case let option where option.hasPrefix("-") && option != "-":
                throw Misuse(description: "unknown option \(Printable.text(option, limit: 80))")
            default: paths.append(word)
            }
        }
        guard paths.count == 1 else {
            throw Misuse(description: paths.isEmpty ? "which helper?" : "one helper at a time, please")
        }
        options.path = paths[0]
        return options
    }
}
