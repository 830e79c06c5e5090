import ForeignText
import HotspotCore
import PortalPages

/// The meaning of a price in the text of a form.
enum PriceMention: Hashable, Sendable {
    /// There is no price, or the price is for something else, such as a lost key.
    case elsewhere
    /// The price may be for the access; with the words around the price.
    case unclear(String)
    /// The access costs money.
    case access

    /// Reads the text around each price in a form.
    init(of form: TypedForm, on page: TypedPage) {
        if let hidden = form.controls.first(where: { Self.isHiddenSum($0.control) }) {
            self = .unclear("\(hidden.name) \(hidden.value)")
            return
        }
        guard form.words.hasPrice else {
            self = .elsewhere
            return
        }
        // If the page has preselected a free choice, the paid choices are not sent, so their words do not count as a price.
        var text = form.costly.reduce(form.text) { $0.replacing($1, with: "\n") }
        guard form.costly.isEmpty || Purposes(of: text).hasPrice else {
            self = .elsewhere
            return
        }
        // A paragraph without a full stop is also a sentence.
        for sentence in page.texts where sentence.words.hasPrice && sentence.text.split(separator: " ").count > 2 {
            text = text.replacing(sentence.text, with: "\n" + sentence.text + "\n")
        }
        let priced = Clause.priced(in: text)
        // A price in a box or in another button is not taken for the price of the access, because neither is sent.
        let boxes = form.inputs.filter { $0.kind == .checkbox && $0.label.hasPrice }.map(\.control.label)
        let others = form.submits.filter { $0.label.hasPrice && $0.control != form.button?.control }.map(\.control.label)
        guard !priced.contains(where: { clause in clause.isAccess && !(boxes + others).contains { $0.contains(clause.text) } })
        else {
            self = .access
            return
        }
        let open =
            boxes + priced.filter { clause in clause.mayBeAccess && !others.contains { $0.contains(clause.text) } }.map(\.text)
        self = (open + (priced.isEmpty ? [form.text] : [])).first.map { Self.unclear($0) } ?? .elsewhere
    }

    /// Reads the prices beside a form: such a price may apply to the click, or be added to the room's bill. Beside a form for an account or a code,
    /// prices do not count, because the guest has already paid.
    init(beside form: TypedForm, on page: TypedPage) {
        self = .elsewhere
        if form.button?.label.isFree ?? false { return }
        let isPaid = !form.passwords.isEmpty || form.typed.contains(where: \.words.isCode)
        if !form.typed.isEmpty, isPaid || page.words.isFree { return }
        // A price in another form or in a link belongs to that form or link.
        let others = page.forms.map(\.form.text) + page.links.map(\.link.text)
        let beside = page.texts.filter { sentence in
            sentence.words.hasPrice && !others.contains { $0.contains(sentence.text) }
        }
        let priced = beside.flatMap { Clause.priced(in: $0.text) }
        if let clause = priced.first(where: { form.typed.isEmpty ? $0.mayBeAccess : $0.isAccess }) {
            self = .unclear(clause.text)
        }
    }

    /// The beginning of the name of the box for a price.
    static let field = ConsentRequired.prefix + "price:"

    /// The box that the user ticks to log in despite a price; it is shown at each login.
    var box: Field? {
        guard case .unclear(let words) = self else { return nil }
        // The name depends on the words, so the tick counts only for these words.
        let name = Self.field + Terms.fingerprint(of: words).prefix(8)
        return Field(
            name: name, label: "The page mentions a price: \"\(Printable.text(words, limit: 100))\". Log in anyway",
            kind: .checkbox, required: true)
    }

    /// Returns whether a hidden control sends a sum that is not zero.
    private static func isHiddenSum(_ control: HTMLControl) -> Bool {
        guard control.kind == .hidden,
            ["price", "amount", "cost", "total", "preis", "prix", "precio", "prezzo"]
                .contains(control.name.lowercased())
        else { return false }
        return Double(control.value.replacing(",", with: ".")).map { $0 > 0 } ?? Currencies.all.findsSum(in: control.value)
    }
}

/// A part of a text between full stops and commas, with a price.
private struct Clause {
    let text: String
    let words: Purposes

    var mayBeAccess: Bool { !words.isExtra || soundsLikeTariff }
    var isAccess: Bool { !words.isExtra && soundsLikeTariff }

    /// Whether the sum is beside another number, such as a time or an amount of data, or beside words for access.
    private var soundsLikeTariff: Bool {
        let numbers = text.split { !Currencies.isOfAmount($0) }.filter { $0.contains(where: \.isNumber) }
        return numbers.count > 1 || words.isTariff
    }

    /// Returns the clauses of a text that contain a price; a sum on its own belongs to the part before it.
    static func priced(in text: String) -> [Clause] {
        let letters = Array(text)
        var parts = [""]
        for (index, letter) in letters.enumerated() {
            let isInNumber = index + 1 < letters.count && letters[index + 1].isNumber
            let isPoint = (letter == "." || letter == ",") && !isInNumber && !parts[parts.count - 1].hasSuffix("Rs")
            if isPoint || stops.contains(letter) { parts.append("") } else { parts[parts.count - 1].append(letter) }
        }
        var clauses: [String] = []
        for part in parts.map({ PageText.squeezed($0, limit: .max) }) where !part.isEmpty {
            if Currencies.all.isOnlySum(part), let last = clauses.popLast() {
                clauses.append(last + ", " + part)
            } else {
                clauses.append(part)
            }
        }
        return clauses.map { Clause(text: $0, words: Purposes(of: $0)) }.filter(\.words.hasPrice)
    }

    private static let stops: Set<Character> = ["!", "?", ";", "\n", "(", ")", "|", "•", "·", "。", "、", "，", "！", "？"]
}
