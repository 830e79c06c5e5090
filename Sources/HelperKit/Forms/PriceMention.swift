import ForeignText
import HotspotCore

/// What a price in the text of a form is for.
enum PriceMention: Hashable, Sendable {
    /// There is no price, or it is for something else, such as a lost key.
    case elsewhere
    /// It may be for the access: the words around it.
    case unclear(String)
    /// The access costs.
    case access

    /// Reads the text around each price of a form.
    init(of form: HTMLForm, on page: HTMLPage) {
        if let hidden = form.controls.first(where: Self.isHiddenSum) {
            self = .unclear("\(hidden.name) \(hidden.value)")
            return
        }
        guard FormWords.hasPrice(form.text) else {
            self = .elsewhere
            return
        }
        var text = form.text
        // A paragraph without a stop is a sentence too.
        for sentence in page.sentences where FormWords.hasPrice(sentence) && sentence.split(separator: " ").count > 2 {
            text = text.replacing(sentence, with: "\n" + sentence + "\n")
        }
        let priced = Self.clauses(of: text).filter(FormWords.hasPrice)
        // A price in a box is the box's, which is not sent.
        let boxes = form.inputs.filter { $0.kind == .checkbox }.map(\.label).filter(FormWords.hasPrice)
        guard !priced.contains(where: { clause in Self.isAccess(clause) && !boxes.contains { $0.contains(clause) } }) else {
            self = .access
            return
        }
        let open = boxes + priced.filter(Self.mayBeAccess)
        self = (open + (priced.isEmpty ? [form.text] : [])).first.map { Self.unclear($0) } ?? .elsewhere
    }

    /// Whether a hidden control sends a sum that is not zero.
    private static func isHiddenSum(_ control: HTMLControl) -> Bool {
        guard control.kind == .hidden,
            ["price", "amount", "cost", "total", "preis", "prix", "precio", "prezzo"]
                .contains(control.name.lowercased())
        else { return false }
        return Double(control.value.replacing(",", with: ".")).map { $0 > 0 } ?? FormWords.hasPrice(control.value)
    }

    /// The box that the user ticks to go on all the same; it is asked for at each login.
    var box: Field? {
        guard case .unclear(let words) = self else { return nil }
        // The answer is for these words alone.
        let name = FormEngine.priceField + Terms.fingerprint(of: words).prefix(8)
        return Field(
            name: name, label: "The page mentions a price: \"\(Printable.text(words, limit: 100))\". Log in all the same",
            kind: .checkbox, required: true)
    }

    /// Reads the prices that stand on the page beside a form: one may be what the click costs, or be put on the room's bill. An account or a
    /// code was paid before.
    init(beside form: HTMLForm, on page: HTMLPage) {
        self = .elsewhere
        if FilledForm.button(of: form).map({ FormWords.isFree($0.label) }) ?? false { return }
        let typed = FormChoice.typed(in: form)
        let isPaid = !form.passwords.isEmpty || typed.contains { FormWords.isCode($0.words) }
        if !typed.isEmpty, isPaid || FormWords.isFree(page.text) { return }
        // A price in another form, or in a link, is that one's.
        let others = page.forms.map(\.text) + page.links.map(\.text)
        let beside = page.sentences.filter { sentence in
            FormWords.hasPrice(sentence) && !others.contains { $0.contains(sentence) }
        }
        let priced = beside.flatMap(Self.clauses).filter(FormWords.hasPrice)
        if let words = priced.first(where: typed.isEmpty ? Self.mayBeAccess : Self.isAccess) { self = .unclear(words) }
    }

    private static func mayBeAccess(_ clause: String) -> Bool { !FormWords.isExtra(clause) || soundsLikeTariff(clause) }

    private static func isAccess(_ clause: String) -> Bool { !FormWords.isExtra(clause) && soundsLikeTariff(clause) }

    /// Whether a sum stands beside another number, such as a time or an amount of data, or words for access.
    private static func soundsLikeTariff(_ clause: String) -> Bool {
        let numbers = clause.split { !FormWords.isOfAmount($0) }.filter { $0.contains(where: \.isNumber) }
        return numbers.count > 1 || FormWords.isTariff(clause)
    }

    /// Returns the parts of a text between stops and commas; a bare sum belongs to the part before it.
    private static func clauses(of text: String) -> [String] {
        let letters = Array(text)
        var parts = [""]
        for (index, letter) in letters.enumerated() {
            let isInNumber = index + 1 < letters.count && letters[index + 1].isNumber
            let isPoint = (letter == "." || letter == ",") && !isInNumber && !parts[parts.count - 1].hasSuffix("Rs")
            if isPoint || stops.contains(letter) { parts.append("") } else { parts[parts.count - 1].append(letter) }
        }
        var clauses: [String] = []
        for part in parts.map({ PageText.squeezed($0, limit: .max) }) where !part.isEmpty {
            if FormWords.isBarePrice(part), let last = clauses.popLast() {
                clauses.append(last + ", " + part)
            } else {
                clauses.append(part)
            }
        }
        return clauses
    }

    private static let stops: Set<Character> = ["!", "?", ";", "\n", "(", ")", "|", "•", "·", "。", "、", "，", "！", "？"]
}
