import ForeignText
import Glibc

/// Why the browser cannot be opened, one sentence with what to do.
enum BrowseError: Error, CustomStringConvertible {
    case noBrowser
    case notABrowser(String)
    case noLink(String)
    case system(String, Int32)

    var description: String {
        switch self {
        case .noBrowser:
            "There is no browser in PATH: install Chromium, Chrome, Brave, Edge or Firefox (apt install chromium), or name one with --browser."
        case .notABrowser(let path): "\(Printable.text(path, limit: 300)) is not a program that can be started."
        case .noLink(let reason): "The network's description cannot be read: \(Printable.text(reason, limit: 300))."
        case .system(let what, let code): "\(what): \(String(cString: strerror(code)))."
        }
    }
}
