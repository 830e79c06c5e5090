import EventLoop

@testable import AuthorTools
@testable import BoundHTTP
@testable import HelperKit
@testable import HotspotCore
@testable import PageLogin
@testable import PortalCatalogue
@testable import PortalPages

/// Matches portal files with the answers of a portal, and plays them there: our own files with a recorded login from the input, and a portal
/// file from the input with our recorded logins.
enum PortalVisits {
    private static let folder = Parsers.checkout + "/Portals"
    private static let portals = PortalCatalogue([folder]).read(reporting: false).portals
    /// The answers of a few recorded logins: pages with forms, JSON and redirects.
    private static let samples: [[HTTPResponse]] = ["arista", "coovachilli-json", "mikrotik", "opennds"].compactMap {
        guard let octets = PortalCatalogue.octets(of: "\(folder)/tests/\($0).exchange", limit: RecordedLogin.limit),
            let login = try? RecordedLogin(octets, file: $0)
        else { return nil }
        return answers(of: login)
    }
    private static let link = Link(
        attempt: "fuzz", association: "fuzz", interface: "lo", index: 1, addresses: ["192.0.2.7/24"],
        probeURL: "http://probe.example/generate_204", probeExpect: "204")
    /// The largest number of files that are played with one input, and of the answers to one file.
    private static let (fileLimit, answerLimit) = (3, 12)

    @Sendable static func play(_ octets: [UInt8]) -> [String: Bool] {
        var (claimsRecording, fitsRecording, sends) = (false, false, false)
        if let login = try? RecordedLogin(octets, file: "fuzz") {
            let answers = answers(of: login)
            let claims = Matcher.claims(portals, on: answers, ssid: nil)
            claimsRecording = !claims.isEmpty
            for claim in claims.prefix(fileLimit) where visit(claim.portal, answers) { sends = true }
        } else if let portal = try? PortalFileParser.parse(octets, file: "fuzz.portal") {
            for answers in samples {
                if !Matcher.claims([portal], on: answers, ssid: SSID(printable: "Cafe")).isEmpty { fitsRecording = true }
                _ = Matcher.mismatch(portal, on: answers)
                if visit(portal, answers) { sends = true }
            }
        }
        return ["a claim of ours": claimsRecording, "a claim on ours": fitsRecording, "a request": sends]
    }

    private static func answers(of login: RecordedLogin) -> [HTTPResponse] {
        let answers = login.turns.prefix(answerLimit).compactMap { turn in
            WebURL(turn.url).map {
                HTTPResponse(
                    url: $0, status: turn.status, phrase: turn.phrase, headers: turn.answerHeaders, body: Array(turn.answer.utf8))
            }
        }
        return answers.isEmpty ? [HTTPResponse(url: Parsers.portal, status: 200)] : answers
    }

    /// Plays a file on the answers; the first answers lead to the portal's page. Returns whether it sends anything.
    private static func visit(_ portal: PortalFile, _ answers: [HTTPResponse]) -> Bool {
        var sends = false
        let first = (answers.firstIndex { $0.location == nil } ?? 0) + 1
        let chain = RedirectChain(answers[first - 1])
        let live = Portal(origin: chain.final.url.origin, pin: nil, kind: portal.id, title: nil)
        var engine = FormEngine()
        engine.leadsInside = { $0.host.hasPrefix("10.") }
        engine.isTypedNow = true
        let values = PortalValues(
            hops: Array(answers[..<first]), page: chain.page, link: link, clock: { 1_700_000_000_000 },
            letters: { String(repeating: "r", count: $0) })
        _ = portal.isFor(chain.page)
        for isAnswered in [false, true] {
            if isAnswered {
                for field in portal.fields { engine.answers[field.name] = "Brandt" }
                engine.consent = true
            }
            var run = PortalRun(portal, at: live, engine: engine, values: values, isStranger: false)
            run.begin()
            if run.endAtFirstSight() != nil { continue }
            var rest = answers[first...]
            for _ in 0..<answerLimit {
                switch run.next() {
                case .request, .submit:
                    sends = true
                    guard let answer = rest.popFirst() ?? answers.last, run.arrive(RedirectChain(answer)) == nil else { break }
                    continue
                case .probe: if run.probed(isOpen: false) == nil { continue }
                case .ask, .render, .done, .end, .leave: break
                }
                break
            }
        }
        return sends
    }
}
