import Testing

@testable import HelperKit

@Suite struct PortalAPIDocumentTests {
    @Test func readsADocument() throws {
        let text =
            #"{"captive":false,"user-portal-url":"https://x.test/p","venue-info-url":"https://x.test/v","can-extend-session":true,"seconds-remaining":326.9,"bytes-remaining":-1,"unknown":[1]}"#
        let document = try #require(PortalAPIDocument(octets(text)))
        #expect(!document.captive)
        #expect(document.portalURL?.text == "https://x.test/p")
        #expect(document.venueURL?.text == "https://x.test/v")
        #expect(document.canExtend == true)
        #expect(document.secondsRemaining == 326)
        #expect(document.bytesRemaining == nil)
    }

    @Test(arguments: [
        #"{"captive":true}"#, #"{"captive":"yes"}"#, #"{"user-portal-url":"https://x/"}"#,
        #"{"captive":true,"user-portal-url":"(null)"}"#,
        #"{"captive":true,"user-portal-url":"file:///x"}"#, #"{"captive":true,"user-portal-url":"http://x@y/"}"#, "[]", "", "{",
        "null",
    ])
    func ignoresInvalidDocuments(_ text: String) { #expect(PortalAPIDocument(octets(text)) == nil) }

    @Test func checksTheWholeAnswer() {
        let body = #"{"captive":false}"#
        let right = [("content-type", "application/captive+json; charset=utf-8")]
        #expect(PortalAPIDocument(response(200, body, headers: right)) != nil)
        #expect(PortalAPIDocument(response(203, body, headers: right)) == nil)
        #expect(PortalAPIDocument(response(200, body, headers: [("content-type", "application/json")])) == nil)
        #expect(PortalAPIDocument(response(200, body)) == nil)
        #expect(PortalAPIDocument(response(200, body + String(repeating: " ", count: 4096), headers: right)) == nil)
    }

    @Test(arguments: [
        "http://status.client", "file:///etc/passwd", "https://user@x/", "https://x y/", "https://x/\u{0}",
        "https://bücher.example/",
        "urn:ietf:params:capport:unrestricted", "",
    ])
    func refusesAddresses(_ text: String) { #expect(PortalAPIDocument.address(text) == nil) }

    @Test func acceptsAddresses() {
        #expect(PortalAPIDocument.address("https://portal.test/api") != nil)
        #expect(PortalAPIDocument.address("https://portal.test/" + String(repeating: "x", count: 2000)) == nil)
        #expect(PortalAPIDocument.address(nil) == nil)
    }
}
