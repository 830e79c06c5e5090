import PortalAnnouncement
import Testing

@Suite struct PortalAPIAddressTests {
    @Test(arguments: [
        "https://portal.example.net/api", "HTTPS://Portal.example.net", "https://192.0.2.1:8443/x?y=z#f",
        "https://[2001:db8::1]:443/", "https://xn--caf-dma.example/",
    ])
    func good(text: String) { #expect(PortalAPIAddress(text.utf8) == .url(text)) }

    @Test(arguments: [
        "", "http://portal.example.net/", "file:///etc/passwd", "https://", "https:///x", "https://user@host/",
        "https://u:p@host/",
        "https://host:0/", "https://host:99999/", "https://host:+1/", "https://host:/", "https://ho st/", "https://host/\0",
        "https://host/\n", "https://café.example/", "https://host\\@evil/", "javascript:alert(1)", "https://[::1", "https://[x]/",
        "https://host%00/", "https://host/\u{202E}",
    ])
    func bad(text: String) { #expect(PortalAPIAddress(text.utf8) == nil) }

    @Test func lengthsAndTheWordForNoPortal() {
        let longest = "https://host/" + String(repeating: "a", count: 242)
        #expect(PortalAPIAddress(longest.utf8) == .url(longest))
        #expect(PortalAPIAddress((longest + "a").utf8) == nil)
        #expect(PortalAPIAddress("urn:ietf:params:capport:unrestricted".utf8) == .unrestricted)
        #expect(PortalAPIAddress("urn:ietf:params:capport:restricted".utf8) == nil)
    }
}
