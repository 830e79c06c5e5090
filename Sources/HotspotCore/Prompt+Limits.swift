import ForeignText

extension Prompt {
    private static let (fieldLimit, nameLimit, valueLimit) = (32, 256, 200)
    private static let (choiceLimit, choiceLength) = (256, 256)
    private static let addressLimit = 2048

    /// The prompt, cut to a size that a person can answer: 32 fields, short texts, and terms of at most 32 KiB. Texts are not escaped, because
    /// escapes depend on the screen. ``termsURL`` is left out if it would need escapes.
    public var limited: Prompt { cut().prompt }

    /// One sentence for each part that ``limited`` cuts, for the author of a helper.
    public var losses: [String] { cut().losses }

    private func cut() -> (prompt: Prompt, losses: [String]) {
        var (cut, losses, names) = (self, [String](), Set<String>())
        func text(_ what: String, _ whole: String, _ limit: Int) -> String {
            let shown = Printable.cut(whole, limit: limit)
            if shown != whole { losses.append("\(what) has \(whole.utf8.count) octets; \(limit) are shown") }
            return shown
        }
        cut.title = text("the title", title, 200)
        cut.message = message.map { text("the message", $0, 1000) }
        cut.terms = terms.map { text("the text of the terms", $0, 32 * 1024) }
        if let url = termsURL, !Self.isAddress(url) {
            cut.termsURL = nil
            losses.append("`termsURL` is left out: it takes http:// or https:// and at most \(Self.addressLimit) plain octets")
        }
        if fields.count > Self.fieldLimit {
            losses.append("it has \(fields.count) fields; only the first \(Self.fieldLimit) are shown")
        }
        cut.fields = fields.prefix(Self.fieldLimit).map { field in
            var shown = field
            let name = "the field \"\(Printable.text(field.name, limit: 64))\""
            // Removes a name that is too long or not unique: no answer can be stored under it.
            if !field.name.isEmpty, field.name.utf8.count > Self.nameLimit || !names.insert(field.name).inserted {
                shown.name = ""
                losses.append(
                    "\(name) has a name of more than \(Self.nameLimit) octets, or the name of an earlier field, and loses it")
            }
            shown.label = text("the label of \(name)", field.label, 200)
            if let value = field.value, value.utf8.count > Self.valueLimit {
                shown.value = nil
                losses.append("\(name) is not prefilled: its value has more than \(Self.valueLimit) octets")
            }
            let choices = field.choices?.prefix(Self.choiceLimit).filter { $0.utf8.count <= Self.choiceLength }
            if let all = field.choices?.count, let choices, choices.count < all {
                shown.choices = choices
                losses.append(
                    "\(name) has \(all) choices; only \(choices.count) are offered: at most \(Self.choiceLimit), of at most \(Self.choiceLength) octets"
                )
            }
            return shown
        }
        return (cut, losses)
    }

    private static func isAddress(_ url: String) -> Bool {
        // Rejects a user name before the host, because people could mistake it for the host.
        let place = url.drop { $0 != ":" }.dropFirst(3).prefix { $0 != "/" && $0 != "?" && $0 != "#" && $0 != "\\" }
        return url.utf8.count <= addressLimit && (url.hasPrefix("https://") || url.hasPrefix("http://")) && !place.contains("@")
            && Printable.text(of: url.utf8) == url
    }
}
