import HelperKit
import HotspotCore
import PageLogin

/// The decision on one page, with made-up answers typed into all fields.
struct Ruling: Encodable {
    enum Class: String, Codable {
        case loggedIn = "logged-in"
        case handOver = "hand-over"
        case leaveAlone = "leave-alone"
    }

    var `class` = Class.leaveAlone
    /// The helper that decides.
    var helper = "form"
    /// The names of the fields that the user fills in, without boxes.
    var asks: [String] = []
    /// The names of the boxes that the user ticks.
    var boxes: [String] = []
    /// The names of the fields that have a value already, which the user may change, or that may stay empty.
    var offers: [String] = []
    /// Whether none of the asked fields has to be filled in, because there are several ways to log in.
    var hasWays = false
    var submits: SentForm?
    /// The names of the boxes for advertising.
    var unticked: Set<String> = []
    /// The names of the fields that say where a button's picture was clicked, which differs from click to click.
    var clicks: Set<String> = []
    /// The words for the user: the reason for sending nothing, or the question.
    var reason: String?
    /// The fields of the question.
    var fields: [Field] = []
    /// The number of the page rule that ruled first.
    var rule: String?

    /// Rules by the helper that wins on this page: by its WISPr document, by a portal file, or else by its forms.
    init(of page: SavedPage) {
        if let ruling = Ruling(byWISPr: page) ?? Ruling(byFile: page) {
            self = ruling
        } else {
            self.init(byForm: page)
        }
    }

    init(helper: String) { self.helper = helper }

    /// Returns made-up answers for all fields of a prompt, and notes the fields.
    mutating func answers(to prompt: Prompt, on page: HTMLPage) -> [String: String] {
        let limits = page.forms.flatMap(\.controls).filter { $0.maxLength != nil }.map { ($0.name, $0.maxLength ?? 0) }
        let limit = Dictionary(limits) { min($0, $1) }
        var answers: [String: String] = [:]
        let isWanted = { (field: Field) in field.kind != .checkbox && field.required && field.value == nil }
        let hasWanted = prompt.fields.contains(where: isWanted)
        hasWays = !hasWanted
        for field in prompt.fields {
            if field.kind == .checkbox {
                boxes.append(field.name)
                answers[field.name] = "yes"
            } else if isWanted(field) || (!hasWanted && field.value == nil) {
                asks.append(field.name)
                let answer = field.choices?.first ?? Self.answer(for: field, among: asks.count)
                answers[field.name] = String(answer.prefix(limit[field.name] ?? answer.count))
            } else if let value = field.value {
                offers.append(field.name)
                answers[field.name] = value
            } else {
                offers.append(field.name)
            }
        }
        asks.sort()
        return answers
    }

    mutating func send(_ request: HTTPRequest) {
        self.class = .loggedIn
        let isMultipart = request.contentType.hasPrefix("multipart/")
        let fields =
            request.body.map { body in
                isMultipart ? SentForm.parts(body) : body.hasPrefix("{") ? SentForm.members(body) : SentForm.pairs(body)
            } ?? [:]
        submits = SentForm(method: request.method.rawValue, url: request.url.text, fields: fields).normalized
    }

    private static func answer(for field: Field, among count: Int) -> String {
        if field.label.hasSuffix("(YYYY-MM-DD)") { return "1990-07-14" }
        return switch field.kind {
        case .email: "guest\(count)@mail.test"
        case .phone: "+4930\(count)"
        default: "\(count)typed"
        }
    }

    /// Returns how this differs from the expected ruling.
    func difference(from expected: ExpectedRuling) -> [String] {
        guard expected.accepts(self.class) else { return ["class: \(self.class.rawValue) (\(reason ?? ""))"] }
        var result = Self.difference(words: expected.says, in: reason)
        if let wanted = expected.rule, wanted != rule { result.append("rule: \(rule ?? "none") in place of \(wanted)") }
        if let wanted = expected.fields { result += Self.difference(wanted, fields) }
        return result + sendingDifference(from: expected)
    }

    /// Returns a difference if the text for the user lacks the expected words.
    static func difference(words: String?, in text: String?) -> [String] {
        guard let words, text?.contains(words) != true else { return [] }
        return ["says: \(text ?? "nothing")"]
    }

    /// Returns how the fields of a question differ from the expected ones.
    static func difference(_ wanted: [ExpectedField], _ found: [Field]) -> [String] {
        let isSame = wanted.count == found.count && zip(wanted, found).allSatisfy { $0.describes($1) }
        return isSame
            ? []
            : ["fields: \(found.map { "\($0.name) \"\($0.label)\" \($0.kind.rawValue)\($0.choices.map { " \($0)" } ?? "")" })"]
    }

    /// Returns the differences of the question and the request from the expected ways to log in.
    private func sendingDifference(from expected: ExpectedRuling) -> [String] {
        guard expected.class == .loggedIn, self.class == .loggedIn else { return [] }
        // The document of WISPr is another way for the same account.
        if helper == "wispr", expected.protocol != "wispr" { return expected.asks?.count == 2 ? [] : ["asks"] }
        let first = ExpectedWay(asks: expected.asks, submits: expected.submits)
        let ways = [first] + (expected.or?.ways ?? []).map { ExpectedWay(asks: $0.asks ?? first.asks, submits: $0.submits) }
        return ways.map(difference).min { $0.count < $1.count } ?? []
    }

    private func difference(from way: ExpectedWay) -> [String] {
        let names = Set(way.asks ?? [])
        // A portal file uses its own names for its questions.
        let isAsked =
            helper != "form"
            ? names.count == asks.count
            : hasWays ? names.subtracting(offers).isSubset(of: asks) : names.subtracting(offers) == Set(asks).subtracting(offers)
        return (isAsked ? [] : ["asks"]) + (way.submits.map { difference(from: $0.normalized) } ?? [])
    }

    private func difference(from wanted: SentForm) -> [String] {
        var result = wanted.method == submits?.method ? [] : ["method"]
        if WebURL(wanted.url)?.text != submits?.url { result.append("url") }
        let (ours, theirs) = (submits?.fields ?? [:], wanted.fields ?? [:])
        return result
            + Set(ours.keys).union(theirs.keys).subtracting(clicks).sorted().filter { name in
                if let value = theirs[name], SentForm.isComputed(value) {
                    return ours[name].map { $0.isEmpty || $0.contains("typed") || $0.hasPrefix("<user:") } ?? true
                }
                let isOffered = offers.contains(name) && theirs[name] == "<user:\(name)>"
                // A box for advertising is not ticked, even if the page ticks it.
                if ours[name] == nil, unticked.contains(name) { return false }
                // The fields of another way may be sent empty.
                let isOfOtherWay = hasWays && asks.contains(name) && theirs[name] == nil && ours[name]?.isEmpty == true
                return ours[name] != theirs[name] && !isOffered && !isOfOtherWay
            }.map { "field \($0)" }
    }
}
