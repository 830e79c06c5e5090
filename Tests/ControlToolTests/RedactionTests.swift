import Testing

@testable import hotspotctl

/// Data that a report leaves out.
@Suite struct RedactionTests {
    @Test(arguments: [
        ("to 10.21.1.7 and fe80::1%wlan0", "to <address 2> and <address 1>%wlan0"),
        ("2001:db8::17 at 20:44:55", "<address 1> at 20:44:55"),
        ("bssid 02:00:5e:10:00:01, again 02-00-5E-10-00-01", "bssid <hardware address 1>, again <hardware address 2>"),
        ("wired:02:00:5e:10:00:01", "wired:<hardware address 1>"),
        ("\"wired:da:70:a9:47:85:7e\" via form", "\"wired:<hardware address 1>\" via form"),
        (
            "GET http://portal.aroma.example:2050/login?t=abc → 302, portal.aroma.example",
            "GET http://<host 1>:2050/… → 302, <host 1>"
        ),
        ("https://[2001:db8::1]:8443/x and https://10.0.0.1/", "https://<address 1>:8443/… and https://<address 2>/"),
        ("http://portal/", "http://<host 1>/"),
        (
            "for http://login.seaview.test; answers to login.seaview.test (http://login.seaview.test!).",
            "for http://<host 1>; answers to <host 1> (http://<host 1>!)."
        ),
        ("It is http://Login.seaview.test. At login.seaview.test.", "It is http://<host 1>. At <host 1>."),
        (
            "GET http://connectivitycheck.gstatic.com/generate_204 → 204",
            "GET http://connectivitycheck.gstatic.com/generate_204 → 204"
        ),
        ("login.wifionice.de or https://lindenhof.conn4.com/x", "login.wifionice.de or https://<host 1>.conn4.com/…"),
        ("hotspotd.service reads /etc/hotspotd/hotspotd.conf", "hotspotd.service reads /etc/hotspotd/hotspotd.conf"),
        ("org.freedesktop.NetworkManager 1.42.4", "org.freedesktop.NetworkManager 1.42.4"),
        ("session 9f86d081884c7d65 and 9F86D081884C7D65", "session <token 1> and <token 1>"),
        ("02005e100001 or 491701234567", "<token 1> or <token 2>"),
        ("mail erika.muster@mail.example now", "mail <name 2> now"),
        ("hotspot-helper@form.service", "hotspot-helper@form.service"),
        ("in \"Cafe Aroma\", CAFE AROMA, Cafe Aromatic", "in \"<network 1>\", <network 1>, Cafe Aromatic"),
        ("43616665 2041726f6d61; 436166652041726f6d61", "43616665 <token 1>; <network 1>"),
        ("/home/brandt/x by Brandt", "/home/<name 1>/x by <name 1>"),
    ]) func isReplaced(_ text: String, _ expected: String) {
        var redaction = Redaction(products: ["login.wifionice.de", "*.conn4.com"])
        redaction.add(network: "Cafe Aroma")
        redaction.add(network: "wired")
        #expect(redaction.apply("eth0: wired, up") == "eth0: wired, up")
        redaction.add("brandt", as: .name)
        redaction.add("wired:02:00:00:00:00:01", as: .network)
        #expect(redaction.apply(text) == expected)
    }

    @Test func theSameIsReplacedByTheSameInEveryPart() {
        var redaction = Redaction()
        let first = redaction.apply("10.0.0.1 then 10.0.0.2 at a.example")
        #expect(first == "<address 1> then <address 2> at <host 1>")
        #expect(redaction.apply("b.example, A.example, 10.0.0.2") == "<host 2>, <host 1>, <address 2>")
    }
}
