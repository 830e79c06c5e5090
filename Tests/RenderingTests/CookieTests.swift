import HotspotCore
import Testing

@testable import Rendering

/// Cookies between libcurl's lines and DevTools.
@Suite struct CookieTests {
    private static let lines = [
        "portal.test\tFALSE\t/\tFALSE\t0\tsid\tabc", ".portal.test\tTRUE\t/a\tTRUE\t1900000000\tlang\ten",
        "#HttpOnly_portal.test\tFALSE\t/\tTRUE\t0\tsid\tabc=", "#HttpOnly_.portal.test\tTRUE\t/\tFALSE\t0\tempty\t",
    ]

    @Test(arguments: lines) func aLineIsTheSameAgain(_ line: String) throws {
        let cookie = try #require(Cookie(line: line))
        #expect(cookie.line == line)
        // DevTools returns a cookie with its domain, but accepts a cookie of a single host with a URL.
        let given = cookie.parameters.object!.merging(["domain": .string(cookie.domain)]) { $1 }
        #expect(Cookie(parameters: .object(given)) == cookie)
        #expect((cookie.parameters["domain"] == nil) == !cookie.domain.hasPrefix("."))
        #expect((cookie.parameters["url"] != nil) == !cookie.domain.hasPrefix("."))
    }

    @Test func aLineHasItsParts() throws {
        let cookie = try #require(Cookie(line: Self.lines[2]))
        #expect(cookie.domain == "portal.test" && cookie.path == "/" && cookie.name == "sid" && cookie.value == "abc=")
        #expect(cookie.isHTTPOnly && cookie.isSecure && cookie.expires == 0)
        // A session cookie has no expiry.
        #expect(cookie.parameters["expires"] == nil)
    }

    @Test func aDomainThatCoversItsHostsHasADot() throws {
        let cookie = try #require(Cookie(line: "portal.test\tTRUE\t/\tFALSE\t0\tsid\tabc"))
        #expect(cookie.domain == ".portal.test" && cookie.line.hasPrefix(".portal.test\tTRUE\t"))
    }

    @Test(arguments: [
        "", "# Netscape HTTP Cookie File", "portal.test\tFALSE\t/\tFALSE\t0", "portal.test\tFALSE\t/\tFALSE\tsoon\tsid\tabc",
        "portal.test\tFALSE\t/\tFALSE\t0\t\tabc",
    ]) func otherLinesAreNone(_ line: String) { #expect(Cookie(line: line) == nil) }

    @Test func whatWouldNotBeOneLineIsLeftOut() {
        let good: [String: JSONValue] = [
            "domain": "portal.test", "name": "sid", "value": "abc", "path": "/", "expires": .number(-1),
        ]
        #expect(Cookie(parameters: .object(good))?.expires == 0)
        #expect(Cookie(parameters: .object(good.merging(["expires": .number(1_900_000_000.5)]) { $1 }))?.expires == 1_900_000_000)
        for (name, value) in [("value", "a\tb"), ("value", "a\nb"), ("domain", "a\nb"), ("path", "/\t"), ("name", "")] {
            #expect(Cookie(parameters: .object(good.merging([name: .string(value)]) { $1 })) == nil, "\(name)")
        }
        for name in ["domain", "name", "value", "path"] {
            #expect(Cookie(parameters: .object(good.filter { $0.key != name })) == nil, "\(name)")
        }
    }
}
