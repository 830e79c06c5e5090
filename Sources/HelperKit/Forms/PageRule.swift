/// One row of a table of rules. The first row of a table that fits rules.
struct PageRule<Case, Ruling>: Sendable {
    let name: RuleName
    /// Returns the ruling; `nil` if the row does not fit.
    let rule: @Sendable (Case) -> Ruling?

    init(_ number: String, _ sentence: String, _ rule: @escaping @Sendable (Case) -> Ruling?) {
        name = RuleName(number: number, sentence: sentence)
        self.rule = rule
    }
}

/// The number of a rule in `docs/page-rules.md`, and what it says.
package struct RuleName: Hashable, Sendable, CustomStringConvertible {
    package let number: String
    package let sentence: String
    package var description: String { "\(number): \(sentence)" }
}

/// A ruling, and the rule that made it.
struct Ruled<Ruling> {
    let ruling: Ruling
    let rule: RuleName
}

extension Ruled: Sendable where Ruling: Sendable {}

extension Array {
    /// Returns the ruling of the first row that fits. The last row of each table fits always.
    func ruling<Case, Ruling>(on subject: Case) -> Ruled<Ruling> where Element == PageRule<Case, Ruling> {
        for row in self {
            if let ruling = row.rule(subject) { return Ruled(ruling: ruling, rule: row.name) }
        }
        preconditionFailure("the last row of a table of rules did not fit")
    }
}

/// All tables of page rules, in the order in which they are asked.
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

    package static let tables = [
        Table("Is the first page a portal's?", FirstPageCase.rules),
        Table("May a form be the login?", FormCase.rules),
        Table("Does a form step back beside others?", FormBesideCase.rules),
        Table("Which of several forms goes first?", FormCase.ranks),
        Table("Which ways to log in does the page have?", ChoiceCase.rules),
        Table("Is the form sent, or is the user asked?", SendingCase.rules),
        Table("What does a first page without a login mean?", NoLoginCase.rules),
        Table("What is done then?", MoveCase.rules),
    ]
}
