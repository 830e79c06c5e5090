import CNetlink
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

    /// Reads an input. Returns for each outcome of the reader whether the input reached it; the seeds reach every outcome (`SeedTests`).
    typealias Parser = @Sendable (_ octets: [UInt8]) -> [String: Bool]

    static let all: [String: Parser] = [
        "html": { ["a form": !HTMLPage.read($0, at: portal).forms.isEmpty] },
        "rules": PageVisits.play,
        "script": { octets in
            let script = ScriptCode(String(decoding: octets, as: UTF8.self))
            return ["an assignment": script.contains { $0.kind == .word && script.assignment(of: $0.text) != nil }]
        },
        "wispr": { ["the document": WISPrDocument.find(in: $0) != nil] },
        "api": { ["the document": PortalAPIDocument($0) != nil] },
        "portal": { ["the file": (try? PortalFileParser.parse($0, file: "fuzz.portal")) != nil] },
        "match": PortalVisits.play,
        "snapshot": { octets in
            let values = parts(of: octets, limit: 2).compactMap { try? Coding.decode(JSONValue.self, from: $0) }
            let readings = values.compactMap { try? RenderedPage.Reading($0, context: 1) }
            for reading in readings where !reading.hasFields { _ = HTMLPage.read(reading.markup, at: reading.url) }
            let watch = AnswerGuard(origin: portal.origin, answers: ["214", "Brandt"]) { $0.isSecure }
            return [
                "the page": !readings.isEmpty, "a count-down": readings.count > 1 && readings[1].countsDown(since: readings[0]),
                "a cookie": values.contains { Cookie(parameters: $0)?.line != nil },
                "an answer": values.contains { watch.ruling($0["request"], isPage: true) != .other },
            ]
        },
        "proxy": { octets in
            var (handshake, step) = (SocksHandshake(), SocksHandshake.Step.wait)
            for half in [octets.prefix(octets.count / 2), octets.dropFirst(octets.count / 2)] {
                handshake.add(half)
                step = handshake.next()
                while case .answer = step { step = handshake.next() }
            }
            if case .connect = step { return ["the host": true] }
            return ["the host": false]
        },
        "netlink": { octets in
            var (links, scan) = (LinkTable(), ScanTable())
            for message in NetlinkMessages(datagram: octets) {
                _ = try? links.apply(message)
                _ = try? links.addRoute(message)
                // Skips the header of generic netlink.
                guard let rest = message.payload.after(4), let attributes = try? AttributeReader(rest) else { continue }
                let nested = try? attributes.nested(Int(NL80211_ATTR_BSS.rawValue))
                if let nested, let entry = try? BSS(nested, now: Instant(nanoseconds: 0)) { scan.insert(entry) }
            }
            _ = try? AttributeReader(octets[...])
            let found = links.snapshots.values
            return [
                "an address": found.contains { !$0.addresses.isEmpty }, "a route": found.contains { !$0.gateways.isEmpty },
                "a network": !scan.best.isEmpty,
            ]
        },
        "elements": { octets in
            let elements = InformationElements(octets[...])
            return ["the name": elements.ssid != nil, "the end": !octets.isEmpty && !elements.isMalformed]
        },
        "anqp": { octets in
            let pairs = ANQPAnswer.Element.allCases.map { element in
                var answer = ANQPAnswer()
                answer.read(element, octets)
                return (element.rawValue, !answer.isEmpty)
            }
            return Dictionary(uniqueKeysWithValues: pairs)
        },
        "dhcp": { octets in
            [
                "the reply in a packet": IPPacket(octets).flatMap { Inquiry.Reply($0) } != nil,
                "a message of DHCPv4": DHCPPacket(octets) != nil, "a message of DHCPv6": DHCPv6Reply(octets) != nil,
            ]
        },
        "advertisement": { octets in
            let found = RouterAdvertisement(octets, from: [0xFE, 0x80] + [UInt8](repeating: 1, count: 14), hopLimit: 255)
            return ["the address": found?.portalAPI != nil]
        },
        "varlink": { octets in
            var (framer, count) = (Framer(limit: 65536), 0)
            framer.append(octets)
            while let message = try? framer.next() { if (try? Coding.decode(Call.self, from: message)) != nil { count += 1 } }
            return ["a call": count > 0]
        },
        "control": ControlCalls.shared.play,
        "answer": { octets in
            let pairs = Command.allCases.map { command in
                if case .failed = AnswerReader.outcome(of: octets, to: command) { return (command.description, false) }
                return (command.description, true)
            }
            return Dictionary(uniqueKeysWithValues: pairs)
        },
        "lease": { ["a lease": !DHClientLeases($0).leases.isEmpty] },
        "keyfile": { octets in
            var mistakes: [Keyfile.Error] = []
            let keyfile = Keyfile(octets, file: "fuzz", errors: &mistakes)
            var settings = Settings(environment: [:])
            let count = keyfile.entries.count { (try? SettingsKey.apply($0, of: keyfile, to: &settings)) != nil }
            return ["a setting": count > 0, "the helper": (try? HelperFile.parse(octets, file: "fuzz.helper")) != nil]
        },
        "records": ForeignRecords.readText,
        "bus": ForeignRecords.readBus,
        "supplicant": ForeignRecords.readSupplicant,
        "url": { octets in
            let text = String(decoding: octets, as: UTF8.self)
            return [
                "an address": WebURL(text) != nil, "a relative one": WebURL(text, relativeTo: portal) != nil,
                "a redirect": (try? RedirectPolicy().target(of: text, from: portal)) != nil,
            ]
        },
        "cookie": { ["the cookie": Cookie(line: String(decoding: $0, as: UTF8.self)) != nil] },
        "printable": { octets in
            let text = String(decoding: octets, as: UTF8.self)
            _ = Printable.shown(text)
            _ = Printable.json(text)
            _ = Printable.octets(of: text)
            return ["the same octets": Printable.octets(of: Printable.text(of: octets)) == octets]
        },
        "masking": { octets in
            // The last part is the text, the others are secrets.
            let words = parts(of: octets, limit: 4).map { String(decoding: $0, as: UTF8.self) }
            guard let text = words.last else { return [:] }
            let secrets = Secrets(words.dropLast())
            _ = secrets.sparing(words.prefix(1)).without(words.suffix(1)).mask(text)
            return [
                "a secret": secrets.appear(in: text), "a secret that is cut": secrets.mask(text).contains("•••…"),
                "an answer": Mask(words.dropLast()).apply(text) != text,
            ]
        },
        "recording": { ["the login": (try? RecordedLogin($0, file: "fuzz")) != nil] },
        "peer": { octets in
            ["a place": BulkPosition(octets: octets) != nil, "a message": ((try? Message.read(octets)) ?? nil) != nil]
        },
        "frames": PeerFrames.play,
    ]

    static let portal = WebURL("http://portal.example/login")!

    /// Returns the parts of an input between NUL octets, at least one.
    static func parts(of octets: [UInt8], limit: Int) -> [[UInt8]] {
        octets.split(separator: 0, maxSplits: limit - 1, omittingEmptySubsequences: false).map(Array.init)
    }
}
