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
    /// The names of the fields that have a value already, which the user may change.
    var offers: [String] = []
    /// None of the asked fields has to be filled in: there are several ways to log in.
    var hasWays = false
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
        if let hop = RedirectChain.ownRequest(of: page, at: url, on: link) {
            send(hop)
            return
        }
        var first = FormAttempt(command, at: portal, isTypedNow: false)
        switch first.move(on: page, at: url) {
        case .submit(let filled, _): send(filled, [])
        case .done: reason = "done"
        case .end(_, let text): reason = text
        case .ask(_, _, let text?):
            self.class = .handOver
            reason = text
        case .ask(let prompt, _, nil):
            let isWanted = { (field: Field) in field.kind != .checkbox && field.required && field.value == nil }
            let hasWanted = prompt.fields.contains(where: isWanted)
            hasWays = !hasWanted
            for field in prompt.fields {
                if field.kind == .checkbox {
                    boxes.append(field.name)
                    command.answers[field.name] = "yes"
                } else if isWanted(field) || (!hasWanted && field.value == nil) {
                    asks.append(field.name)
                    command.answers[field.name] = field.choices?.first ?? Self.answer(for: field, among: asks.count)
                } else if let value = field.value {
                    offers.append(field.name)
                    command.answers[field.name] = value
                }
            }
            asks.sort()
            var second = FormAttempt(command, at: portal, said: first.said, isTypedNow: true)
            guard case .submit(let filled, let form) = second.move(on: page, at: url) else {
                self.class = .handOver
                reason = "asked, and sent nothing after the answers"
                return
            }
            send(filled, asks.filter { name in form.controls.contains { $0.name == name } })
        }
    }

    /// Notes a form's request; the values of asked fields are replaced.
    private mutating func send(_ filled: FilledForm, _ typed: [String]) {
        send(filled.request)
        var fields = submits?.fields ?? [:]
        for pair in filled.pairs {
            fields[pair.name] = typed.contains(pair.name) && !pair.value.isEmpty ? "<user:\(pair.name)>" : pair.value
        }
        submits?.fields = fields
    }

    private mutating func send(_ request: HTTPRequest) {
        self.class = .loggedIn
        let fields = request.body.map(SentForm.pairs) ?? [:]
        submits = SentForm(method: request.method.rawValue, url: request.url.text, fields: fields).normalized
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
        guard expected.accepts(self.class) else { return ["class"] }
        guard expected.class == .loggedIn, self.class == .loggedIn else { return [] }
        let wanted = [expected.submits].compactMap { $0 } + (expected.or?.forms ?? [])
        let differences = wanted.map { difference(from: $0.normalized) }
        let names = Set(expected.asks ?? [])
        let isAsked = hasWays ? names.isSubset(of: asks) : names.subtracting(offers) == Set(asks).subtracting(offers)
        return (isAsked ? [] : ["asks"]) + (differences.min { $0.count < $1.count } ?? [])
    }

    private func difference(from wanted: SentForm) -> [String] {
        var result = wanted.method == submits?.method ? [] : ["method"]
        if WebURL(wanted.url)?.text != submits?.url { result.append("url") }
        let (ours, theirs) = (submits?.fields ?? [:], wanted.fields ?? [:])
        return result
            + Set(ours.keys).union(theirs.keys).sorted().filter { name in
                let isOffered = offers.contains(name) && theirs[name] == "<user:\(name)>"
                // The fields of another way may be sent empty.
                let isOfOtherWay = hasWays && asks.contains(name) && theirs[name] == nil && ours[name]?.isEmpty == true
                return ours[name] != theirs[name] && !isOffered && !isOfOtherWay
            }.map { "field \($0)" }
    }
}
