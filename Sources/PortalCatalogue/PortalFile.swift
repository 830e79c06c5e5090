import HelperKit
import HotspotCore
import PageLogin

/// A `.portal` file as it was read: how to recognise a portal, and how to log in to it.
package struct PortalFile: Hashable, Sendable {
    /// The file's name without its ending.
    package let id: String
    /// The file's path, for errors.
    package let file: String
    /// The name that people read.
    package var name = ""
    package var matches: [Match] = []
    package var fields: [Field] = []
    var terms: Template?
    var steps: [Step] = []
    /// `[Success]`; empty if the file has none.
    var success: [Condition] = []
    var failures: [Failure] = []
    var session = SessionPart()
    var logoff: Message?

    /// The texts in `[Match]` that identify the portal.
    package var demands: [String] { matches.flatMap(\.lines).map(\.value) }
    /// Whether `[Session]` says where to read the session's time.
    package var readsTime: Bool { session.seconds != nil }
    /// Whether the file has a `[Logoff]`.
    package var canLogOff: Bool { logoff != nil }

    /// Returns whether the login fits a page's forms: it submits one of them, or asks for the same fields.
    func isFor(_ page: HTMLPage) -> Bool {
        let questions = FormEngine.questions(on: page)
        let submits = steps.contains { if case .submit = $0.action { true } else { false } }
        if submits || questions.isEmpty { return true }
        // If the page has only a hidden password, a script may turn a code into the password. Then a file that asks for a password does not fit.
        let hidesPassword =
            !questions.contains { $0.kind == .password }
            && page.forms.contains { $0.controls.contains(where: \.isHiddenPassword) }
        if hidesPassword, fields.contains(where: { $0.kind == .password }) { return false }
        return fields.contains { field in
            questions.contains { $0.name == field.name || (field.kind != .text && FormEngine.kind(of: $0) == field.kind) }
        }
    }

    /// One `[Match]`.
    package struct Match: Hashable, Sendable {
        struct Pair: Hashable, Sendable {
            var name: String
            var value: Glob?
        }
        /// One line of the section, and a section that consists of this line alone.
        struct Line: Hashable, Sendable {
            var key: String
            var value: String
            var alone: Match
        }
        /// The lines; empty in a ``PortalOutline``.
        var lines: [Line] = []
        var ssids: [[Glob]] = []
        var hosts: [[Glob]] = []
        var paths: [[Glob]] = []
        var queries: [[Pair]] = []
        var statuses: [[Glob]] = []
        var headers: [[Pair]] = []
        var bodies: [[Glob]] = []
        /// Texts that no page may contain.
        var absent: [Glob] = []
        /// The trigrams that must occur for the section to match; 0 stands for no trigram.
        var demand = SIMD4<UInt16>.zero
        /// The number of lines, without `Lacks=`.
        var count: Int {
            ssids.count + hosts.count + paths.count + queries.count + statuses.count + headers.count + bodies.count
        }
        /// The kinds of evidence. A path that every portal uses, such as `/`, is not evidence.
        package var evidence: [Evidence] {
            Evidence.allCases.filter { kind in
                switch kind {
                case .host: !hosts.isEmpty
                case .address: paths.contains { $0.allSatisfy { $0.shortest > 1 } } || !queries.isEmpty
                case .head: !statuses.isEmpty || !headers.isEmpty
                case .page: !bodies.isEmpty
                }
            }
        }
    }

    /// The kinds of evidence that are independent of each other.
    package enum Evidence: String, CaseIterable, Sendable {
        case host, address, head, page
    }

    /// A request.
    struct Message: Hashable, Sendable {
        enum Content: Hashable, Sendable {
            case none
            case json(Template)
            case other(Template)
        }
        var method: Method
        var address: Template
        var fields: [Assignment] = []
        var content = Content.none
        var type: Template?
        var headers: [Assignment] = []

        enum Method: Hashable, Sendable { case open, post }

        /// Whether the request does more than open a page.
        var acts: Bool { method == .post || !fields.isEmpty }

        /// All values of the request except the address.
        var templates: [Template] {
            let content: [Template] =
                switch content {
                case .none: []
                case .json(let template), .other(let template): [template]
                }
            return fields.map(\.value) + headers.map(\.value) + content + (type.map { [$0] } ?? [])
        }
    }

    /// `NAME=VALUE` or `NAME: VALUE`.
    struct Assignment: Hashable, Sendable {
        var name: String
        var value: Template
    }

    /// One `[Step]`.
    struct Step: Hashable, Sendable {
        enum Action: Hashable, Sendable {
            case set
            case message(Message)
            case submit(form: String, [Assignment])
            case follow(Glob)
            case probe(seconds: Int)
        }
        var action: Action
        /// The line where the step's section begins, for messages.
        var line: Int
        var followsRedirects = true
        var mayFail = false
        var wait = 0
        var when: [Condition] = []
        var until: [Condition] = []
        var times = Step.timesLimit
        var sets: [Assignment] = []

        static let timesLimit = 20

        /// The answers that the step needs.
        var answers: Set<String> {
            let own: [Template] =
                switch action {
                case .message(let message): message.templates
                case .submit(_, let fields): fields.map(\.value)
                case .set, .follow, .probe: []
                }
            return Set((own + sets.map(\.value)).flatMap(\.answers))
        }

        /// Whether the step does more than open a page.
        var acts: Bool {
            switch action {
            case .message(let message): message.acts
            case .submit, .follow: true
            case .set, .probe: false
            }
        }
    }

    /// One `[Failure]`.
    struct Failure: Hashable, Sendable {
        enum Meaning: String, CaseIterable, Sendable {
            case refused, later, over, unsupported, browser
        }
        var when: [Condition] = []
        var meaning: Meaning
        var text: Template?
    }

    /// `[Session]`.
    struct SessionPart: Hashable, Sendable {
        var open: Message?
        var seconds: Template?
        /// The part of the session's seconds that has passed.
        var used: Template?
        var bytes: Template?
    }
}
