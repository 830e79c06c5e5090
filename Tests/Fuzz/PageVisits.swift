@testable import BoundHTTP
@testable import HelperKit
@testable import HotspotCore
@testable import PageLogin
@testable import PortalPages

/// Plays a login on pages, which NUL octets separate in the input: first without answers, then with the answers that the pages ask for,
/// typed and stored. All tables of the page rules decide.
enum PageVisits {
    private static let pageLimit = 3
    private static let url = Parsers.portal
    private static let live = Portal(origin: url.origin, pin: nil, kind: "form", title: nil)

    @Sendable static func play(_ octets: [UInt8]) -> [String: Bool] {
        let pages = Parsers.parts(of: octets, limit: pageLimit).enumerated().map { index, body in
            let chain = RedirectChain(HTTPResponse(url: url, status: index == 1 ? 403 : 200, body: body))
            return (chain, TypedPage(chain.page))
        }
        _ = RedirectChain.ownRequest(of: pages[0].0.page, at: url, on: link)
        var command = HelperCommand(
            network: Network(ssid: SSID(printable: "Cafe")!, interface: "lo", security: .open), link: link, portal: live,
            attempts: SharedProbe())
        let first = visit(command, pages, isTypedNow: false)
        command.answers = first.answers
        let second = visit(command, pages, isTypedNow: true)
        (command.answers, command.credential, command.consent) = ([:], first.answers, true)
        let third = visit(command, pages, isTypedNow: false)
        return ["a question": !first.answers.isEmpty, "typed answers": second.sends, "stored answers": third.sends]
    }

    /// Follows the moves over the pages; the last page comes twice. Returns answers to the last question, and whether a form was
    /// sent.
    private static func visit(
        _ command: HelperCommand, _ pages: [(RedirectChain, TypedPage)], isTypedNow: Bool
    ) -> (answers: [String: String], sends: Bool) {
        var attempt = FormAttempt(command, at: live, isTypedNow: isTypedNow)
        // No name is looked up.
        attempt.engine.leadsInside = { $0.host.hasPrefix("10.") }
        var sends = false
        for (index, (chain, page)) in (pages + pages.suffix(1)).enumerated() {
            if index > 0, attempt.arrive(chain, on: page, kind: "form") != nil { break }
            switch attempt.move(on: page, at: url).withoutBrowser {
            case .ask(let prompt, _, let reason):
                _ = attempt.mayOpen(prompt, reason, on: page)
                _ = attempt.refused(by: page)
                return (answers(to: prompt), sends)
            case .submit: sends = true
            case .request, .probe, .render: continue
            case .done:
                _ = attempt.handOverUnsent(on: page, at: url)
                return ([:], sends)
            case .end, .leave: return ([:], sends)
            }
        }
        return ([:], sends)
    }

    /// Returns an answer of the right kind to each field, and to the boxes for consent.
    static func answers(to prompt: Prompt) -> [String: String] {
        let pairs = prompt.limited.fields.map { field in
            let answer =
                switch field.kind {
                case .text, .password: "Brandt"
                case .email: "guest@example.org"
                case .phone: "+49 30 5550100"
                case .code: "123456"
                case .checkbox: "yes"
                case .choice: field.choices?.last ?? ""
                }
            return (field.name, answer)
        }
        return Dictionary(pairs) { $1 }
    }

    private static let link = Link(
        attempt: "fuzz", association: "fuzz", interface: "lo", index: 1, addresses: ["192.0.2.7/24"],
        probeURL: "http://probe.example/generate_204", probeExpect: "204")
}
