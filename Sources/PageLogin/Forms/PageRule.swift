import BoundHTTP
import PortalPages

/// One row of a table of rules. The first row that applies decides.
struct PageRule<Case, Ruling>: Sendable {
    let name: RuleName
    /// Returns the ruling; `nil` if the row does not apply.
    let rule: @Sendable (Case) -> Ruled<Ruling>?

    /// - Parameter needsScripts: whether the page's scripts must run before the ruling counts.
    init(
        _ number: String, _ sentence: String, needsScripts: Bool = false, _ rule: @escaping @Sendable (Case) -> Ruling?
    ) {
        let name = RuleName(number: number, sentence: sentence, needsScripts: needsScripts)
        self.name = name
        self.rule = { rule($0).map { Ruled(ruling: $0, rule: name) } }
    }

    /// Makes a row that adopts the ruling and the rule of another table.
    init(_ number: String, _ sentence: String, takingOver rule: @escaping @Sendable (Case) -> Ruled<Ruling>?) {
        name = RuleName(number: number, sentence: sentence)
        self.rule = rule
    }
}

/// The number of a rule in `docs/page-rules.md`, and its sentence.
package struct RuleName: Hashable, Sendable, CustomStringConvertible {
    package let number: String
    package let sentence: String
    /// Whether a browser must run the page's scripts before the ruling counts.
    package var needsScripts = false
    package var description: String { "\(number): \(sentence)" }
}

/// A ruling, and the rule that made it.
struct Ruled<Ruling> {
    let ruling: Ruling
    let rule: RuleName

    /// Returns another ruling by the same rule.
    func becoming<Other>(_ other: Other) -> Ruled<Other> { Ruled<Other>(ruling: other, rule: rule) }
}

extension Ruled: Sendable where Ruling: Sendable {}

extension Array {
    /// Returns the ruling of the first row that applies. The last row of each table always applies.
    func ruling<Case, Ruling>(on subject: Case) -> Ruled<Ruling> where Element == PageRule<Case, Ruling> {
        for row in self {
            if let ruled = row.rule(subject) { return ruled }
        }
        preconditionFailure("the last row of a table of rules did not apply")
    }
}

/// All tables of page rules. C uses F, G and R; E18 uses N. In G, every row is applied to every form; in each other table, the first row that applies
/// decides.
package enum PageRules {
    /// A table: its letter, the question that it answers, and its rows.
    package struct Table: Sendable {
        package let question: String
        package let rows: [RuleName]

        init<Case, Ruling>(_ question: String, _ rows: [PageRule<Case, Ruling>]) {
            self.question = question
            self.rows = rows.map(\.name)
        }
    }

    /// Returns the rule that decides about the first page of a login without answers.
    package static func rule(on page: HTMLPage, at url: WebURL) -> RuleName {
        let typed = TypedPage(page)
        let first = FirstPageCase(typed, at: url).ruled
        if case .portal = first.ruling { return FormEngine().ruled(on: typed, at: url).rule }
        return first.rule
    }

    package static let tables = [
        Table("Is the first page a portal's?", FirstPageCase.rules),
        Table("May a form be the login?", FormCase.rules),
        Table("Is a form ignored in favour of others?", FormBesideCase.rules),
        Table("Which of several forms comes first?", FormCase.ranks),
        Table("Which ways to log in does the page offer?", ChoiceCase.rules),
        Table("Is the form sent, or is the user asked?", SendingCase.rules),
        Table("What does a first page without a login mean?", NoLoginCase.rules),
        Table("What happens then?", MoveCase.rules),
    ]
}
