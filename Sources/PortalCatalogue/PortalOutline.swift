import HelperKit
import HotspotCore

/// A `.portal` file of which only the `[Match]` sections were read: the rest is parsed only for the one file, among many, that matches a portal.
struct PortalOutline: Sendable {
    let keyfile: Keyfile
    let matches: [PortalFile.Match]

    /// The file's name without its ending.
    var id: String { PortalFileParser.id(of: keyfile.file) }

    /// Reads the whole file. Throws the first ``Keyfile/Error`` in it.
    func whole() throws(Keyfile.Error) -> PortalFile { try PortalFileParser.parse(keyfile) }
}

/// The portal files that a login may use.
package protocol PortalSource: Sendable {
    /// Returns the claims of the files that match, the best claim first.
    func claims(on hops: [HTTPResponse], ssid: SSID?) -> [PortalClaim]
    /// Returns the file with this name (without `.portal`), if it can be used.
    func portal(named id: String) -> PortalFile?
}

extension [PortalFile]: PortalSource {
    package func claims(on hops: [HTTPResponse], ssid: SSID?) -> [PortalClaim] { Matcher.claims(self, on: hops, ssid: ssid) }
    package func portal(named id: String) -> PortalFile? { first { $0.id == id } }
}
