import EventLoop
import Vault

@testable import AuthorTools
@testable import BoundHTTP
@testable import Companion
@testable import ForeignText
@testable import HelperHost
@testable import HelperKit
@testable import HotspotCore
@testable import LinkState
@testable import Netlink
@testable import PageLogin
@testable import PortalAnnouncement
@testable import PortalCatalogue
@testable import PortalPages
@testable import Rendering
@testable import Varlink
@testable import Wireless

/// The readers of octets that others wrote, by the names that the fuzzer takes.
enum Parsers {
    static let checkout = #filePath.split(separator: "/").dropLast(3).map { "/" + $0 }.joined()

    static let all: [String: @Sendable ([UInt8]) -> Void] = [
        "html": { _ = HTMLPage.read($0, at: portal) },
        "rules": PageVisits.play,
        "script": { _ = ScriptCode(String(decoding: $0, as: UTF8.self)) },
        "wispr": { _ = WISPrDocument.find(in: $0) },
        "api": { _ = PortalAPIDocument($0) },
        "portal": { _ = try? PortalFileParser.parse($0, file: "fuzz.portal") },
        "match": PortalVisits.play,
        "snapshot": { octets in
            let parts = parts(of: octets, limit: 2)
            let readings = parts.compactMap { part in
                (try? Coding.decode(JSONValue.self, from: part)).flatMap { try? RenderedPage.Reading($0, context: 1) }
            }
            if readings.count > 1 { _ = readings[1].countsDown(since: readings[0]) }
            for reading in readings where !reading.hasFields { _ = HTMLPage.read(reading.markup, at: reading.url) }
            for part in parts {
                guard let value = try? Coding.decode(JSONValue.self, from: part) else { continue }
                _ = Cookie(parameters: value)?.line
                let watch = AnswerGuard(origin: portal.origin, answers: ["214", "Brandt"]) { $0.isSecure }
                _ = watch.ruling(value["request"], isPage: true)
            }
        },
        "proxy": { octets in
            var handshake = SocksHandshake()
            for half in [octets.prefix(octets.count / 2), octets.dropFirst(octets.count / 2)] {
                handshake.add(half)
                while case .answer = handshake.next() {}
            }
        },
        "netlink": { octets in
            var (links, scan) = (LinkTable(), ScanTable())
            for message in NetlinkMessages(datagram: octets) {
                _ = try? links.apply(message)
                _ = try? links.addRoute(message)
                guard let attributes = try? AttributeReader(message.payload) else { continue }
                if let entry = try? BSS(attributes, now: Instant(nanoseconds: 0)) { scan.insert(entry) }
            }
            _ = scan.best
            _ = try? AttributeReader(octets[...])
        },
        "elements": { _ = InformationElements($0[...]) },
        "anqp": { octets in
            var answer = ANQPAnswer()
            for element in ANQPAnswer.Element.allCases { answer.read(element, octets) }
        },
        "dhcp": { octets in
            _ = IPPacket(octets)
            _ = UDPDatagram(octets)
            _ = DHCPPacket(octets)
            _ = DHCPv6Reply(octets)
        },
        "advertisement": { _ = RouterAdvertisement($0, from: [0xFE, 0x80] + [UInt8](repeating: 1, count: 14), hopLimit: 255) },
        "varlink": { octets in
            var framer = Framer(limit: 65536)
            framer.append(octets)
            while let message = try? framer.next() { _ = try? Coding.decode(JSONValue.self, from: message) }
        },
        "control": { ControlCalls.shared.play($0) },
        "answer": { octets in
            for command in Command.allCases { _ = AnswerReader.outcome(of: octets, to: command) }
        },
        "lease": { _ = DHClientLeases($0) },
        "keyfile": { octets in
            var mistakes: [Keyfile.Error] = []
            let keyfile = Keyfile(octets, file: "fuzz", errors: &mistakes)
            var settings = Settings(environment: [:])
            for entry in keyfile.entries { try? SettingsKey.apply(entry, of: keyfile, to: &settings) }
            _ = try? HelperFile.parse(octets, file: "fuzz.helper")
        },
        "records": ForeignRecords.readText,
        "bus": ForeignRecords.readBus,
        "supplicant": ForeignRecords.readSupplicant,
        "url": { octets in
            let text = String(decoding: octets, as: UTF8.self)
            _ = WebURL(text)
            _ = WebURL(text, relativeTo: portal)
            _ = try? RedirectPolicy().target(of: text, from: portal)
        },
        "cookie": { _ = Cookie(line: String(decoding: $0, as: UTF8.self)) },
        "printable": { octets in
            let text = String(decoding: octets, as: UTF8.self)
            _ = Printable.text(of: octets)
            _ = Printable.shown(text)
            _ = Printable.json(text)
            _ = Printable.octets(of: text)
        },
        "masking": { octets in
            // The last part is the text, the others are secrets.
            let words = parts(of: octets, limit: 4).map { String(decoding: $0, as: UTF8.self) }
            guard let text = words.last else { return }
            let secrets = Secrets(words.dropLast())
            _ = secrets.mask(text)
            _ = secrets.sparing(words.prefix(1)).without(words.suffix(1)).mask(text)
            _ = Mask(words.dropLast()).apply(text)
        },
        "recording": { _ = try? RecordedLogin($0, file: "fuzz") },
        "peer": { octets in
            _ = BulkPosition(octets: octets)
            _ = try? Message.read(octets)
        },
        "frames": PeerFrames.play,
    ]

    static let portal = WebURL("http://portal.example/login")!

    /// Returns the parts of an input between NUL octets, at least one.
    static func parts(of octets: [UInt8], limit: Int) -> [[UInt8]] {
        octets.split(separator: 0, maxSplits: limit - 1, omittingEmptySubsequences: false).map(Array.init)
    }
}
