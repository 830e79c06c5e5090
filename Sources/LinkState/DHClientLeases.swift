import ForeignText
import Glibc
import PortalAnnouncement

/// The lease file of ISC's dhclient (dhclient.leases(5)): a list of blocks, the newest last.
struct DHClientLeases {
    struct Lease {
        /// Whether the block is a `lease6`.
        var isIPv6 = false
        var interface = ""
        /// `fixed-address`, or each `iaaddr` of a `lease6`.
        var addresses: [String] = []
        /// The end of the lease, in seconds since 1970; `nil` for an endless lease.
        var expires: Int64?
        var nameservers: [String] = []
        var portalAPI: PortalAPIAddress?
        /// `dhcp-server-identifier`.
        var server: String?
    }

    /// The largest number of leases; the newest are kept.
    static let limit = 256
    /// The largest number of addresses in one lease.
    static let addressLimit = 16

    /// The leases, in the order of the file.
    private(set) var leases: [Lease] = []

    private enum LeaseToken: Equatable {
        case word(String)
        case text([UInt8])
        case open, close, end
    }

    /// Leaves out blocks that are broken or cut off.
    init(_ octets: [UInt8]) {
        var statement: [LeaseToken] = []
        var depth = 0
        var lease: Lease?
        Self.tokenize(octets) { token in
            switch token {
            case .open:
                depth += 1
                if depth == 1 {
                    switch statement {
                    case [.word("lease")]: lease = Lease()
                    case [.word("lease6")]: lease = Lease(isIPv6: true)
                    default: lease = nil
                    }
                } else if lease?.isIPv6 == true, statement.count == 2, case .word("iaaddr") = statement[0],
                    case .word(let address) = statement[1], lease!.addresses.count < Self.addressLimit
                {
                    lease!.addresses.append(address)
                }
                statement = []
            case .close:
                depth = max(0, depth - 1)
                statement = []
                if depth == 0, let done = lease {
                    leases.append(done)
                    if leases.count > Self.limit { leases.removeFirst() }
                    lease = nil
                }
            case .end:
                if lease != nil { Self.read(statement, into: &lease!) }
                statement = []
            case .word, .text:
                if statement.count < 64 { statement.append(token) }
            }
        }
    }

    private static func read(_ statement: [LeaseToken], into lease: inout Lease) {
        var rest = statement[...]
        func word() -> String? {
            guard case .word(let word)? = rest.popFirst() else { return nil }
            return word
        }
        switch word() {
        case "interface":
            if case .text(let name)? = rest.first { lease.interface = StreamSafe.text(String(decoding: name, as: UTF8.self)) }
        case "fixed-address": lease.addresses = word().map { [$0] } ?? []
        case "expire": lease.expires = time(rest)
        case "option":
            switch word() {
            case "domain-name-servers", "dhcp6.name-servers":
                // Words end at commas, so that only addresses remain.
                lease.nameservers = rest.prefix(NameserverText.limit).compactMap {
                    if case .word(let word) = $0 { word } else { nil }
                }
            case "dhcp-server-identifier": lease.server = word()
            // ISC's own name for the option, the name in our example configuration, and the names that dhclient gives an unknown option.
            case "default-url", "captive-portal", "unknown-114", "dhcp6.unknown-103", "dhcp6.captive-portal":
                if let first = rest.first { lease.portalAPI = octets(of: first).flatMap { PortalAPIAddress($0) } }
            default: break
            }
        default: break
        }
    }

    /// Returns the octets of a text, or of hexadecimal octets such as `68:74:74`, which dhclient prints for unknown options.
    private static func octets(of token: LeaseToken) -> [UInt8]? {
        switch token {
        case .text(let octets): octets
        case .word(let word):
            word.utf8.count > 1024
                ? nil
                : word.split(separator: ":", omittingEmptySubsequences: false).reduce(into: [UInt8]?([])) { octets, part in
                    guard let octet = UInt8(part, radix: 16) else { return octets = nil }
                    octets?.append(octet)
                }
        case .open, .close, .end: nil
        }
    }

    /// Reads `6 2026/11/21 05:30:00` in UTC, `epoch 1795237800`, or `never`.
    private static func time(_ tokens: ArraySlice<LeaseToken>) -> Int64? {
        let words = tokens.compactMap { if case .word(let word) = $0 { word } else { nil } }
        if words.first == "never" { return nil }
        if words.first == "epoch" { return words.count > 1 ? Int64(words[1]) ?? 0 : 0 }
        guard words.count >= 3 else { return 0 }
        let date = words[1].split(separator: "/").compactMap { Int32($0) }
        let clock = words[2].split(separator: ":").compactMap { Int32($0) }
        guard date.count == 3, clock.count == 3, (1970...9999).contains(date[0]), (1...12).contains(date[1]),
            (1...31).contains(date[2]), (0...23).contains(clock[0]), (0...59).contains(clock[1]), (0...60).contains(clock[2])
        else { return 0 }
        var parts = tm()
        parts.tm_year = date[0] - 1900
        parts.tm_mon = date[1] - 1
        parts.tm_mday = date[2]
        parts.tm_hour = clock[0]
        parts.tm_min = clock[1]
        parts.tm_sec = clock[2]
        return Int64(timegm(&parts))
    }

    private static func tokenize(_ octets: [UInt8], _ handle: (LeaseToken) -> Void) {
        var rest = octets[...]
        while let octet = rest.popFirst() {
            switch octet {
            case UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\n"), UInt8(ascii: "\r"), UInt8(ascii: ","): continue
            case UInt8(ascii: "{"): handle(.open)
            case UInt8(ascii: "}"): handle(.close)
            case UInt8(ascii: ";"): handle(.end)
            case UInt8(ascii: "#"): rest = rest.drop { $0 != UInt8(ascii: "\n") }
            case UInt8(ascii: "\""): handle(.text(text(&rest)))
            default:
                let tail = rest.prefix { !" \t\r\n,{};\"#".utf8.contains($0) }
                rest = rest[tail.endIndex...]
                handle(.word(StreamSafe.text(String(decoding: [octet] + tail, as: UTF8.self))))
            }
        }
    }

    /// Reads the rest of a quoted text; `\"`, `\\` and three octal digits are escapes.
    private static func text(_ rest: inout ArraySlice<UInt8>) -> [UInt8] {
        var text: [UInt8] = []
        while let octet = rest.popFirst(), octet != UInt8(ascii: "\"") {
            guard octet == UInt8(ascii: "\\") else {
                text.append(octet)
                continue
            }
            let digits = rest.prefix(3).prefix { (UInt8(ascii: "0")...UInt8(ascii: "7")).contains($0) }
            if digits.count == 3 {
                let value = digits.reduce(0) { $0 * 8 + Int($1 - UInt8(ascii: "0")) }
                text.append(UInt8(truncatingIfNeeded: value))
                rest = rest[digits.endIndex...]
            } else if let escaped = rest.popFirst() {
                text.append(escaped)
            }
        }
        return text
    }
}
