import Glibc
import Netlink
import Testing

/// A file of Fixtures/nl80211: the datagrams that a kernel sent.
struct Recording {
    static let events = [
        "access-point-gone", "connected", "disconnected", "interface-came-and-went", "roamed", "scan-finished",
    ]
    static let dumps = ["interfaces", "interfaces-connected", "scan", "scan-connected", "scan-roamed"]

    /// The number of nl80211 on the machine that was recorded.
    let family: UInt16
    let datagrams: [[UInt8]]

    init(_ name: String) throws {
        let folder = #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
        let file = try #require(fopen("/\(folder)/Fixtures/nl80211/\(name)", "r"))
        defer { fclose(file) }
        var octets = [UInt8](repeating: 0, count: 1 << 20)
        let count = fread(&octets, 1, octets.count, file)
        var rest = octets[..<count]
        let head = String(decoding: rest.prefix { $0 != 10 }, as: UTF8.self)
        family = try #require(head.split(separator: "=").last.flatMap { UInt16($0) })
        rest = rest.dropFirst(head.utf8.count + 1)
        var datagrams: [[UInt8]] = []
        while rest.count >= 4 {
            // Little-endian, whatever the machine that recorded.
            let length = Int(rest.prefix(4).reversed().reduce(UInt32(0)) { $0 << 8 | UInt32($1) })
            guard rest.count >= 4 + length else { break }
            datagrams.append(Array(rest.dropFirst(4).prefix(length)))
            rest = rest.dropFirst(4 + length)
        }
        self.datagrams = datagrams
    }

    /// The messages of the family, without acknowledgements and ends.
    var messages: [NetlinkMessage] {
        datagrams.flatMap { Array(NetlinkMessages(datagram: $0)) }.filter { $0.type == family }
    }

    var payloads: [[UInt8]] { messages.map { Array($0.payload) } }
}
