import HotspotCore
import TestSupport
import Testing

@testable import Wireless

@Suite struct AccessElementsTests {
    private static func element(_ identifier: UInt8, _ value: [UInt8]) -> [UInt8] { [identifier, UInt8(value.count)] + value }

    private func read(_ octets: [UInt8]) -> AccessElements { InformationElements(octets[...]).access }

    private static let interworking = element(107, [0x32, 2, 8, 2, 0, 0, 0, 0, 9])
    private static let anqp = element(108, [0x7F, 0])
    private static let consortia = element(111, [0, 0x35, 0x5A, 0x03, 0xBA, 0, 0, 0x00, 0x40, 0x96])

    @Test func interworkingIsRead() throws {
        let whole = try #require(read(Self.interworking).interworking)
        #expect(whole.networkType == .chargeable && whole.hasInternet && whole.needsAdditionalStep)
        #expect(whole.venue == Interworking.Venue(group: 2, type: 8))
        #expect(whole.hessid?.description == "02:00:00:00:00:09")
        let short = try #require(read(Self.element(107, [0x13])).interworking)
        #expect(short.networkType == .free && short.hasInternet && !short.needsAdditionalStep)
        #expect(short.venue == nil && short.hessid == nil)
        #expect(read(Self.element(107, [0, 1, 7])).interworking?.venue?.type == 7)
        #expect(read(Self.element(107, [0, 2, 0, 0, 0, 0, 9])).interworking?.hessid?.description == "02:00:00:00:00:09")
        #expect(read(Self.element(107, [0, 2, 0, 0, 0, 0, 9])).interworking?.venue == nil)
        #expect(read(Self.element(107, [9])).interworking?.networkType == nil)
    }

    @Test(arguments: [0, 2, 4, 5, 6, 8, 10, 255]) func interworkingOfAnotherLengthIsIgnored(length: Int) {
        #expect(read(Self.element(107, [UInt8](repeating: 0x30, count: length))).interworking == nil)
    }

    @Test func theFirstReadableOfSeveralCounts() {
        let elements = read(Self.element(107, [1, 2]) + Self.element(107, [0x20]) + Self.interworking)
        #expect(elements.interworking?.needsAdditionalStep == true && elements.interworking?.venue == nil)
        let lists = read(Self.element(111, [0, 0xFF]) + Self.consortia + Self.element(111, [0, 3, 1, 2, 3]))
        #expect(lists.consortia.map(\.hex) == ["5a03ba0000", "004096"])
    }

    @Test func consortiaAreRead() {
        #expect(read(Self.consortia).consortia.map(\.isOpenRoaming) == [true, true])
        let third = Self.element(111, [9, 0x33, 1, 2, 3, 4, 5, 6, 0xBA, 0xA2, 0xD0, 0, 0])
        #expect(read(third).consortia.map(\.hex) == ["010203", "040506", "baa2d00000"])
        #expect(read(third).consortia.map(\.isOpenRoaming) == [false, false, true])
        // Lengths that do not fit, and invalid identifiers.
        #expect(read(Self.element(111, [0, 0x35, 1, 2, 3, 4, 5, 6, 7])).consortia.isEmpty)
        #expect(read(Self.element(111, [0])).consortia.isEmpty)
        #expect(read(Self.element(111, [0, 0x12, 1, 2, 3])).consortia.isEmpty)
    }

    @Test func anqpIsFoundAmongOtherProtocols() {
        #expect(read(Self.anqp).offersANQP)
        #expect(read(Self.element(108, [0x7F, 221, 2, 9, 9, 0x7F, 3, 0x7F, 0])).offersANQP)
        for other in [[], [0x7F], [0x7F, 3], [0x7F, 221], [0x7F, 221, 9, 0x7F, 0], [0x7F, 221, 2, 0x7F, 0]] as [[UInt8]] {
            #expect(!read(Self.element(108, other)).offersANQP, "\(other)")
        }
    }

