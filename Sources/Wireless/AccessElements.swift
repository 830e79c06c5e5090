import ForeignText
import HotspotCore

/// The elements with which an access point describes its network before a station joins it.
///
/// They are not signed, and anyone nearby can send them. If an element occurs twice, the first readable one counts; an element with wrong inner
/// lengths is ignored.
public struct AccessElements: Hashable, Sendable {
    /// Element 107 (IEEE 802.11-2020, 9.4.2.91).
    public internal(set) var interworking: Interworking?
    /// Element 111, roaming consortium (9.4.2.95): at most three identifiers.
    public internal(set) var consortia: [ConsortiumIdentifier] = []
    /// Whether element 108, advertisement protocol (9.4.2.92), lists ANQP: the access point answers requests by stations that have not joined.
    public internal(set) var offersANQP = false
    /// Wi-Fi Alliance element 16: Hotspot 2.0 indication.
    public internal(set) var hasHotspot20 = false

    public init() {}

    public var isEmpty: Bool { self == AccessElements() }

    /// Reads element 111: the number of further identifiers for ANQP, two lengths of four bits, and up to three identifiers.
    static func consortia(_ value: ArraySlice<UInt8>) -> [ConsortiumIdentifier] {
        guard value.count >= 2 else { return [] }
        let lengths = value[value.startIndex + 1]
        var rest = value.dropFirst(2)
        let (first, second) = (Int(lengths & 15), Int(lengths >> 4))
        guard first + second <= rest.count else { return [] }
        var identifiers: [ConsortiumIdentifier] = []
        // The third identifier has the remaining octets.
        for length in [first, second, rest.count - first - second] {
            if let identifier = ConsortiumIdentifier(rest.prefix(length)) { identifiers.append(identifier) }
            rest = rest.dropFirst(length)
        }
        return identifiers
    }

    /// Returns whether a list of advertisement protocols contains ANQP (number 0). Each entry consists of a reply limit and a number.
    static func offersANQP(_ value: ArraySlice<UInt8>) -> Bool {
        var rest = value
        while rest.popFirst() != nil, let identifier = rest.popFirst() {
            if identifier == 0 { return true }
            // An entry of a vendor has its own length.
            guard identifier == 221 else { continue }
            guard let length = rest.popFirst(), Int(length) <= rest.count else { return false }
            rest = rest.dropFirst(Int(length))
        }
        return false
    }
}

/// The interworking element (IEEE 802.11-2020, 9.4.2.91).
public struct Interworking: Hashable, Sendable {
    /// The type; `nil` for a reserved number.
    public let networkType: AccessNetworkType?
    /// Whether the network leads to the Internet.
    public let hasInternet: Bool
    /// ASRA: whether access takes an additional step, such as a login.
    public let needsAdditionalStep: Bool
    public let venue: Venue?
    /// All networks with the same HESSID are one extended service set.
    public let hessid: BSSID?

    /// - Parameter value: 1, 3, 7 or 9 octets. Any other length gives `nil`, because the standard has no other.
    init?(_ value: ArraySlice<UInt8>) {
        guard let options = value.first, [1, 3, 7, 9].contains(value.count) else { return nil }
        networkType = AccessNetworkType(number: options & 15)
        hasInternet = options & 0x10 != 0
        needsAdditionalStep = options & 0x20 != 0
        let venue = value.dropFirst().prefix(2)
        self.venue = [3, 9].contains(value.count) ? Venue(group: Int(venue.first!), type: Int(venue.last!)) : nil
        hessid = value.count >= 7 ? HardwareAddress(octets: value.suffix(6)) : nil
    }

    /// The kind of a place by the numbers of the Venue Info field.
    public struct Venue: Hashable, Sendable {
        public let group: Int
        public let type: Int
    }
}

/// The identifier of a roaming consortium: 3 to 5 octets (IEEE 802.11-2020, 9.4.1.31).
public struct ConsortiumIdentifier: Hashable, Sendable {
    public let octets: [UInt8]

    init?(_ octets: ArraySlice<UInt8>) {
        guard (3...5).contains(octets.count) else { return nil }
        self.octets = Array(octets)
    }

    /// Lower-case hexadecimal.
    public var hex: String { Hex.encode(octets) }

    /// OpenRoaming's identifiers begin with 5A03BA (free of charge) or BAA2D0 (charged), and end with a member's policies (Wireless Broadband
    /// Alliance, OpenRoaming framework); Cisco's access points used to announce 00-40-96.
    public var isOpenRoaming: Bool {
        switch octets.count {
        case 5: octets.starts(with: [0x5A, 0x03, 0xBA]) || octets.starts(with: [0xBA, 0xA2, 0xD0])
        default: octets == [0x00, 0x40, 0x96]
        }
    }
}
