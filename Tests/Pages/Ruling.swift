import HelperKit
import HotspotCore

/// The engine's decision on one page, with made-up answers typed for all that it asks.
struct Ruling: Encodable {
    enum Class: String, Codable {
        case loggedIn = "logged-in"
        case handOver = "hand-over"
        case leaveAlone = "leave-alone"
    }

    var `class` = Class.leaveAlone
    /// The names of the fields that the user fills in, without boxes.
    var asks: [String] = []
    /// The names of the boxes that the user ticks.
    var boxes: [String] = []
    var submits: SentForm?
    var reason: String?

    init(of octets: [UInt8], at url: WebURL) {
        let page = HTMLPage.read(octets, at: url)
        let portal = Portal(origin: url.origin, pin: url.isSecure ? "key" : nil, kind: "form", title: page.title)
        // No nameserver, so that no name is looked up.
        let link = Link(
            attempt: "judge", association: "judge", interface: "lo", index: 1, addresses: ["192.0.2.2/24"], nameservers: [],
            portalAPI: nil, probeURL: nil, probeExpect: nil)
        var command = HelperCommand(
            network: Network(ssid: SSID(hex: "61")!, interface: "lo", security: .open), link: link, portal: portal)
        if let hop = RedirectChain.ownRequest(of: page, at: url) {
            send(hop, [])
            return
        }
        var first = FormAttempt(command, at: portal, agreed: [], mustAcceptTerms: false, isTypedNow: false)
        switch first.move(on: page, at: url) {
        case .submit(let filled, _): send(filled.request, [])
        case .done: reason = "done"
        case .end(_, let text): reason = text
        case .ask(_, _, let text?):
            self.class = .handOver
            reason = text
        case .ask(let prompt, _, nil):
            for field in prompt.fields {
                if field.kind == .checkbox { boxes.append(field.name) } else { asks.append(field.name) }
                command.answers[field.name] =
                    field.kind == .checkbox ? "yes" : field.choices?.first ?? Self.answer(for: field, among: asks.count)
            }
            asks.sort()
            var second = FormAttempt(command, at: portal, agreed: [], mustAcceptTerms: false, isTypedNow: true)
            guard case .submit(let filled, let form) = second.move(on: page, at: url) else {
                self.class = .handOver
                reason = "asked, and sent nothing after the answers"
                return
            }
            send(filled.request, asks.filter { name in form.controls.contains { $0.name == name } })
        }
    }

    /// Notes a request; the values of asked fields are replaced.
    private mutating func send(_ request: HTTPRequest, _ typed: [String]) {
        self.class = .loggedIn
        var sent = SentForm(
            method: request.method.rawValue, url: request.url.text, fields: SentForm.pairs(request.body ?? "")
        ).normalized
        for name in typed where sent.fields?[name]?.isEmpty == false { sent.fields?[name] = "<user:\(name)>" }
        submits = sent
    }

    private static func answer(for field: Field, among count: Int) -> String {
        switch field.kind {
        case .email: "guest\(count)@mail.test"
        case .phone: "+4930\(count)"
        default: "a\(count)"
        }
    }

    /// Returns how this differs from the expected ruling.
    func difference(from expected: ExpectedRuling) -> [String] {
        guard self.class == expected.class else { return ["class"] }
        guard expected.class == .loggedIn else { return [] }
        var result = Set(expected.asks ?? []) == Set(asks) ? [] : ["asks"]
        guard let wanted = expected.submits?.normalized else { return result }
        if wanted.method != submits?.method { result.append("method") }
        if WebURL(wanted.url)?.text != submits?.url { result.append("url") }
        let (ours, theirs) = (submits?.fields ?? [:], wanted.fields ?? [:])
        result += Set(ours.keys).union(theirs.keys).sorted().filter { ours[$0] != theirs[$0] }.map { "field \($0)" }
        return result
    }
}
