import ForeignText
import Vault

@testable import Companion

/// The octets of a vector.
func octets(_ hex: String) -> [UInt8] { Hex.decode(hex)! }

extension SecretBytes {
    var hex: String { withBytes { Hex.encode(Array($0)) } }
}

extension KeyPair {
    init(hex: String) throws(CompanionError) { try self.init(secret: .copy(of: octets(hex))) }
}
