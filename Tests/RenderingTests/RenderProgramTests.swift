import Testing

@testable import Rendering

/// The browser's command line.
@Suite struct RenderProgramTests {
    private func options(_ pins: [String] = []) -> [String] {
        RenderProgram.options(proxy: 4711, RenderProgram.Wishes(pins: pins))
    }

    @Test func theProxyIsTheOnlyWayOut() {
        let words = options()
        for word in [
            "--proxy-server=socks5://127.0.0.1:4711", "--proxy-bypass-list=<-loopback>",
            "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1", "--disable-quic",
            "--force-webrtc-ip-handling-policy=disable_non_proxied_udp", "--remote-debugging-pipe",
        ] { #expect(words.contains(word), "\(word)") }
        #expect(words.allSatisfy { $0.hasPrefix("--") })
        #expect(!words.contains { $0.hasPrefix("--remote-debugging-port") || $0 == "--no-sandbox" })
    }

    @Test func keysAreTrustedOnlyIfTheyAreKeys() {
        let name = "--ignore-certificate-errors"
        #expect(!options().contains { $0.hasPrefix(name) })
        let pin = String(repeating: "A", count: 43) + "="
        let other = String(repeating: "+/9z", count: 11)
        let list = options([pin, "", "x", pin + "=", String(repeating: "A", count: 43) + ",", "--no-sandbox", other])
        #expect(list.filter { $0.hasPrefix(name) } == ["\(name)-spki-list=\(pin),\(other)"])
    }
}
