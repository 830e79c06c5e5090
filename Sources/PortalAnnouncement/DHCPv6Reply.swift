/// The answer to a DHCPv6 Information-request (RFC 8415, 18.2.6).
public struct DHCPv6Reply: Hashable, Sendable {
    /// The number of the request, 24 bits, which the reply repeats.
    public let transaction: UInt32
    /// Option 103 (RFC 8910, 2.2), checked.
    public let portalAPI: PortalAPIAddress?

    /// The options that are read or sent: the server's identifier, the wanted options, the time since the first request, and the portal's API.
    private enum Option {
        static let (serverID, wanted, elapsed, portalAPI) = (2, 6, 8, 103)
    }

    /// Returns `nil` unless the octets are a well-formed reply of a server (RFC 8415, 16.10).
    public init?(_ octets: [UInt8]) {
        guard octets.count >= 4, octets[0] == 7 else { return nil }
        transaction = octets[1..<4].reduce(0) { $0 << 8 | UInt32($1) }
        var portalAPI: PortalAPIAddress?
        var isServers = false
        var rest = octets[4...]
        while !rest.isEmpty {
            let header = rest.prefix(4)
            guard header.count == 4 else { return nil }
            let numbers = header.map(Int.init)
            let (code, length) = (numbers[0] << 8 | numbers[1], numbers[2] << 8 | numbers[3])
            rest = rest.dropFirst(4)
            guard length <= rest.count else { return nil }
            if code == Option.serverID { isServers = true }
            if code == Option.portalAPI, portalAPI == nil { portalAPI = PortalAPIAddress(rest.prefix(length)) }
            rest = rest.dropFirst(length)
        }
        guard isServers else { return nil }
        self.portalAPI = portalAPI
    }

    /// Returns an Information-request. It does not identify this machine (RFC 7844, 4.3.1). It also requests the options that RFC 8415, 21.7
    /// requires: the times for refreshing and repeating.
    public static func informationRequest(_ transaction: UInt32) -> [UInt8] {
        func option(_ code: Int, _ numbers: [Int]) -> [UInt8] {
            ([code, 2 * numbers.count] + numbers).flatMap { [UInt8($0 >> 8), UInt8($0 & 0xFF)] }
        }
        return [11, UInt8(transaction >> 16 & 0xFF), UInt8(transaction >> 8 & 0xFF), UInt8(transaction & 0xFF)]
            + option(Option.elapsed, [0]) + option(Option.wanted, [32, 83, Option.portalAPI])
    }
}
