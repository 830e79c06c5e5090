import HotspotCore
import Varlink

extension JSONValue {
    /// A value as JSON; `nil` if it is no object.
    static func encoding(_ value: some Encodable) -> JSONValue? {
        let value = Coding.value(value)
        return value.object == nil ? nil : value
    }

    /// JSON as a value.
    func decoded<T: Decodable>(_ type: T.Type) throws(VarlinkError) -> T { try Coding.decode(type, from: self) }

    /// Its length when written.
    var octets: Int { Coding.encode(self).count }
}
