import ForeignText
import HotspotCore
import Varlink

extension Prompt {
    /// The most octets that a prompt may have on its way to a client, as JSON: so many of them fit into one answer.
    public static let octetLimit = 64 * 1024
    /// The most octets that are kept of terms.
    private static let termsLimit = 32 * 1024
    private static let (titleLimit, messageLimit, labelLimit) = (200, 1000, 200)
    private static let (fieldLimit, nameLimit, valueLimit) = (32, 256, 200)
    private static let (choiceLimit, choiceLength) = (256, 256)
    private static let addressLimit = 2048

    /// Cut to what a person can be asked: 32 fields, short texts, and terms of 32 KiB at most. Nothing is escaped, for whoever shows it
    /// knows best what their screen obeys; but an address of the terms that has to be escaped is none.
    public var limited: Prompt {
        var names: Set<String> = []
        return Prompt(
            title: Printable.cut(title, limit: Self.titleLimit),
            message: message.map { Printable.cut($0, limit: Self.messageLimit) },
            fields: fields.prefix(Self.fieldLimit).map { field in
                Field(
                    // A name that is too long, or another's as well, is no name that an answer could be kept under.
                    name: field.name.utf8.count <= Self.nameLimit && names.insert(field.name).inserted ? field.name : "",
                    label: Printable.cut(field.label, limit: Self.labelLimit), kind: field.kind, required: field.required,
                    choices: field.choices.map { choices in
                        choices.prefix(Self.choiceLimit).filter { $0.utf8.count <= Self.choiceLength }
                    },
                    value: field.value.flatMap { $0.utf8.count <= Self.valueLimit ? $0 : nil })
            }, termsURL: termsURL.flatMap { Self.isAddress($0) ? $0 : nil },
            terms: terms.map { Printable.cut($0, limit: Self.termsLimit) })
    }

    private static func isAddress(_ url: String) -> Bool {
        // Nobody's name stands in front of the host, which is what people read.
        let place = url.drop { $0 != ":" }.dropFirst(3).prefix { $0 != "/" && $0 != "?" && $0 != "#" && $0 != "\\" }
        return url.utf8.count <= addressLimit && (url.hasPrefix("https://") || url.hasPrefix("http://")) && !place.contains("@")
            && Printable.text(of: url.utf8) == url
    }

    /// It is no longer than a client can be sent.
    public var fits: Bool { Coding.encode(self).count <= Self.octetLimit }

    /// What ``limited`` takes away, for the author of a helper: a sentence for each.
    public var losses: [String] {
        let cut = limited
        var losses: [String] = []
        func text(_ what: String, _ whole: String?, _ shown: String?, _ limit: Int) {
            if whole != shown { losses.append("\(what) has \(whole?.utf8.count ?? 0) octets; \(limit) are shown") }
        }
        text("the title", title, cut.title, Self.titleLimit)
        text("the message", message, cut.message, Self.messageLimit)
        text("the text of the terms", terms, cut.terms, Self.termsLimit)
        if termsURL != cut.termsURL {
            losses.append("`termsURL` is left out: it takes http:// or https:// and at most \(Self.addressLimit) plain octets")
        }
        if fields.count > cut.fields.count {
            losses.append("it has \(fields.count) fields; the first \(Self.fieldLimit) are asked")
        }
        for (field, shown) in zip(fields, cut.fields) {
            let name = "the field «\(Printable.text(field.name, limit: 64))»"
            if field.name != shown.name {
                losses.append(
                    "\(name) has a name of more than \(Self.nameLimit) octets, or that of a field before it, and loses it")
            }
            text("the label of \(name)", field.label, shown.label, Self.labelLimit)
            if field.value != shown.value {
                losses.append("\(name) is not filled in: its value has more than \(Self.valueLimit) octets")
            }
            if let all = field.choices?.count, let some = shown.choices?.count, some < all {
                losses.append(
                    "\(name) has \(all) choices, and \(some) are offered: at most \(Self.choiceLimit), of at most \(Self.choiceLength) octets"
                )
            }
        }
        return losses
    }
}
