import ForeignText
import HotspotCore

/// The elements of an access point's ANQP answer (IEEE 802.11-2020, 9.4.5) that people and helpers need.
///
/// The octets come from a stranger. Each list is read up to a limit, and ends at the first length that exceeds its bounds. Texts are printable, like
/// SSIDs.
public struct ANQPAnswer: Hashable, Sendable {
    /// An element that is read, with wpa_supplicant's name for it.
    public enum Element: String, CaseIterable, Sendable {
        case venueName = "anqp_venue_name"
        case authenticationType = "anqp_network_auth_type"
        case roamingConsortium = "anqp_roaming_consortium"
        case realms = "anqp_nai_realm"
        case domains = "anqp_domain_name"
        case venueURL = "anqp[277]"
        case operatorName = "hs20_operator_friendly_name"
    }

    /// The largest number of entries of a list, of octets of a text, and of octets of a URL.
    static let (listLimit, textLimit, urlLimit) = (4, 100, 512)

    public private(set) var steps: [AuthenticationStep] = []
    /// The first usable address of the network authentication type: http or https, without a user name.
    public private(set) var loginURL: WebAddress?
    public private(set) var venueNames: [String] = []
    public private(set) var venueURL: WebAddress?
    public private(set) var consortia: [ConsortiumIdentifier] = []
    public private(set) var realms: [String] = []
    public private(set) var domains: [String] = []
    public private(set) var operators: [String] = []

    public init() {}

    public var isEmpty: Bool { self == ANQPAnswer() }

    /// Reads one element without its number and length.
    public mutating func read(_ element: Element, _ octets: [UInt8]) {
        switch element {
        case .venueName: venueNames = Self.names(octets.dropFirst(2))
        case .operatorName: operators = Self.names(octets[...])
        case .authenticationType: readSteps(octets[...])
        case .roamingConsortium: consortia = Self.pieces(octets[...]).compactMap { ConsortiumIdentifier($0) }
        case .realms: realms = Self.realms(octets[...])
        case .domains: domains = Self.pieces(octets[...]).compactMap(Self.text)
        // Drop the octet before the address, which is the number of a venue name.
        case .venueURL: venueURL = Self.pieces(octets[...]).lazy.compactMap { WebAddress($0.dropFirst()) }.first
        }
    }

    /// Reads the network authentication type (9.4.5.6), a sequence of: a number, a length of two octets, and an address.
    private mutating func readSteps(_ octets: ArraySlice<UInt8>) {
        (steps, loginURL) = ([], nil)
        var rest = octets
        for _ in 0..<Self.listLimit {
            guard let number = rest.popFirst(), let url = Self.piece(&rest) else { return }
            if let step = AuthenticationStep(number: number), !steps.contains(step) { steps.append(step) }
            loginURL = loginURL ?? WebAddress(url)
        }
    }

    /// Reads the NAI realm element (9.4.5.10): a count, then entries with a length of two octets, an encoding, and, after one octet of length, names
    /// separated by semicolons. The methods of authentication that follow are not read.
    private static func realms(_ octets: ArraySlice<UInt8>) -> [String] {
        var rest = octets.dropFirst(2)
        var realms: [String] = []
        while realms.count < listLimit, let entry = piece(&rest) {
            guard let length = entry.dropFirst().first, entry.count >= 2 + Int(length) else { continue }
            for name in entry.dropFirst(2).prefix(Int(length)).split(separator: UInt8(ascii: ";")) where realms.count < listLimit
            {
                if let text = text(name) { realms.append(text) }
            }
        }
        return realms
    }

    /// Reads names, each of which follows a language code of three octets (9.4.5.4).
    private static func names(_ octets: ArraySlice<UInt8>) -> [String] {
        pieces(octets).compactMap { $0.count > 3 ? text($0.dropFirst(3)) : nil }
    }

    /// Reads the first entries of a list; each follows one octet of length.
    private static func pieces(_ octets: ArraySlice<UInt8>) -> [ArraySlice<UInt8>] {
        var (rest, pieces) = (octets, [ArraySlice<UInt8>]())
        while pieces.count < listLimit, let length = rest.popFirst(), Int(length) <= rest.count {
            pieces.append(rest.prefix(Int(length)))
            rest = rest.dropFirst(Int(length))
        }
        return pieces
    }

    /// Removes and returns a piece that follows a length of two octets, the lower one first.
    private static func piece(_ rest: inout ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        guard let low = rest.popFirst(), let high = rest.popFirst() else { return nil }
        let length = Int(low) | Int(high) << 8
        guard length <= rest.count else { return nil }
        defer { rest = rest.dropFirst(length) }
        return rest.prefix(length)
    }

    private static func text(_ octets: ArraySlice<UInt8>) -> String? {
        octets.isEmpty ? nil : StreamSafe.text(Printable.text(of: octets.prefix(textLimit)))
    }
}

/// A URL of http or https in visible ASCII, without a user name, of at most 512 octets.
public struct WebAddress: Hashable, Sendable {
    public let url: String
    /// `scheme://host[:port]`
    public let origin: String

    init?(_ octets: ArraySlice<UInt8>) {
        guard (1...ANQPAnswer.urlLimit).contains(octets.count),
            octets.allSatisfy({ (0x21...0x7E).contains($0) && !"\\\"<>^`{|}".utf8.contains($0) }),
            let colon = octets.firstIndex(of: UInt8(ascii: ":"))
        else { return nil }
        let scheme = String(decoding: octets[..<colon], as: UTF8.self).lowercased()
        let place = octets[colon...].dropFirst(3)
        guard octets[colon...].starts(with: "://".utf8) else { return nil }
        let host = place.prefix { !"/?#".utf8.contains($0) }
        origin = "\(scheme)://\(String(decoding: host, as: UTF8.self).lowercased())"
        guard Origin.isValid(origin) else { return nil }
        url = origin + String(decoding: place.dropFirst(host.count), as: UTF8.self)
    }
}

extension AnnouncedAccess {
    /// - Parameter answer: the access point's answers to ANQP, if it was asked.
    /// - Returns: `nil` if the access point announces nothing.
    public init?(_ elements: AccessElements, _ answer: ANQPAnswer? = nil) {
        guard !elements.isEmpty || answer?.isEmpty == false else { return nil }
        func flag(_ value: Bool) -> Bool? { value ? true : nil }
        func list<Element>(_ list: [Element]?) -> [Element]? { list?.isEmpty == false ? list : nil }
        self.init()
        let interworking = elements.interworking
        additionalStep = flag(interworking?.needsAdditionalStep == true)
        internet = flag(interworking?.hasInternet == true)
        networkType = interworking?.networkType?.rawValue
        (venueGroup, venueType) = (interworking?.venue?.group, interworking?.venue?.type)
        hessid = interworking?.hessid?.description
        var consortia = elements.consortia
        for one in answer?.consortia ?? [] where !consortia.contains(one) { consortia.append(one) }
        self.consortia = list(consortia.map(\.hex))
        openRoaming = flag(consortia.contains(where: \.isOpenRoaming))
        passpoint = flag(elements.hasHotspot20)
        anqp = flag(elements.offersANQP)
        steps = list(answer?.steps.map(\.rawValue))
        (loginURL, loginOrigin) = (answer?.loginURL?.url, answer?.loginURL?.origin)
        venueNames = list(answer?.venueNames)
        venueURL = answer?.venueURL?.url
        operators = list(answer?.operators)
        realms = list(answer?.realms)
        domains = list(answer?.domains)
    }
}
