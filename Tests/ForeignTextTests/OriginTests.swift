import ForeignText
import Testing

@Suite struct OriginTests {
    @Test(arguments: [
        "http://p", "https://portal.example", "https://portal.example:8443", "http://10.0.0.1", "http://10.0.0.1:2050",
        "http://192.0.2.1:80", "https://[2001:db8::1]", "http://[fe80::1]:8080", "https://xn--bcher-kva.example",
        "https://Guest.Example",
        "http://guest_portal.example", "https://r3---x.example", "https://portal.example.", "http://1.1.1.1.example",
        "http://x:1",
        "http://x:65535", "http://[::ffff:192.0.2.1]",
    ]) func originsAreAccepted(text: String) { #expect(Origin.isValid(text)) }

    @Test(arguments: [
        "", "p", "https://", "http://:80", "https:portal.example", "//portal.example", "HTTPS://portal.example",
        "ftp://portal.example",
        "javascript:alert(1)", "https://portal.example/", "https://portal.example/login", "https://portal.example?x",
        "https://p#x",
        "https://user@portal.example", "https://user:word@portal.example", "https://portal.example:", "https://portal.example:0",
        "https://portal.example:65536", "https://portal.example:+80", "https://portal.example:80:80", "https://portal.example:٣",
        "https://a..example", "https://.example", "https://.", "https://portal.example..", "https://a b", "https://x\n",
        "https://x\u{0}",
        "https://x\t", " https://x", "https://x ", "https://x (proven by hotspotd)", "https://b\u{FC}cher.example",
        "https://p\u{430}y.example",
        "https://x\u{3000}y", "https://x\u{202E}", "https://x\u{34F}", "https://300.0.0.1", "https://1.2.3", "https://[::1",
        "https://[]",
        "https://[::1]x", "https://[fe80::1%25wlan0]", "https://[1.2.3.4]", "https://[portal]", "https://::1", "https://x%20y",
        "https://*",
        "https://x\\y",
    ]) func nothingElseIsAnOrigin(text: String) { #expect(!Origin.isValid(text)) }

    @Test func namesAreAsLongAsTheDNSHasThem() {
        let label = String(repeating: "a", count: 63)
        #expect(Origin.isValid("https://\(label).example") && !Origin.isValid("https://\(label)a.example"))
        let name = Array(repeating: label, count: 4).joined(separator: ".").dropLast(2)
        #expect(name.count == 253 && Origin.isValid("https://\(name)") && Origin.isValid("https://\(name).:65535"))
        #expect(!Origin.isValid("https://\(name)a") && !Origin.isValid("https://" + String(repeating: "a.", count: 1 << 20)))
        #expect(
            !Origin.isValid("https://x" + String(repeating: " ", count: 61) + "* wlan1  authenticated  HomeNet via Portal form"))
    }

    @Test(arguments: [
        ("http://10.1.0.1", "10.1.0.1"), ("https://portal.example:8443", "portal.example"), ("http://[fd00::1]:80", "fd00::1"),
        ("https://[fd00::1]", "fd00::1"),
    ]) func theHostStandsAlone(_ origin: String, _ host: String) { #expect(Origin.host(of: origin) == host) }
}
