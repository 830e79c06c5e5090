import ForeignText

/// Choices that exclude each other: the options of a list, a group of radio buttons, or several buttons.
package struct Choices: Sendable {
    /// The texts that the user sees and answers with, each of them different.
    package let texts: [String]
    private let controls: [(label: String, value: String)]

    private init(_ controls: [(label: String, value: String)]) {
        self.controls = controls
        var names = DistinctNames()
        texts = controls.map { names.add(Printable.text($0.label.isEmpty ? $0.value : $0.label, limit: 80)) { " (\($0))" } }
    }

    package init(_ options: [HTMLControl.Option]) { self.init(options.map { ($0.label, $0.value) }) }

    package init(_ controls: [TypedControl]) { self.init(controls.map { ($0.control.label, $0.value) }) }

    /// Returns the choice that an answer selects. Values count only if no label fits, because they may look like other labels.
    func index(of answer: String) -> Int? {
        texts.firstIndex(of: answer) ?? controls.firstIndex { $0.label == answer } ?? controls.firstIndex { $0.value == answer }
    }
}
