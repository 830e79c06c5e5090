import Testing

@testable import HelperKit

@Suite struct WISPrTests {
    private func find(_ text: String) -> WISPrDocument? { WISPrDocument.find(in: octets(text)) }

    @Test func readsARedirect() throws {
        let document = try #require(
            find(
                """
                <html><body>Browser error!<!--
                <?xml version="1.0" encoding="UTF-8"?>
                <WISPAccessGatewayParam xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"
                  xsi:noNamespaceSchemaLocation="http://x/wispr.xsd">
                <Redirect><AccessProcedure>1.0</AccessProcedure><LocationName>Coach 7</LocationName>
                <LoginURL>https://x.test/login?a=1&amp;b=2</LoginURL><MessageType>
                \t100 </MessageType><ResponseCode>0</ResponseCode></Redirect></WISPAccessGatewayParam>-->
                """))
        #expect(document.isRedirect)
        #expect(document.messageType == 100)
        #expect(document.responseCode == 0)
        #expect(document.loginURL == "https://x.test/login?a=1&b=2")
        #expect(document.locationName == "Coach 7")
    }

    @Test(arguments: [
        "<LoginURL><![CDATA[https://x/?a=1&b=2]]></LoginURL>", "<LoginURL>CDATA[[https://x/?a=1&b=2]]</LoginURL>",
        "<LoginURL>https://x/?a=1&b=2</LoginURL>", "<LoginURL >\n https://x/?a=1&amp;b=2\n</LoginURL>",
    ])
    func readsURLsAsGatewaysWriteThem(_ element: String) {
        let text =
            "<WISPAccessGatewayParam><Redirect>\(element)<MessageType>100</MessageType></Redirect></WISPAccessGatewayParam>"
        #expect(find(text)?.loginURL == "https://x/?a=1&b=2")
    }

    @Test func usesTheLastDocument() {
        func document(_ code: Int) -> String {
            "<WISPAccessGatewayParam><AuthenticationReply><MessageType>120</MessageType><ResponseCode>\(code)</ResponseCode></AuthenticationReply></WISPAccessGatewayParam>"
        }
        #expect(find(document(100) + document(50))?.responseCode == 50)
    }

    @Test func readsReplies() throws {
        let document = try #require(
            find(
                """
                <WISPAccessGatewayParam><AuthenticationPollReply><MessageType>140</MessageType><ResponseCode>201</ResponseCode>
                <ReplyMessage>Wait\u{1b}[31m</ReplyMessage><LoginResultsURL>https://x/r</LoginResultsURL><Delay> 2 </Delay>
                <LogoffURL>https://x/off</LogoffURL></AuthenticationPollReply></WISPAccessGatewayParam>
                """))
        #expect(document.responseCode == 201)
        #expect(document.resultsURL == "https://x/r")
        #expect(document.logoffURL == "https://x/off")
        #expect(document.delay == 2)
        #expect(document.message?.contains("\u{1b}") == false)
        #expect(!document.isRedirect)
    }

    @Test func readsAProxy() {
        let text =
            "<WISPAccessGatewayParam><Proxy><MessageType>110</MessageType><NextURL>http://x/n</NextURL><ResponseCode>200</ResponseCode></Proxy></WISPAccessGatewayParam>"
        #expect(find(text)?.isProxy == true)
    }

    @Test(arguments: [
        "", "<WISPAccessGatewayParam>", "</WISPAccessGatewayParam>", "<WISPAccessGatewayParam></WISPAccessGatewayParam>",
        "<WISPAccessGatewayParam><MessageType>99999999999999999999</MessageType></WISPAccessGatewayParam>",
        "<WISPAccessGatewayParam><MessageType>-5</MessageType></WISPAccessGatewayParam>",
        "<WISPAccessGatewayParam><LoginURL>https://x/</WISPAccessGatewayParam>",
    ])
    func findsNothingInNonsense(_ text: String) { #expect(find(text) == nil) }

    @Test func survivesFloodsOfBeginnings() {
        let text = String(repeating: "<WISPAccessGatewayParam", count: 11_000)
        #expect(find(text) == nil)
        #expect(find(text + "><LoginURL>https://x/</LoginURL></WISPAccessGatewayParam>")?.loginURL == "https://x/")
    }
}

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
        #"{"captive":true,"user-portal-url":"file:///x"}"#, #"{"captive":true,"user-portal-url":"http://x:22/"}"#, "[]", "", "{",
        "null",
    ])
    func ignoresWrongOnes(_ text: String) { #expect(PortalAPIDocument(octets(text)) == nil) }

    @Test func comparesTheWholeAnswer() {
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
        "urn:ietf:params:capport:unrestricted", "https://x:22/", "",
    ])
    func refusesAddresses(_ text: String) { #expect(PortalAPIDocument.address(text) == nil) }

    @Test func takesAddresses() {
        #expect(PortalAPIDocument.address("https://portal.test/api") != nil)
        #expect(PortalAPIDocument.address("https://portal.test/" + String(repeating: "x", count: 2000)) == nil)
        #expect(PortalAPIDocument.address(nil) == nil)
    }
}
