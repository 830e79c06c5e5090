import HelperKit
import PortalPages

/// A layer that appears over the page after a form, asks no questions, and has one button, which closes it. Its words count as words of the page
/// below, like those of a script's dialog.
struct TellingDialog {
    /// The button that closes the layer.
    let button: HTMLControl
    /// The text of the layer, without the text of its buttons.
    let words: String

    /// The largest text of such a dialog, in octets.
    private static let textLimit = 400

    /// Returns `nil` if the layer asks a question, names a price or terms, or its button may do more than close it.
    init?(covering page: HTMLPage) {
        guard page.forms.count == 1, let form = page.forms.first.map(TypedForm.init), form.inputs.isEmpty, page.links.isEmpty,
            page.text.utf8.count <= Self.textLimit
        else { return nil }
        let text = Purposes(of: page.text)
        guard !text.isPayment, !text.isTerms, !text.bindsReader, !text.isCookieNotice else { return nil }
        // A cross in the corner, which also closes the layer, does not count as a second button.
        let named = form.submits.filter { !$0.isDisabled && !$0.label.closes($0.control.label) }
        let buttons = named.isEmpty ? form.submits.filter { !$0.isDisabled } : named
        guard let button = buttons.first, named.count <= 1, named.isEmpty || button.label.onlyGoesOn else { return nil }
        self.button = button.control
        let labels = Set(form.submits.map(\.control.label))
        words = page.sentences.filter { !labels.contains($0) }.joined(separator: " ")
    }

    /// Returns the words of dialogs as markup. If the page asks again for sent answers, and the words do not sound like success, the words are marked
    /// as an error.
    static func markup(of told: [String], on page: HTMLPage, behind sent: HTMLForm?) -> String {
        let names = sent?.inputs.map(\.name) ?? []
        let asksAgain = !names.isEmpty && page.forms.contains { $0.inputs.map(\.name) == names }
        return told.map { words in
            let isError = asksAgain && !Purposes(of: words).soundsLikeSuccess
            let text = words.replacing("&", with: "&amp;").replacing("<", with: "&lt;")
            return isError ? "<p role=\"alert\">\(text)</p>" : "<p>\(text)</p>"
        }.joined()
    }
}

extension Purposes {
    /// Whether a button with this label closes the dialog: its words say so, or it has no letters, such as a cross.
    fileprivate func closes(_ label: String) -> Bool { has(.close) || !label.contains(where: \.isLetter) }

    /// Whether a button with these words only leads on or back.
    fileprivate var onlyGoesOn: Bool {
        (isOnwardButton || leadsBack) && !isTerms && !isFree && !isLogout && !isSocial && !isPayment && !isAdvertising
            && !declines
    }
}