    @Test func theWordsOfTheInterfacesAreMade() throws {
        let access = try #require(AnnouncedAccess(read(Self.interworking + Self.anqp + Self.consortia)))
        #expect(access.expectsLogin && access.internet == true && access.openRoaming == true && access.anqp == true)
        #expect(access.networkType == "chargeable" && access.venueGroup == 2 && access.venueType == 8)
        #expect(access.consortia == ["5a03ba0000", "004096"] && access.passpoint == nil)
        #expect(AnnouncedAccess(read([])) == nil)
        for number in UInt8.min...15 {
            let isKnown = number < 6 || number > 13
            #expect((AccessNetworkType(number: number) != nil) == isKnown)
        }
        #expect(Set(AccessNetworkType.allCases.map(\.rawValue)).count == 8)
    }

    // MARK: ANQP

    private static func name(_ text: [UInt8]) -> [UInt8] { [UInt8(text.count + 3)] + Array("eng".utf8) + text }
    private static func duple(_ text: String) -> [UInt8] { [UInt8(text.utf8.count)] + Array(text.utf8) }
    private static func step(_ number: UInt8, _ url: String) -> [UInt8] {
        [number, UInt8(url.utf8.count & 255), UInt8(url.utf8.count >> 8)] + Array(url.utf8)
    }

    private static let recorded: [(ANQPAnswer.Element, [UInt8])] = [
        (.venueName, [2, 8] + name(Array("Café".utf8)) + name(Array("Foyer".utf8))),
        (.authenticationType, step(2, "https://Portal.lindenhof.example:8443/login?a=b") + step(0, "")),
        (.roamingConsortium, [5, 0x5A, 0x03, 0xBA, 0, 0, 3, 0, 0x40, 0x96]),
        (.realms, [1, 0, 13, 0, 0, 11] + Array("a.org;b.org".utf8)),
        (.domains, duple("lindenhof.example")),
        (.venueURL, [21, 1] + Array("https://venue.org/?x".utf8)),
        (.operatorName, name(Array("Lindenhof".utf8))),
    ]

    private func answer(_ elements: [(ANQPAnswer.Element, [UInt8])]) -> ANQPAnswer {
        var answer = ANQPAnswer()
        for (element, octets) in elements { answer.read(element, octets) }
        return answer
    }

    @Test func answersAreRead() throws {
        let known = answer(Self.recorded)
        #expect(known.venueNames == ["Café", "Foyer"] && known.operators == ["Lindenhof"])
        #expect(known.steps == [.redirection, .terms])
        #expect(known.loginURL?.url == "https://portal.lindenhof.example:8443/login?a=b")
        #expect(known.loginURL?.origin == "https://portal.lindenhof.example:8443")
        #expect(known.consortia.map(\.hex) == ["5a03ba0000", "004096"])
        #expect(known.realms == ["a.org", "b.org"] && known.domains == ["lindenhof.example"])
        #expect(known.venueURL?.url == "https://venue.org/?x")
        let access = try #require(AnnouncedAccess(AccessElements(), known))
        #expect(access.expectsLogin && access.openRoaming == true && access.loginURL == known.loginURL?.url)
        let told = access.forHelpers
        #expect(told.loginOrigin == "https://portal.lindenhof.example:8443" && told.steps == ["redirection", "terms"])
        #expect(told.loginURL == nil && told.venueURL == nil && told.venueNames == nil && told.operators == nil)
        #expect(told.realms == nil && told.domains == nil)
    }

    @Test(arguments: [
        "ftp://a.example/", "https://user@a.example/", "https://", "javascript:alert(1)", "//a.example", "https:/a.example/",
        "https://a.example/\u{202E}", "https://a.example/ x", "https://a.example\\@b.example/", "https://a.example:0/", "",
    ]) func addressesThatAreNoneAreIgnored(text: String) {
        #expect(answer([(.authenticationType, Self.step(2, text))]).loginURL == nil)
    }

