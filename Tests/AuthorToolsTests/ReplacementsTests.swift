import FoundationEssentials
import HelperKit
import HotspotCore
import Testing

@testable import AuthorTools
@testable import PortalCatalogue

@Suite struct ReplacementsTests {
    private static let now = 1_763_836_000

    /// Returns the text after everything that was added is replaced.
    private func replaced(_ text: String, answers: [String] = [], addresses: [String] = []) -> String {
        var replacements = Replacements(recordedAt: Self.now, fixed: 1_700_000_000)
        for answer in answers { replacements.addAnswer(answer) }
        for address in addresses { replacements.addAddress(address, in: [text]) }
        replacements.learn(text)
        return replacements.apply(text)
    }

    // MARK: - Answers

    @Test(arguments: ["anna@web.example", "Grüße & mehr", "12345-67890", "a\"b'c<d>", "s3cr3t/+?="])
    func noSpellingOfAnAnswerIsLeft(_ answer: String) {
        let octets = Array(answer.utf8)
        let base64 = Data(octets).base64EncodedString()
        let percent = PercentEncoding.encode(octets)
        let spellings = [
            answer, answer.lowercased(), answer.uppercased(), percent, percent.lowercased(), percent.replacing("%20", with: "+"),
            octets.map { "%" + String($0, radix: 16, uppercase: true) }.joined(), octets.map { String($0, radix: 16) }.joined(),
            base64, PercentEncoding.encode(Array(base64.utf8)), base64.replacing("+", with: "-").replacing("/", with: "_"),
            Data("user:\(answer)".utf8).base64EncodedString(),
            String(decoding: JSONText.escape(octets), as: UTF8.self),
            answer.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
                .replacing("\"", with: "&quot;").replacing("'", with: "&#39;"),
        ]
        for spelling in spellings {
            let text = "a=\(spelling)&b"
            #expect(!replaced(text, answers: [answer]).contains(spelling), "\(spelling)")
        }
    }

    @Test func theSameAnswerIsReplacedBySameEverywhere() {
        let text = replaced("secret7 SECRET7 Secret7 \(Data("secret7".utf8).base64EncodedString())", answers: ["secret7"])
        let words = text.split(separator: " ").map(String.init)
        #expect(words[0].count == 7 && words[0] != "secret7")
        #expect(words[1] == words[0].uppercased() && words[2].lowercased() == words[0])
        #expect(words[3] == Data(words[0].utf8).base64EncodedString())
    }

    /// A room number is replaced only where it is a whole word. A shorter answer reveals nothing, so it stays.
    @Test func shortAnswersStandAlone() {
        let text = replaced("room=214&x%3D214 12140 214a", answers: ["214"])
        #expect(!text.contains("=214") && !text.contains("%3D214"))
        #expect(text.hasSuffix("12140 214a"))
        #expect(replaced("7 of 7", answers: ["7"]) == "7 of 7")
    }

    @Test func wordsOfAnAnswerAreReplaced() {
        let text = replaced("Welcome, Anna! (anna maria)", answers: ["Anna Maria"])
        #expect(!text.lowercased().contains("anna") && !text.contains("maria"))
    }

    /// A voucher may contain a word of the portal's host. The host stays.
    @Test func wordsOfThePortalStay() {
        let own = ["wlan.linde.example"]
        var replacements = Replacements(recordedAt: Self.now, fixed: 1_700_000_000, own: own)
        replacements.addAnswer("LINDE-4711")
        let text = replacements.apply("http://wlan.linde.example/?v=LINDE-4711&d=4711")
        #expect(text.hasPrefix("http://wlan.linde.example/?v=") && !text.contains("4711"))
        #expect(!Replacements.changes(own, for: "LINDE-4711"))
        #expect(Replacements.changes(own, for: "Linde") && Replacements.changes(own, for: "wlan.linde"))
    }

    // MARK: - Addresses and tokens

    @Test func hardwareAddressesKeepTheirSpelling() {
        let text = replaced(
            "mac=00:1c:42:ab:cd:ef&id=00-1C-42-AB-CD-EF&x=00%3A1c%3A42%3Aab%3Acd%3Aef&y=001c42abcdef&z=001c.42ab.cdef")
        let parts = text.split(separator: "&").compactMap { $0.split(separator: "=").last.map(String.init) }
        let plain = parts[0].replacing(":", with: "")
        #expect(plain.hasPrefix("02") && plain.count == 12)
        #expect(parts[1] == parts[0].uppercased().replacing(":", with: "-"))
        #expect(parts[2] == parts[0].replacing(":", with: "%3A") && parts[3] == plain)
        #expect(parts[4].replacing(".", with: "") == plain)
    }

    @Test func ownAddressesAreReplacedWithinTheirNetwork() {
        let text = replaced("ip=10.1.2.5&gw=10.1.2.50&v6=fe80::1c:2", addresses: ["10.1.2.5", "fe80::1c:2"])
        #expect(text == "ip=10.1.2.7&gw=10.1.2.50&v6=2001:db8::7")
        #expect(replaced("ip=10.1.2.5&gw=10.1.2.7", addresses: ["10.1.2.5"]) == "ip=10.1.2.8&gw=10.1.2.7")
    }

