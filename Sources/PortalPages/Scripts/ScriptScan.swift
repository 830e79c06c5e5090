import BoundHTTP
import HotspotCore

/// Recognises a script that, without the user, redirects to a literal address or submits a form. Does not run the script.
struct ScriptScan {
    /// The address of `location = "…"`, `location.href = '…'` or `location.replace("…")`, with or without an object before it.
    private(set) var target: String?
    /// Whether the page's own query is appended to the address.
    private(set) var addsQuery = false
    /// Whether the script computes an address and leads there.
    private(set) var leadsAway = false
    /// The words and selectors of each form that the script submits.
    private(set) var submitted: [Set<String>] = []

    /// The end of the last `document.write` call that was read, so that nested calls are not read twice.
    private var written = 0

    init(_ script: String) { self.init(ScriptCode(script)) }

    init(_ tokens: ScriptCode, depth: Int = 0) {
        let flow = ScriptFlow(tokens)
        for index in tokens.indices where tokens[index].kind == .word && flow.runs(at: index) {
            switch tokens[index].text {
            case "location": readLocation(tokens, index)
            case "submit", "requestSubmit":
                if tokens.isSign(".", at: index - 1), tokens.isSign("(", at: index + 1), tokens.isSign(")", at: index + 2) {
                    submitted.append(FormScripts.receivers(tokens, before: index - 1))
                }
            case "write", "writeln": readWriting(tokens, index)
            default: break
            }
        }
        for code in depth == 0 ? flow.timerCode : [] {
            let inner = ScriptScan(ScriptCode(code), depth: 1)
            submitted += inner.submitted
            if target == nil { (target, addsQuery) = (inner.target, inner.addsQuery) }
        }
    }

    /// Returns the address to which a button's handler leads, if the handler does nothing else.
    static func onlyTarget(of handler: String) -> String? {
        let tokens = ScriptCode(handler)
        let words = tokens.filter { $0.kind == .word }.map(\.text)
        guard tokens.count <= 12, Set(words).isSubset(of: moves), tokens.filter({ $0.kind == .text }).count == 1 else {
            return nil
        }
        let scan = ScriptScan(tokens)
        return scan.addsQuery ? nil : scan.target
    }

    private static let moves: Set<String> = [
        "window", "document", "self", "top", "parent", "this", "location", "href", "replace", "assign", "return", "false",
        "javascript",
    ]

    /// Notes a meta refresh that a script writes into the page.
    private mutating func readWriting(_ tokens: ScriptCode, _ index: Int) {
        guard index >= written, tokens.isSign("(", at: index + 1), let close = tokens.closing(index + 1) else { return }
        written = close
        let text = tokens[(index + 2)..<close].map(\.text).joined().lowercased()
        if text.contains("http-equiv"), text.contains("refresh") { leadsAway = true }
    }

    private mutating func readLocation(_ tokens: ScriptCode, _ index: Int) {
        var next = index + 1
        var isCall = false
        if tokens.isSign(".", at: next) {
            isCall = ["replace", "assign"].contains(tokens.word(at: next + 1))
            guard isCall || tokens.word(at: next + 1) == "href" else { return }
            next += 2
        }
        guard tokens.isSign(isCall ? "(" : "=", at: next), tokens.indices.contains(next + 1) else { return }
        let end = tokens.endOfExpression(from: next + 1)
        let text = tokens[next + 1].text
        guard tokens[next + 1].kind == .text, !text.isEmpty, text.utf8.count <= WebURL.limit, !text.contains("\n"),
            !text.contains("${")
        else {
            leadsAway = true
            return
        }
        let rest = tokens[(next + 2)..<max(next + 2, end)].prefix { !$0.startsStatement }.map(\.text).joined(separator: " ")
        switch rest {
        case "": addsQuery = false
        case "+ location . search", "+ window . location . search", "+ document . location . search": addsQuery = true
        default:
            if rest.hasPrefix("+") {
                leadsAway = true
                return
            }
            addsQuery = false
        }
        if target == nil { target = text.replacing("\\/", with: "/").replacing("&amp;", with: "&") }
    }
}

extension ScriptToken {
    /// Whether the token begins a new statement after an expression that no semicolon ends.
    fileprivate var startsStatement: Bool {
        switch kind {
        case .word: !["location", "window", "document", "search"].contains(text)
        case .sign: !["+", "."].contains(text)
        case .text, .number: false
        }
    }
}
