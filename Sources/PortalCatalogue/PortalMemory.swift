import HelperKit
import HotspotCore
import PageLogin
import Varlink

/// The part of a session's memory that only logins with a portal file use. All logins also use ``SessionMemory``.
package struct PortalMemory: Codable, Sendable {
    /// The step at which a login continues, if it changed something at the portal before its question.
    package struct Pause: Codable, Sendable {
        var step: Int
        package var url: String
        package var form: HTMLForm?
        /// The kept values in base64; `taints` contains how much each of them reveals.
        private var kept: [String: String]
        private var taints: [String: Taint]

        init(step: Int, url: String, form: HTMLForm?, kept: [String: Tainted]) {
            (self.step, self.url, self.form) = (step, url, form)
            self.kept = kept.mapValues { Base64.encode($0.octets) }
            taints = kept.mapValues(\.taint)
        }

        var values: [String: Tainted] {
            Dictionary(
                uniqueKeysWithValues: kept.map { name, text in
                    (name, Tainted(octets: Base64.decode(text) ?? [], taint: taints[name] ?? .secret))
                })
        }
    }

    /// The name of the portal file, without its ending.
    var catalogue: String?
    package var pause: Pause?
    var status: SessionMemory.SavedRequest?
    var logoff: SessionMemory.SavedRequest?

    package init(_ session: Session?) {
        guard let value = session?.memory, let memory = try? Coding.decode(PortalMemory.self, from: value) else { return }
        self = memory
    }

    /// Returns both memories in the form that the daemon keeps.
    func value(beside shared: SessionMemory) -> JSONValue? {
        guard case .object(let own) = Coding.value(self), case .object(let other)? = shared.value else { return shared.value }
        let both = JSONValue.object(own.merging(other) { $1 })
        return Coding.encode(both).count <= Session.memoryLimit ? both : shared.value
    }
}
