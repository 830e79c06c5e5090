import Testing

@testable import HelperKit
@testable import PortalPages

@Suite struct WISPrDocumentTests {
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
    func readsMalformedLoginURLs(_ element: String) {
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
    func ignoresInvalidDocuments(_ text: String) { #expect(find(text) == nil) }

    @Test func survivesManyUnclosedTags() {
        let text = String(repeating: "<WISPAccessGatewayParam", count: 11_000)
        #expect(find(text) == nil)
        #expect(find(text + "><LoginURL>https://x/</LoginURL></WISPAccessGatewayParam>")?.loginURL == "https://x/")
    }
}
