import ForeignText
import HelperKit
import HotspotCore
import TestSupport
import Testing

@testable import PortalCatalogue

/// The functions, by vectors that were computed apart from this code, and one value of each encoding.
@Suite struct FunctionsTests {
    /// Applies `name:argument|…` to octets, with these kept values.
    private func apply(_ functions: String, to octets: [UInt8], kept: [String: [UInt8]] = [:]) throws -> [UInt8] {
        let template = try Template("${body|\(functions)}")
        return try #require(template.expressions.first).functions.reduce(octets) { value, function in
            function.apply(value) { kept[$0] ?? [] }
        }
    }
    private func text(_ functions: String, of text: String, kept: [String: [UInt8]] = [:]) throws -> String {
        String(decoding: try apply(functions, to: Array(text.utf8), kept: kept), as: UTF8.self)
    }
    private let challenge: [UInt8] = Array(0...15)

    @Test func coovaChilli() throws {
        let plain = [0] + Array("secret".utf8) + challenge
        #expect(String(decoding: try apply("md5|hex", to: plain), as: UTF8.self) == "925d25da4b1ffe731237818c4e1fcd57")
        let key = try apply("md5", to: challenge + Array("uamsecret".utf8))
        #expect(Hex.encode(key) == "7ab1ee6992605a3e13bd489d85ded794")
        let keyed = [0] + Array("secret".utf8) + key
        #expect(String(decoding: try apply("md5|hex", to: keyed), as: UTF8.self) == "2c11957c55fd7a72badc683c7aa31f41")
        #expect(try text("xor:key|hex", of: "secret", kept: ["key": key]) == "09d48d1bf714")
        let url = "http://portal.example/login?res=notyet&uamip=10.1.0.1&uamport=3990uamsecret"
        #expect(try text("md5|hex|upper", of: url) == "087CD906FBF5E7E19E1C749ED3F07EF8")
    }

    @Test func replaces() throws {
        #expect(try text(#"replace:":":"-""#, of: "02:00:5e") == "02-00-5e")
        #expect(try text("replace:aa:b", of: "aaaaa") == "bba" && text("replace:a:\"\"", of: "banana") == "bnn")
        #expect(try text("replace:e:x", of: "e\u{301}e") == "x\u{301}x" && text("replace:ab:b", of: "a") == "a")
    }

    @Test func mikroTik() throws {
        let chap =
            try apply("unescape", to: Array(#"\371"#.utf8)) + Array("secret".utf8)
            + apply("unescape", to: Array(#"\217\017\345\221\253\121\315\010\376\167\327\006\031\311\220\053"#.utf8))
        #expect(chap.count == 23)
        #expect(String(decoding: try apply("md5|hex", to: chap), as: UTF8.self) == "05b326b73e5463f3fee640c3fd2d9f22")
    }

    @Test func openNDS() throws {
        let hid = try text("sha256|hex", of: "abc")
        #expect(
            try text("sha256|hex", of: hid + "1234567890") == "5d8aac72dd1558c2aef53b3ae1c78d5b089900cbac61ccec797b57ccfa086599")
    }

    @Test func srun() throws {
        let alphabet = "LVoJPiCN2R8G90yg+hmFHuacZ1OWMnrsSTXkYpUq/3dlbfKwv6xztjI7DeBE45QA"
        #expect(try text("base64:\(alphabet)", of: "a") == "Z+==" && text("base64:\(alphabet)", of: "ab") == "Za2=")
        let challenge = "517557d10a3aff098a898753317e8ef0b2822540d067490585c41d39d847ed7a"
        let kept = ["c": Array(challenge.utf8)]
        let digest = try text("hmac-md5:c|hex", of: "secret", kept: kept)
        #expect(digest == "7e3f07dbf8a6927dd56c6bb511acd866")
        let account = #"{"username":"user","password":"secret","ip":"10.0.0.2","acid":"1","enc_ver":"srun_bx1"}"#
        let info = "{SRBX1}" + (try text("xencode:c|base64:\(alphabet)", of: account, kept: kept))
        #expect(
            info
                == "{SRBX1}OS8bJqVzzoqfoqcAHZAEdRfN40I6Epp3+Ml2L2Q1rmWvbD4pPAqXq9Gf9Z8cMpk1xmlc4tpD8jJiLSjm/Tf/8wLdGY13ZhMRBMe7HegXx4dZ7PXr6LSIHcT2814="
        )
        let sum = ["user", digest, "1", "10.0.0.2", "200", "1", info].map { challenge + $0 }.joined()
        #expect(try text("sha1|hex", of: sum) == "983556096209749a0914d1c3a4ef979b716b7ea6")
    }

    @Test(arguments: [
        ("hex", "a\u{e9}", "61c3a9"), ("unhex", "6162", "ab"), ("unhex", "6", ""), ("base64", "ab", "YWI="),
        ("unbase64", "YWI", "ab"), ("unbase64", "-_8=|", "\u{fffd}\u{fffd}"), ("url", "a b&\u{e9}~", "a%20b%26%C3%A9~"),
        ("unurl", "a+b%26%zz", "a b&%zz"), ("json", "a\"\\\n", #"a\"\\\u000a"#),
        ("html", "a&amp;b&#39;&#x41;&lt;&zz", "a&b'A<&zz"),
        ("between:id=:&", "x?id=7&y", "7"), ("between:id=:\"\"", "x?id=7&y", "7&y"), ("between:nothing:&", "x?id=7&y", ""),
        ("literal:\"chap =\"", #"var chap =  'a\'b\101';"#, "a'bA"), ("literal:\"chap =\"", "chap = 'open", ""),
        ("literal:\"chap =\"", "chap = name + 'x'", ""), ("query:b", "http://a/?b=1%202&c#b=3", "1 2"),
        ("query:d", "http://a/?b=1", ""),
        ("lower", "AbC", "abc"), ("upper", "abC", "ABC"), ("trim", " \na b\t", "a b"), ("first:2", "abc", "ab"),
        ("default:x", "", "x"), ("default:x", "y", "y"), ("seconds", "59m57s", "3597"), ("seconds", "1d1s", "86401"),
        ("seconds", "01:00:02", "3602"), ("seconds", "unlimited", ""),
        ("json:a.b", #"cb({"a":{"b":7}})"#, "7"), ("json:\"a[1].b\"", #"{"a":[1,{"b":true}]}"#, "true"),
        ("json:\"a[k=x].v\"", #"{"a":[{"k":"y","v":1},{"k":"x","v":"two"}]}"#, "two"), ("json:a", #"{"a":{}}"#, ""),
        ("json:a", #"rubbish{"a":null}"#, ""), ("json:a", "no json", ""),
    ]) func each(_ name: String, _ value: String, _ expected: String) throws {
        #expect(try text(name, of: value) == expected)
    }

    /// A sum that no integer can hold, and texts that are not durations.
    @Test(arguments: [
        "9223372036854775807:0", "153722867280912931:0", "1:9223372036854775807", "9223372036854775807:9223372036854775807",
        "99999999999999999999:1", "9223372036854775807w", "15250284452472w", "9223372036854775807s1s", "9223372036854775808",
        "-1:30", "-9223372036854775808:1", "-5", "+5m", "1e99", "nan", "inf", ":", " ", "5h3", "1:2s", "\u{0663}m", "1m\u{301}",
    ]) func secondsThatAreNone(_ value: String) throws { #expect(try text("seconds", of: value) == "") }

    @Test(arguments: [
        ("9223372036854775807", "9223372036854775807"), ("153722867280912930:7", "9223372036854775807"), ("1w 2d", "777600"),
        ("15250284452471w", "9223372036854460800"), ("02:03", "123"), ("0s", "0"),
    ]) func secondsAtTheLimits(_ value: String, _ expected: String) throws {
        #expect(try text("seconds", of: value) == expected)
    }

    /// Functions in a row cannot double a page eight times, and a value has at most 16 KiB.
    @Test func valuesAreLimited() throws {
        let page = [UInt8](repeating: 0x61, count: HTTPRequest.pageLimit)
        let response = HTTPResponse(url: WebURL("http://a.example/")!, status: 200, body: page)
        let values = PortalValues(
            hops: [response], page: HTMLPage.read(page, at: response.url),
            link: Link(attempt: "a", association: "a", interface: "lo", index: 1),
            clock: { 0 }, letters: { String(repeating: "r", count: $0) })
        let once = Array(try apply("hex", to: page).prefix(page.count))
        let twice = Array(try apply("hex", to: once).prefix(page.count))
        let digest = values.value(of: try Template("${body|hex|hex|sha256|hex}")).octets
        #expect(try digest == apply("sha256|hex", to: twice))
        #expect(values.value(of: try Template(String(repeating: "${body|hex}", count: 20))).octets.count == PortalValues.limit)
    }

    /// Marks and signs that a portal sends, at the limit of a page.
    @Test(arguments: [
        ("json:a", "{\"@\":1}", "\u{300}\u{323}"), ("json:a", "{\"a@\":1}", "\\u0300\\u0323"),
        ("json:\"[k=a].v\"", "[{\"k\":\"@\"}]", "\u{301}\u{316}"),
        ("replace:a:b", "a@", "\u{300}\u{323}"), ("replace:a:b", "@", "a"), ("replace:e:x", "e@", "\u{301}\u{323}"),
        ("html", "&a@", "\u{300}\u{323}"), ("html", "@", "&#x300;&#x323;"), ("html", "@", "&"), ("trim", "@", " "),
        ("lower", "A@", "\u{300}\u{323}"), ("unescape", "@", "\\u0300\\u0323"), ("unurl", "@", "%CC%80"),
        ("seconds", "1@", "\u{300}\u{323}"),
        ("literal:a", "a'@", "\\"), ("query:a", "?@", "a&"), ("between:a:b", "a@", "\u{300}\u{323}"), ("unbase64", "@", "zIA="),
    ]) func functionsTakeLinearTime(_ name: String, _ value: String, _ piece: String) throws {
        let expression = try #require(try? Template("${body|\(name)}").expressions.first)
        let growth = ProcessorTime.growth { size in
            let text = value.replacing("@", with: String(repeating: piece, count: size / piece.utf8.count))
            var octets = Array(text.utf8)
            for function in expression.functions { octets = function.apply(octets) { _ in [] } }
        }
        #expect(growth < 8)
    }

    /// A kept value may be hostile as well.
    @Test func keptMarksAreCut() throws {
        let marks = "a" + String(repeating: "\u{301}\u{323}", count: 200)
        let short = "a" + String(repeating: "\u{301}\u{323}", count: 15)
        #expect(try text("json:\"$key\"", of: "{\"\(short)\":7}", kept: ["key": Array(marks.utf8)]) == "7")
        #expect(Tainted(octets: Array(marks.utf8)).text.unicodeScalars.count == 31)
    }

    /// A pattern that makes many matchers try every way to split a text.
    @Test func globsTakeNoTimeToExplode() throws {
        let glob = try #require(Glob(String(repeating: "a*", count: 90) + "b"))
        #expect(!glob.matches([UInt8](repeating: 0x61, count: 4000)))
        #expect(glob.matches([UInt8](repeating: 0x61, count: 4000) + [0x62]))
    }

    @Test func pathsByKeptValues() throws {
        let body = #"{"profiles":[{"id":3,"type":"paid"},{"id":4,"type":"free"}]}"#
        #expect(try text("json:\"profiles[id=$wanted].type\"", of: body, kept: ["wanted": Array("4".utf8)]) == "free")
    }

    @Test(arguments: [
        "${", "${body", "${nothing}", "${query}", "${body:x}", "${body|nothing}", "${body|md5:x}", "${body|xor}",
        "${body|between:a}",
        "${body|base64:short}", "${json:\"a[\"}", "${random:0}", "${random:65}", "${body|between:\"a}", "${body|first:-1}",
        "${body|md5|md5|md5|md5|md5|md5|md5|md5|md5}",
    ]) func refuses(_ text: String) { #expect(throws: Template.Mistake.self) { try Template(text) } }
}