    @Test func longListsAndTextsEndAtALimit() {
        let flood = (0..<3000).flatMap { _ in Self.name([UInt8](repeating: 0x41, count: 200)) }
        let known = answer([(.venueName, [0, 0] + flood)])
        #expect(known.venueNames == [String](repeating: String(repeating: "A", count: 100), count: 4))
        let long = "https://a.example/" + String(repeating: "x", count: 600)
        #expect(answer([(.authenticationType, Self.step(2, long))]).loginURL == nil)
        let realms = [255, 255] + (0..<1000).flatMap { _ in [13, 0, 0, 11] + Array("a.org;b.org".utf8) } as [UInt8]
        #expect(answer([(.realms, realms)]).realms.count == 4)
    }

    @Test func namesPassTheFilterOfSSIDs() {
        let octets: [UInt8] = [0x41, 0x1B, 0x5B, 0xFF, 0xE2, 0x80, 0xAE, 0x0A]
        let known = answer([(.venueName, [0, 0] + Self.name(octets)), (.domains, [8] + octets)])
        let shown = SSID(octets: octets)!.description
        #expect(known.venueNames == [shown] && known.domains == [shown])
        #expect(shown.utf8.allSatisfy { (0x20..<0x7F).contains($0) })
    }

    // MARK: Random octets

    /// Recorded elements with any change are read within their bounds, give the same result twice, and only printable texts.
    @Test(arguments: [11, 12, 13] as [UInt64]) func changedElementsAreReadWithinBounds(seed: UInt64) {
        var numbers = SeededNumbers(seed: seed)
        let frame = Self.element(0, Array("Cafe".utf8)) + Self.interworking + Self.anqp + Self.consortia
        var found = 0
        for _ in 0..<4000 {
            let octets = Self.changed(frame, by: &numbers)
            let elements = read(octets)
            #expect(elements == read(octets))
            #expect(elements.consortia.count <= 3 && elements.consortia.allSatisfy { (3...5).contains($0.octets.count) })
            if elements.interworking != nil { found += 1 }
            let known = answer(Self.recorded.map { ($0.0, Self.changed($0.1, by: &numbers)) })
            check(AnnouncedAccess(elements, known))
        }
        // Most changes leave an element whole, so that the readers after it are reached as well.
        #expect((400...3900).contains(found))
    }

    private func check(_ access: AnnouncedAccess?) {
        guard let access else { return }
        let lists = [access.venueNames, access.operators, access.realms, access.domains].compactMap { $0 }
        let urls = [access.loginURL, access.venueURL, access.loginOrigin].compactMap { $0 }
        #expect(lists.allSatisfy { (1...4).contains($0.count) } && (access.steps ?? ["dns"]).count <= 4)
        for text in lists.joined() + urls {
            #expect(text.utf8.count <= 4 * 512 && !text.isEmpty)
            #expect(!text.unicodeScalars.contains { $0.value < 0x20 || $0.properties.generalCategory == .format }, "\(text)")
        }
        for url in urls { #expect(url.hasPrefix("http://") || url.hasPrefix("https://")) }
        #expect((access.loginURL == nil) == (access.loginOrigin == nil))
    }

    /// Overwrites, removes, repeats and cuts octets at places that the numbers choose.
    private static func changed(_ octets: [UInt8], by numbers: inout SeededNumbers) -> [UInt8] {
        var octets = octets
        for _ in 0..<Int.random(in: 0...3, using: &numbers) where !octets.isEmpty {
            let place = Int.random(in: 0..<octets.count, using: &numbers)
            switch Int.random(in: 0...4, using: &numbers) {
            case 0: octets[place] = UInt8.random(in: 0...255, using: &numbers)
            case 1: octets[place] = [0, 1, 0x7F, 0x80, 0xFF].randomElement(using: &numbers)!
            case 2: octets.remove(at: place)
            case 3: octets.insert(contentsOf: octets[place...].prefix(9), at: place)
            default: octets.removeSubrange(place...)
            }
        }
        return octets
    }
}
