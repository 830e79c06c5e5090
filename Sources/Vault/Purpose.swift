import HotspotCore

/// The purpose of sealed octets. The vault authenticates it, so octets that were copied to another row cannot be opened.
///
/// The program is the helper's ``HelperSpec/Activation/identity`` at the time of sealing; `nil` if an older version sealed the octets.
public enum Purpose: Hashable, Sendable {
    /// Answers that the user wants to keep, for one network, helper and portal.
    case credential(network: NetworkID, helper: String, origin: String, pin: String?, program: String? = nil)
    /// The memory of a helper's session on one network.
    case session(network: NetworkID, helper: String, program: String? = nil)

    /// Joins the parts unambiguously: each part follows its length. Throws ``VaultError/anonymousNetwork``.
    func associatedData() throws(VaultError) -> [UInt8] {
        switch self {
        case .credential(let network, let helper, let origin, let pin, let program):
            guard let key = network.key else { throw .anonymousNetwork }
            return Self.join(["credential", key, helper, origin, pin] + (program.map { [$0] } ?? []))
        case .session(let network, let helper, let program):
            guard let key = network.key else { throw .anonymousNetwork }
            return Self.join(["session", key, helper] + (program.map { [$0] } ?? []))
        }
    }

    private static func join(_ parts: [String?]) -> [UInt8] {
        var octets = Array("hotspotd vault 1".utf8)
        for part in parts {
            // Marks a missing part, so that it differs from an empty part.
            octets.append(part == nil ? 0 : 1)
            let utf8 = Array((part ?? "").utf8)
            withUnsafeBytes(of: UInt32(utf8.count).bigEndian) { octets += $0 }
            octets += utf8
        }
        return octets
    }
}