    @Test(arguments: [
        "517557d10a3aff098a898753317e8ef0", "6F9619FF-8B86-D011-B42D-00C04FC964FF", "tok_4eC39HqLyjWDarjtT1zdp7dc",
        "aBcD+fGhIj/kLmNoPqRs1uVw", "4111111111111111",
    ]) func tokensAreReplacedByTheirLike(_ token: String) {
        let text = replaced("token=\(token)&again=\(token)")
        let values = text.split(separator: "&").map { $0.split(separator: "=")[1] }
        #expect(values[0] == values[1] && values[0] != token[...] && values[0].count == token.count)
        #expect(zip(values[0], token).allSatisfy { $0.isNumber == $1.isNumber && $0.isUppercase == $1.isUppercase })
    }

    @Test(arguments: [
        "application/x-www-form-urlencoded", "/guest/s/default/login", "document.getElementById('login')",
        "bootstrap-4-3-1.min.css",
        "onAuthenticationCompleted", "2024-01-01 10:00:00", "connectivitycheck.gstatic.com/generate_204", "text-align:center",
        "?fas=", "%22portServErrorCodeDesc%22%3A%2022", "/opennds_preauth/?continue=clicked",
    ]) func pagesStayAsTheyAre(_ text: String) { #expect(replaced(text) == text) }

    @Test func timesAreTheFixtures() {
        #expect(replaced("t=\(Self.now + 60)&m=\(Self.now)123&old=1234567890") == "t=1700000000&m=1700000000000&old=1234567890")
    }

    @Test func base64OfTextIsReadAndWrittenAgain() throws {
        let inner = "clientip=10.1.2.5, token=517557d10a3aff098a898753317e8ef0"
        let text = replaced("/?fas=\(Data(inner.utf8).base64EncodedString())", addresses: ["10.1.2.5"])
        let hidden = try #require(Data(base64Encoded: String(text.dropFirst("/?fas=".count))))
        let read = String(decoding: hidden, as: UTF8.self)
        #expect(read.hasPrefix("clientip=10.1.2.7, token=") && !read.contains("517557d1"))
    }

    @Test func hiddenValuesThatAreForOneVisitAreReplaced() {
        for (name, value, isReplaced) in [
            ("nonce", "n179546", true), ("CSRFToken", "Qx-Zk_Lm", true), ("session_id", "8a81f2", true),
            ("x", "n1795468694", true), ("token", "yes", false), ("step", "login", false), ("id", "1795468694", false),
            ("x", "12 345 678 m", false),
        ] {
            var replacements = Replacements(recordedAt: Self.now, fixed: 1_700_000_000)
            replacements.addHidden(value, of: name)
            let values = replacements.apply("\(value)&\(value)").split(separator: "&")
            #expect(values[0] == values[1] && (values[0] != value[...]) == isReplaced, "\(name)=\(value)")
        }
    }

    // MARK: - A login

    private static let portal = """
        [Match]
        Host=portal.example
        Path=/in
        [Portal]
        Name=A
        Ask=user text User
        Ask=pass password Password
        [Step]
        Post=/login
        Field=user=${answer:user}
        Field=sum=${answer:pass|md5|hex}
        """

    @Test func aNameThatDoesNotResolveComesWithWhatHelps() {
        let link = Link(
            attempt: "a", association: "a", interface: "lo", index: 1, addresses: [], nameservers: ["192.0.2.53"])
        let remedy = LoginRecording.remedy(TransferError(.dnsFailed), on: link)
        #expect(remedy?.contains("192.0.2.53") == true && remedy?.contains("/etc/resolv.conf") == true)
        #expect(remedy?.contains("Often only the network's own nameservers") == true, "it is not known whose they are")
        #expect(LoginRecording.remedy(TransferError(.timeout), on: link) == nil)
    }

    /// The digest of the real answer could reveal it, so the fixture contains the digest of the made-up answer.
    @Test func digestsAreThoseOfTheMadeUpAnswers() throws {
        let file = try #require(try PortalFileParser.parse(Array(Self.portal.utf8), file: "a.portal"))
        let real = "e10adc3949ba59abbe56e057f20f883e"
        let recorded = try RecordedLogin(
            Array(
                """
                answer user=guest7
                answer pass=123456
                link 192.0.2.9/24
                > GET http://probe.example/
                < 302 Found
                < location: http://portal.example/in?ip=192.0.2.9
                > GET http://portal.example/in?ip=192.0.2.9
                < 200 OK
                < set-cookie: s=abc123; Path=/
                <| <p>Welcome</p><form><input type=hidden name=nonce value=n1795468694></form>
                > POST http://portal.example/login
                >| user=guest7&pass=x&sum=\(real)&nonce=n1795468694
                < 200 OK
                <| Hello guest7, session abc123
                = success
                """.utf8), file: "a.exchange")
        let clean = recorded.anonymous(
            typed: ["guest7", "123456"], addresses: ["192.0.2.9"], name: "laptop", recordedAt: Self.now)
        let text = try LoginRecording.replayed(clean, by: file).text
        for secret in ["guest7", "123456", real, "192.0.2.9", "abc123", "n1795468694"] {
            #expect(!text.contains(secret), "\(secret)")
        }
        let read = try RecordedLogin(Array(text.utf8), file: "a.exchange")
        #expect(Replay(file, read).run() == [])
        #expect(throws: LoginRecording.NotRecorded.self) {
            var other = clean
            other.turns.removeLast()
            _ = try LoginRecording.replayed(other, by: file)
        }
    }
}
