/// A program that shows dialogs of the desktop: its command lines, and the meaning of its output.
///
/// Arguments are in the process list, which every user of this computer can read. So they contain no answer, neither stored nor typed; answers come
/// back on standard output.
struct DialogProgram: Equatable {
    enum Kind: String, CaseIterable { case zenity, kdialog }

    let kind: Kind
    let path: String

    private static let title = "Hotspot login"
    /// The width of a dialog in pixels, and of its text in characters. The text is wrapped here, because the toolkit would start a portal's continued
    /// line where hotspotd's own lines begin.
    private static let (width, columns) = ("540", 64)
    /// Separates the answers of a form. This character cannot be typed.
    private static let separator = "\u{1F}"

    /// Returns the program that belongs to this desktop; if that is not installed, the other one.
    ///
    /// - Parameters:
    ///   - desktop: the value of `XDG_CURRENT_DESKTOP`.
    ///   - find: returns the path of a program.
    static func find(desktop: String, _ find: (String) -> String?) -> DialogProgram? {
        let isKDE = desktop.split(separator: ":").contains { ["KDE", "LXQt"].contains($0) }
        for kind in isKDE ? [Kind.kdialog, .zenity] : [.zenity, .kdialog] {
            if let path = find(kind.rawValue) { return DialogProgram(kind: kind, path: path) }
        }
        return nil
    }

    /// A field of a form.
    struct Entry: Equatable {
        var label: String
        var isHidden = false
        /// The choices; empty if the user types the answer.
        var choices: [String] = []
    }

    // MARK: Forms

    /// Returns the command lines that ask for the entries, in order: one for all entries (zenity), or one for each entry (kdialog).
    func forms(_ text: String, _ entries: [Entry]) -> [[String]] {
        switch kind {
        case .zenity:
            let fields = entries.flatMap { entry in
                entry.choices.isEmpty
                    ? ["--add-\(entry.isHidden ? "password" : "entry")=\(entry.label)"]
                    : [
                        "--add-combo=\(entry.label)",
                        "--combo-values=\(Self.shown(entry.choices).joined(separator: "|"))",
                    ]
            }
            return [command("--forms", "--text=\(markup(text))", "--separator=\(Self.separator)") + fields]
        case .kdialog:
            return entries.map { entry in
                let text = markup("\(text)\n\n\(entry.label):")
                // Ends the options, because choices may begin with a hyphen.
                if !entry.choices.isEmpty { return command("--combobox=\(text)", "--") + Self.shown(entry.choices) }
                // Doubles ampersands: unlike in other dialogs, an ampersand in the label of an input box marks a shortcut key.
                return entry.isHidden
                    ? command("--password=\(text)") : command("--inputbox=\(text.replacing("&amp;", with: "&amp;&amp;"))")
            }
        }
    }

    /// Reads the output of ``forms(_:_:)``; `nil` if it does not answer the entries.
    func values(_ outputs: [String], _ entries: [Entry]) -> [String]? {
        let lines = outputs.map { $0.hasSuffix("\n") ? String($0.dropLast()) : $0 }
        let values = kind == .zenity ? lines.flatMap { $0.components(separatedBy: Self.separator) } : lines
        guard values.count == entries.count else { return nil }
        return zip(values, entries).map { value, entry in
            Self.shown(entry.choices).firstIndex(of: value).map { entry.choices[$0] } ?? value
        }
    }

    /// Returns the choices as the dialog shows them: all different, and without the character `|`, at which zenity splits them.
    private static func shown(_ choices: [String]) -> [String] {
        let shown = choices.map { $0.replacing("|", with: "¦") }
        return Set(shown).count == shown.count ? shown : shown.enumerated().map { "\($0 + 1). \($1)" }
    }

    // MARK: Questions

    enum Reply { case yes, no, cancelled }

    /// Returns the command line of a question.
    ///
    /// - Parameter mayDecline: whether declining is an answer; otherwise it only closes the dialog.
    func question(_ text: String, mayDecline: Bool) -> [String] {
        switch kind {
        case .zenity:
            // The default is Cancel, so that a key that was pressed before the dialog appeared does not count as a yes.
            command("--question", "--text=\(markup(text))", "--ok-label=Yes", "--default-cancel")
                + (mayDecline ? ["--cancel-label=Cancel", "--extra-button=No"] : ["--cancel-label=No"])
        case .kdialog: command(mayDecline ? "--yesnocancel=\(markup(text))" : "--yesno=\(markup(text))")
        }
    }

    /// Reads the outcome of ``question(_:mayDecline:)``.
    func reply(status: Int32, output: String, mayDecline: Bool) -> Reply {
        if status == 0 { return .yes }
        guard mayDecline else { return .cancelled }
        switch kind {
        case .zenity: return output == "No\n" ? .no : .cancelled
        case .kdialog: return status == 1 ? .no : .cancelled
        }
    }

    private func command(_ options: String...) -> [String] {
        [path, "--title=\(Self.title)"] + (kind == .zenity ? ["--width=\(Self.width)"] : []) + options
    }

    /// Returns a text as markup for both toolkits; markup in the text itself is escaped.
    private func markup(_ text: String) -> String {
        let escapes: [Character: String] = [
            "&": "&amp;", "<": "&lt;", ">": "&gt;", "\"": "&quot;",
            // Both programs interpret backslash escapes.
            "\\": "&#92;",
        ]
        let plain = Wrapping.fitted(text, columns: Self.columns).map { escapes[$0] ?? String($0) }.joined()
        // The style keeps kdialog from wrapping the lines again.
        return kind == .zenity
            ? plain : "<qt><p style=\"white-space:pre\">\(plain.replacing("\n", with: "<br>"))</p></qt>"
    }
}

extension String {
    fileprivate func components(separatedBy separator: String) -> [String] {
        split(separator: separator, omittingEmptySubsequences: false).map(String.init)
    }
}
