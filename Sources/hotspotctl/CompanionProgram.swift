import EventLoop
import ForeignText
import Glibc

/// Programs that are installed together with hotspotctl.
enum CompanionProgram {
    /// Returns the path of a program.
    static func find(_ name: String) throws(Failure) -> String {
        let places = places(of: name)
        if let place = places.first(where: { access($0, X_OK) == 0 }) { return place }
        let searched = places.map { Printable.text($0) }.joined(separator: ", ")
        throw Failure(.failed, "\(name) is not installed; these places were searched: \(searched).")
    }

    /// Returns the paths where a program may be: in the folder of hotspotctl, or where `make install` puts it.
    private static func places(of name: String) -> [String] {
        let own = FilePath.target(ofLink: "/proc/self/exe") ?? ""
        let folder = own[..<(own.lastIndex(of: "/") ?? own.startIndex)]
        return ["\(folder)/\(name)", "\(folder)/../libexec/hotspotd/\(name)"]
    }
}
