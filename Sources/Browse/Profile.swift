import EventLoop
import Glibc
import HelperKit

/// A folder that only one browser uses: its profile, and the page that leads to the portal.
struct Profile {
    /// The folder of the profile itself.
    let path: String
    /// The first page, as a file.
    let page: String
    /// The whole folder.
    let folder: String

    /// Makes the folder in the first of `parents` in which this is possible, readable only by this user.
    init(for start: WebURL, proxy port: UInt16, under parents: [String]) throws(BrowseError) {
        var made: String?
        for parent in parents where made == nil {
            var template = Array("\(parent)/hotspot-browse-XXXXXX".utf8CString)
            // mkdtemp(3) gives the folder the mode 0700.
            if mkdtemp(&template) != nil {
                made = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
            }
        }
        guard let made else { throw .system("A folder for the browser could not be made", errno) }
        folder = made
        path = made + "/profile"
        page = "file://\(made)/start.html"
        guard mkdir(path, 0o700) == 0, Self.write(Self.page(to: start), to: made + "/start.html"),
            Self.write(Browser.preferences(proxy: port), to: path + "/user.js")
        else {
            let code = errno
            remove()
            throw .system("The browser's folder cannot be written", code)
        }
    }

    /// Removes the folder with everything that the browser left in it.
    func remove() { Self.remove(folder) }

    /// Removes a file or a whole folder; links are not followed.
    private static func remove(_ path: String) {
        var status = stat()
        if lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR {
            for name in FilePath.names(in: path) { remove("\(path)/\(name)") }
        }
        Glibc.remove(path)
    }

    /// Returns the folders in which a profile can be made, the best one first.
    ///
    /// - Parameter snap: the folder of the browser's snap. A snap can read no other folder.
    static func parents(runtime: String?, temporary: String?, home: String?, snap: String?) -> [String] {
        if let snap { return home.map { ["\($0)/snap/\(snap)/common"] } ?? [] }
        return [runtime, temporary].compactMap(\.self).filter { $0.hasPrefix("/") } + ["/tmp"]
    }

    /// Returns a page that immediately leads to an address.
    static func page(to start: WebURL) -> String {
        let address = start.href.replacing("&", with: "&amp;").replacing("\"", with: "&quot;").replacing("<", with: "&lt;")
        return """
            <!DOCTYPE html>
            <html lang="en"><head><meta charset="utf-8"><title>Hotspot</title>
            <meta name="referrer" content="no-referrer"><meta http-equiv="refresh" content="0; url=\(address)"></head>
            <body><a href="\(address)">To the portal</a></body></html>

            """
    }

    private static func write(_ text: String, to path: String) -> Bool {
        FilePath.create(path, text, mode: 0o666)
    }
}
