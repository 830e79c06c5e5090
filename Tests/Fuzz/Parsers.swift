@testable import AuthorTools
@testable import BoundHTTP
@testable import Companion
@testable import ForeignText
@testable import HelperHost
@testable import HelperKit
@testable import HotspotCore
@testable import LinkState
@testable import Netlink
@testable import PortalAnnouncement
@testable import PortalCatalogue
@testable import PortalPages
@testable import Rendering
@testable import Varlink
@testable import Wireless

/// The readers of octets that others wrote, by the names that the fuzzer takes.
enum Parsers {
    static let all: [String: @Sendable ([UInt8]) -> Void] = [
        "html": { _ = HTMLPage.read($0, at: portal) },
        "script": { _ = ScriptCode(String(decoding: $0, as: UTF8.self)) },
        "wispr": { _ = WISPrDocument.find(in: $0) },
        "api": { _ = PortalAPIDocument($0) },
        "portal": { _ = try? PortalFileParser.parse($0, file: "fuzz.portal") },
        "netlink": { octets in
            for message in NetlinkMessages(datagram: octets) { _ = try? AttributeReader(message.payload) }
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
        "answer": { octets in
            for command in Command.allCases { _ = AnswerReader.outcome(of: octets, to: command) }
        },
        "lease": { _ = DHClientLeases($0) },
        "url": { octets in
            let text = String(decoding: octets, as: UTF8.self)
            _ = WebURL(text)
            _ = WebURL(text, relativeTo: portal)
        },
        "cookie": { _ = Cookie(line: String(decoding: $0, as: UTF8.self)) },
        "printable": { octets in
            let text = String(decoding: octets, as: UTF8.self)
            _ = Printable.text(of: octets)
            _ = Printable.shown(text)
            _ = Printable.json(text)
            _ = Printable.octets(of: text)
        },
        "recording": { _ = try? RecordedLogin($0, file: "fuzz") },
        "peer": { octets in
            _ = BulkPosition(octets: octets)
            _ = try? Message.read(octets)
        },
    ]

    private static let portal = WebURL("http://portal.example/login")!
}
