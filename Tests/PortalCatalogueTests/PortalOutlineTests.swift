import HelperKit
import HotspotCore
import TestSupport
import Testing

@testable import PortalCatalogue

/// Files that are read as far as they recognise their portals.
@Suite struct PortalOutlineTests {
    private static let shipped = String(#filePath.split(separator: "/Tests/")[0]) + "/Portals"

    private static func file(_ host: String, _ rest: String = "[Step]\nOpen=/in\n") -> String {
        "[Portal]\nName=A\n[Match]\nHost=\(host)\n" + rest
    }

    private func claims(_ source: any PortalSource) -> [String] {
        let page = HTTPResponse(url: WebURL("http://a.test/guest")!, status: 200, body: Array("<title>Aroma".utf8))
        return source.claims(on: [page], ssid: nil).map(\.portal.id)
    }

    @Test func shippedFilesAreRecognisedAsByTheWholeFile() throws {
        let portals = PortalCatalogue([Self.shipped]).read().portals
        #expect(portals.count > 40)
        for portal in portals {
            let octets = try #require(PortalCatalogue.octets(of: portal.file))
            let outline = try #require(try PortalFileParser.outline(octets, file: portal.file))
            let withoutLines = portal.matches.map { match in
                var match = match
                match.lines = []
                return match
            }
            #expect(outline.matches == withoutLines && outline.id == portal.id)
            #expect(try outline.whole() == portal)
        }
    }

    /// A file that claims the page but cannot be used is ignored, wherever its mistake is.
    @Test(arguments: [
        ("a.test", ""), ("a.test", "[Step]\nOpn=/in\n"), ("a.test", "[Stpe]\nOpen=/in\n"), ("a.\\q", "[Step]\nOpen=/in\n"),
        ("a.test\nQuery==", "[Step]\nOpen=/in\n"), ("a.test", "[Step]\nOpen=/in\n[Match]\nHots=a\n"),
        ("a.test", "[Step]\nOpen\n"),
    ]) func aFileWithAMistakeClaimsNothing(_ host: String, _ rest: String) {
        let folder = TemporaryFolder()
        folder.write("good.portal", Self.file("a.test"), mode: 0o644)
        folder.write("wrong.portal", Self.file(host, rest), mode: 0o644)
        folder.write("other.portal", Self.file("b.test"), mode: 0o644)
        let catalogue = PortalCatalogue([folder.path])
        #expect(claims(catalogue) == ["good"])
        #expect(catalogue.portal(named: "wrong") == nil && catalogue.portal(named: "other")?.id == "other")
        #expect(catalogue.read(reporting: false).mistakes.count == 1)
    }

    @Test func aChangedFileIsReadAgain() {
        let (folder, own) = (TemporaryFolder(), TemporaryFolder())
        folder.write("a.portal", Self.file("b.test"), mode: 0o644)
        let catalogue = PortalCatalogue([folder.path, own.path])
        #expect(claims(catalogue) == [])
        folder.write("a.portal", Self.file("a.test", "[Step]\nOpen=/other\n"), mode: 0o644)
        #expect(claims(catalogue) == ["a"])
        own.write("a.portal", "", mode: 0o644)
        #expect(claims(catalogue) == [] && catalogue.portal(named: "a") == nil, "an empty file masks another")
    }
}
