import HotspotCore

/// The relevant elements of a beacon or probe response (IEEE 802.11-2020, 9.4.2).
///
/// Anyone nearby can send any octets. The elements are read in one pass without recursion; multiple-BSSID elements are ignored. An element whose
/// length exceeds the end stops the pass, and everything counts as malformed.
public struct InformationElements: Hashable, Sendable {
    /// The key management of a robust security network element or of its WPA predecessor.
    enum KeyManagement: Hashable, Sendable {
        case suites(Set<Security>)
        /// The element exists, but cannot be read.
        case unreadable
    }

    /// The first name element; `nil` if there was none, or if it was too long for a name.
    public private(set) var ssid: SSID?
    /// Elements 107, 108 and 111, and the Hotspot 2.0 indication.
    public private(set) var access = AccessElements()
    /// Wi-Fi Alliance element 28: the open network of an OWE transition pair names the encrypted network (RFC 8110; Wi-Fi Alliance, OWE 1.1).
    public private(set) var oweTransition: OWETransition?
    /// Whether a length was impossible. After an element that exceeds the end, nothing was read.
    public private(set) var isMalformed = false

    private var rsn: KeyManagement?
    private var wpa: KeyManagement?
    private var hasOSEN = false

    /// - Parameter octets: the elements as they were on the air.
    public init(_ octets: ArraySlice<UInt8>) {
        var rest = octets
        while let identifier = rest.popFirst() {
            guard let length = rest.popFirst(), Int(length) <= rest.count else {
                isMalformed = true
                return
            }
            read(identifier, rest.prefix(Int(length)))
            rest = rest.dropFirst(Int(length))
        }
    }

    /// Returns the security of the network.
    ///
    /// - Parameter hasPrivacy: whether the privacy bit of the capability field is set, which on its own means WEP.
    public func security(hasPrivacy: Bool) -> Security {
        for element in [rsn, wpa] {
            switch element {
            case nil: continue
            case .unreadable: return .unknown
            case .suites(let suites):
                // A network with several methods counts as the method that most stations support.
                return [Security.psk, .sae, .enterprise, .owe].first(where: suites.contains) ?? .unknown
            }
        }
        if hasOSEN { return .enterprise }
        if hasPrivacy { return .wep }
        // The element with the security may have been cut off.
        return isMalformed ? .unknown : .open
    }

    private mutating func read(_ identifier: UInt8, _ value: ArraySlice<UInt8>) {
        switch identifier {
        case 0:
            guard ssid == nil else { return }
            ssid = SSID(octets: value)
            if ssid == nil { isMalformed = true }
        case 48: if rsn == nil { rsn = Self.keyManagement(value, suites: Self.rsnSuite) }
        case 107: access.interworking = access.interworking ?? Interworking(value)
        case 108: if AccessElements.offersANQP(value) { access.offersANQP = true }
        case 111: if access.consortia.isEmpty { access.consortia = AccessElements.consortia(value) }
        case 221: readVendor(value)
        default: return
        }
    }

    private mutating func readVendor(_ value: ArraySlice<UInt8>) {
        guard value.count >= 4 else { return }
        let octets = Array(value.prefix(4))
        let body = value.dropFirst(4)
        switch (Array(octets[..<3]), octets[3]) {
        case ([0x00, 0x50, 0xF2], 1): if wpa == nil { wpa = Self.keyManagement(body, suites: Self.wpaSuite) }
        case ([0x50, 0x6F, 0x9A], 0x10): access.hasHotspot20 = true
        case ([0x50, 0x6F, 0x9A], 0x12): hasOSEN = true
        case ([0x50, 0x6F, 0x9A], 0x1C): oweTransition = oweTransition ?? OWETransition(body)
        default: return
        }
    }

    /// Reads the common format of both elements: version, group cipher, pairwise ciphers, key management (9.4.2.24). The standard makes everything
    /// after the version optional; a network without key management counts as unreadable, never as open.
    private static func keyManagement(
        _ value: ArraySlice<UInt8>, suites: (ArraySlice<UInt8>) -> Security
    ) -> KeyManagement {
        guard little(value, 0) == 1, let pairwise = little(value, 6), pairwise <= 64,
            let count = little(value, 8 + 4 * pairwise), (1...64).contains(count)
        else { return .unreadable }
        let list = value.dropFirst(10 + 4 * pairwise)
        guard list.count >= 4 * count else { return .unreadable }
        var securities: Set<Security> = []
        for index in 0..<count { securities.insert(suites(list.dropFirst(4 * index).prefix(4))) }
        return .suites(securities)
    }

    /// Returns the security of a suite by IEEE 802.11-2020, table 9-151, and its amendments.
    private static func rsnSuite(_ suite: ArraySlice<UInt8>) -> Security {
        guard suite.starts(with: [0x00, 0x0F, 0xAC]), let type = suite.last else { return .unknown }
        switch type {
        case 1, 3, 5, 11, 12, 13, 14, 15, 16, 17, 22, 23: return .enterprise
        case 2, 4, 6, 19, 20: return .psk
        case 8, 9, 24, 25: return .sae
        case 18: return .owe
        default: return .unknown
        }
    }

    private static func wpaSuite(_ suite: ArraySlice<UInt8>) -> Security {
        guard suite.starts(with: [0x00, 0x50, 0xF2]) else { return .unknown }
        switch suite.last {
        case 1: return .enterprise
        case 2: return .psk
        default: return .unknown
        }
    }

    /// Reads a little-endian integer, whatever the machine's own order.
    private static func little(_ value: ArraySlice<UInt8>, _ offset: Int) -> Int? {
        guard offset + 2 <= value.count else { return nil }
        return Int(value[value.startIndex + offset]) | Int(value[value.startIndex + offset + 1]) << 8
    }
}

/// The encrypted network of an OWE transition pair.
public struct OWETransition: Hashable, Sendable {
    /// The BSS to which this element points.
    public let bssid: BSSID
    /// The network's name, which it hides in its own beacons.
    public let ssid: SSID

    /// - Parameter body: the octets after the element's vendor type; `nil` if they do not contain an address and a name.
    init?(_ body: ArraySlice<UInt8>) {
        guard body.count >= 7, let bssid = HardwareAddress(octets: body.prefix(6)) else { return nil }
        let length = Int(body[body.startIndex + 6])
        let name = body.dropFirst(7)
        guard length <= name.count, let ssid = SSID(octets: name.prefix(length)) else { return nil }
        self.bssid = bssid
        self.ssid = ssid
    }
}
