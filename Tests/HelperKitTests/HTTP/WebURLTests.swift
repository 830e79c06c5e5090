import Testing

@testable import BoundHTTP
@testable import HelperKit

@Suite struct WebURLTests {
    @Test func readsParts() throws {
        let url = try #require(WebURL("HTTP://Portal.Example.:8080/a/b?x=1&y=2#top"))
        #expect(url.origin == "http://portal.example:8080")
        #expect(url.path == "/a/b")
        #expect(url.query == "x=1&y=2")
        #expect(!url.text.contains("#"))
        #expect(url.masked == "http://portal.example:8080/a/b?…")
        #expect(WebURL("https://portal.example")?.origin == "https://portal.example")
    }

    /// Only a browser gets the fragment.
    @Test func keepsTheFragmentBesideTheText() throws {
        let url = try #require(WebURL("https://guest.test/portal/#/splash?client_mac=02:00"))
        #expect(url.text == "https://guest.test/portal/" && url.fragment == "/splash?client_mac=02:00")
        #expect(url.href == "https://guest.test/portal/#/splash?client_mac=02:00")
        let plain = try #require(WebURL(url.text))
        #expect(url == plain && Set([url, plain]).count == 1 && url.masked == plain.masked && url.shown == plain.shown)
        #expect(WebURL("#/login", relativeTo: plain)?.href == "https://guest.test/portal/#/login")
        #expect(WebURL("/next", relativeTo: url)?.href == "https://guest.test/next")
        let long = try #require(WebURL("http://a.test/#" + String(repeating: "x", count: 8170)))
        #expect(plain.redirected(from: long).href == plain.text)
        #expect(
            plain.redirected(from: url).href == url.href && url.redirected(from: WebURL("http://a.test/#b")!).href == url.href)
    }

    @Test(arguments: [
        ("../x", "http://portal.test/x"), ("?q=1", "http://portal.test/a/page?q=1"), ("//other.test/y", "http://other.test/y"),
        ("https://s.test", "https://s.test/"), ("#top", "http://portal.test/a/page"), ("  next  ", "http://portal.test/a/next"),
        ("a b", "http://portal.test/a/a%20b"),
        ("http://other.test/b c?ssid=Hotel Lobby", "http://other.test/b%20c?ssid=Hotel+Lobby"),
    ])
    func resolves(_ reference: String, _ expected: String) {
        #expect(WebURL(reference, relativeTo: WebURL("http://portal.test/a/page")!)?.text == expected)
    }

    /// All spellings of an address are read as the address that the connection uses.
    @Test(arguments: ["http://0x7f000001/", "http://2130706433/", "http://0177.0.0.1/", "http://127.1/"])
    func normalizesNumbers(_ text: String) {
        #expect(WebURL(text)?.host == "127.0.0.1")
    }

    @Test func showsForeignNamesAsPunycode() {
        #expect(WebURL("http://bücher.example/")?.host == "xn--bcher-kva.example")
    }

    @Test(arguments: ["http://a\r\nb/", "http://a/\u{0}", "http://a/x\ny", "http://", ""])
    func refusesInvalidURLs(_ text: String) { #expect(WebURL(text) == nil) }

    @Test func refusesOverlongURLs() { #expect(WebURL("http://a/" + String(repeating: "x", count: 9000)) == nil) }

    @Test func encodesForms() {
        #expect(WebURL.encode([("a&b", "c=d\r\n"), ("ü", " ")]) == "a%26b=c%3Dd%0D%0A&%C3%BC=%20")
    }
}

@Suite struct ShownURLTests {
    @Test(arguments: [
        ("http://p.test/login.html", "http://p.test/login.html"), ("http://p.test", "http://p.test/"),
        ("https://p.test/splash/?lang=de&zone=lobby", "https://p.test/splash/?lang=de&zone=lobby"),
        ("https://p.test/login?mac=02:00:00:aa:bb:cc", "https://p.test/login"),
        ("https://p.test/x?user=brandt", "https://p.test/x"),
        ("https://p.test/x?v=a8f5f167f44f4964e6c998dee827110c", "https://p.test/x"),
        ("https://p.test/guest/mr-brandt/in", "https://p.test/guest/"), ("http://p.test/s/81a7fd3a22b1/x", "http://p.test/s/"),
    ]) func leavesOutWhatCouldBeSecret(_ text: String, _ shown: String) { #expect(WebURL(text)?.shown == shown) }
}

@Suite struct RedirectPolicyTests {
    private let base = WebURL("https://portal.test/login")!

    @Test(arguments: [
        "file:///etc/passwd", "smb://x/y", "ftp://x/", "gopher://x/", "dict://x/", "ldap://x/", "tel:123", "javascript:alert(1)",
        "data:text/html,x", "ws://x/", "http://user:secret@portal.test/", "https://user@portal.test/",
    ])
    func refuses(_ reference: String) {
        #expect(throws: TransferError.self) { try RedirectPolicy().target(of: reference, from: base) }
    }

    @Test(arguments: [
        "/next", "http://portal.test/", "http://10.0.0.1:2050/splash", "http://192.0.2.1:3990/logon", "https://x.test:8443/",
        "http://portal.test:18080/",
    ])
    func allows(_ reference: String) throws { _ = try RedirectPolicy().target(of: reference, from: base) }

    @Test func keepsSecretsWithinTheOrigin() throws {
        _ = try RedirectPolicy().target(of: "/done", from: base, withSecrets: true)
        for other in ["http://portal.test/done", "https://other.test/done", "https://portal.test:8443/done"] {
            #expect(throws: TransferError.self) { try RedirectPolicy().target(of: other, from: base, withSecrets: true) }
        }
        let plain = WebURL("http://portal.test/login")!
        _ = try RedirectPolicy().target(of: base.text, from: plain, withSecrets: true)
        for other in ["https://other.test/", "https://portal.test:8443/"] {
            #expect(throws: TransferError.self) { try RedirectPolicy().target(of: other, from: plain, withSecrets: true) }
        }
        #expect(throws: TransferError.self) {
            try RedirectPolicy().target(of: base.text, from: WebURL("http://portal.test:8080/")!, withSecrets: true)
        }
    }
}
