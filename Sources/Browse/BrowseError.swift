import ForeignText
import Glibc

/// The reason why the browser cannot be opened: one sentence with advice.
enum BrowseError: Error, CustomStringConvertible {
    case noBrowser
    case notABrowser(String)
    case snap(String)
    case noLink(String)
    case system(String, Int32)

    /// The exit status of a program that fails with this error; hotspotctl knows the meaning of 3.
    var status: Int32 { if case .noBrowser = self { 3 } else { 1 } }

    var description: String {
        switch self {
        case .noBrowser:
            "There is no browser in PATH: install Chromium, Chrome, Brave, Edge or Firefox (apt install chromium), or name one with --browser."
        case .snap(let name):
            "The snap \(Printable.text(name, limit: 64)) can open only its own folder, which is missing: start the browser once by hand, or choose another one with --browser."
        case .notABrowser(let path): "\(Printable.text(path, limit: 300)) is not a program that can be started."
        case .noLink(let reason): "The network's description cannot be read: \(Printable.text(reason, limit: 300))."
        case .system(let what, let code): "\(what): \(String(cString: strerror(code)))."
        }
    }
}
