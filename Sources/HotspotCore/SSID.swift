import ForeignText

/// The name of a network: 0 to 32 octets in no particular encoding (IEEE 802.11-2020, 9.4.2.2).
///
/// Two SSIDs are equal if their octets are equal. ``description`` renders an SSID as text, and ``init(printable:)`` reads this text back.
public struct SSID: Hashable, Sendable {
    /// The longest name that the standard allows, in octets.
    public static let maximumLength = 32

    /// The name as it is transmitted.
    public let octets: [UInt8]

    /// Returns `nil` for more than 32 octets.
    public init?(octets: some Sequence<UInt8>) {
        let octets = Array(octets)
        guard octets.count <= Self.maximumLength else { return nil }
        self.octets = octets
    }

    /// The empty name: a wired network, or a BSS that hides its name.
    public static let empty = SSID(octets: [UInt8]())!

    /// Whether the network hides its name: it sends an empty name, or a name of the same length that consists of zero octets.
    public var isHidden: Bool { octets.allSatisfy { $0 == 0 } }

    /// Lower-case hexadecimal.
    public var hex: String { Hex.encode(octets) }

    /// Returns `nil` if the text is not hexadecimal or too long.
    public init?(hex: String) {
        guard let octets = Hex.decode(hex) else { return nil }
        self.init(octets: octets)
    }

    /// Reads the printable form: `\xNN` is an octet, all other characters are UTF-8. Returns `nil` if it is malformed or too
    /// long.
    public init?(printable: String) {
        guard let octets = Printable.octets(of: printable) else { return nil }
        self.init(octets: octets)
    }
}

extension SSID: CustomStringConvertible {
    /// The printable form: safe in a terminal, a log and a file; ``init(printable:)`` reads it back.
    public var description: String { Printable.text(of: octets) }
}

/// The hardware address of a station, an access point or a gateway: six octets.
public struct HardwareAddress: Hashable, Sendable, CustomStringConvertible {
    /// The octets, in the order of transmission.
    public let octets: [UInt8]

    /// Returns `nil` unless there are six octets.
    public init?(octets: some Sequence<UInt8>) {
        let octets = Array(octets)
        guard octets.count == 6 else { return nil }
        self.octets = octets
    }

    /// Reads `aa:bb:cc:dd:ee:ff`, in either case.
    public init?(_ text: String) {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 6, parts.allSatisfy({ $0.utf8.count == 2 }), let octets = Hex.decode(parts.joined()) else {
            return nil
        }
        self.init(octets: octets)
    }

    /// `aa:bb:cc:dd:ee:ff`, lower case.
    public var description: String { Hex.encode(octets, separator: UInt8(ascii: ":")) }
}

/// The hardware address of one access point's radio.
public typealias BSSID = HardwareAddress
