import ForeignText
import HotspotCore
import Varlink

/// How much of an answer is kept; the rest is cut, and the command goes on. Threat R2: a helper is buggy.
public enum AnswerLimits {
    /// Octets of each text; of an address half is worth nothing, so a longer one is left out.
    private static let texts = [
        ("reason", 2048), ("portal.pin", 128), ("portal.kind", 64), ("portal.title", 256), ("session.venueURL", 2048),
    ]
    private static let amounts = [
        ("session.secondsRemaining", Session.secondsLimit), ("session.bytesRemaining", Session.bytesLimit),
    ]
    /// Entries of each list, and octets of an entry.
    private static let lists = [("reply.trace", 100, 2048), ("needs", 64, 128)]

    /// Names what is cut of the parameters of an answer, for the author of a helper: one sentence each.
    public static func losses(in parameters: JSONValue) -> [String] { cut(parameters).losses }

    /// Cuts all but the prompt, which ``Prompt/limited`` cuts when it is shown.
    static func cut(_ parameters: JSONValue) -> (kept: JSONValue, losses: [String]) {
        var (kept, losses) = (parameters, [String]())
        for parent in ["", "reply."] {
            for (key, limit) in texts {
                let path = parent + key
                guard let text = kept[at: path]?.string, let start = Printable.beginning(of: text, limit: limit) else { continue }
                kept[at: path] = key == "session.venueURL" ? nil : .string(start)
                losses.append("\"\(path)\" has \(text.utf8.count) octets; \(limit) are kept")
            }
            for (key, limit) in amounts {
                let path = parent + key
                guard let amount = kept[at: path]?.integer, Session.remaining(amount, upTo: limit) == nil else { continue }
                kept[at: path] = nil
                losses.append("\"\(path)\" is \(amount), not from 0 to \(limit); no limit is known then")
            }
        }
        for (path, limit, length) in lists {
            guard let all = kept[at: path]?.array else { continue }
            if all.count > limit { losses.append("\"\(path)\" has \(all.count) entries; the first \(limit) are kept") }
            let long = all.count { ($0.string?.utf8.count ?? 0) > length }
            if long > 0 { losses.append("\"\(path)\" has \(long) entries of more than \(length) octets, which are cut") }
            let entries = all.prefix(limit).map { entry in
                entry.string.flatMap { Printable.beginning(of: $0, limit: length) }.map(JSONValue.string) ?? entry
            }
            kept[at: path] = .array(entries)
        }
        return (kept, losses)
    }
}

extension JSONValue {
    /// The value at a path, such as `portal.kind`. A value for a path that leads nowhere is ignored.
    fileprivate subscript(at path: String) -> JSONValue? {
        get { path.split(separator: ".").reduce(Optional(self)) { $0?[String($1)] } }
        set {
            guard case .object(var members) = self else { return }
            let keys = path.split(separator: ".", maxSplits: 1).map(String.init)
            if keys.count == 1 { members[path] = newValue } else { members[keys[0]]?[at: keys[1]] = newValue }
            self = .object(members)
        }
    }
}

extension Prompt {
    /// The most octets of a prompt as JSON, so that an answer with several prompts still fits a client's limit.
    public static let octetLimit = 64 * 1024
    private static let (fieldLimit, nameLimit, valueLimit) = (32, 256, 200)
    private static let (choiceLimit, choiceLength) = (256, 256)
    private static let addressLimit = 2048

    /// The prompt cut to what a person can be asked: 32 fields, short texts, and terms of at most 32 KiB. Nothing is escaped, because that
    /// depends on the screen; an address of the terms that would have to be escaped is left out.
    public var limited: Prompt { cut().prompt }

    /// Names what ``limited`` cuts, for the author of a helper: one sentence each.
    public var losses: [String] { cut().losses }

    /// Whether it is short enough for a client.
    public var fits: Bool { Coding.encode(self).count <= Self.octetLimit }

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
            losses.append("it has \(fields.count) fields; the first \(Self.fieldLimit) are asked")
        }
        cut.fields = fields.prefix(Self.fieldLimit).map { field in
            var shown = field
            let name = "the field \"\(Printable.text(field.name, limit: 64))\""
            // No answer can be kept under a name that is too long or not unique.
            if !field.name.isEmpty, field.name.utf8.count > Self.nameLimit || !names.insert(field.name).inserted {
                shown.name = ""
                losses.append(
                    "\(name) has a name of more than \(Self.nameLimit) octets, or that of a field before it, and loses it")
            }
            shown.label = text("the label of \(name)", field.label, 200)
            if let value = field.value, value.utf8.count > Self.valueLimit {
                shown.value = nil
                losses.append("\(name) is not filled in: its value has more than \(Self.valueLimit) octets")
            }
            let choices = field.choices?.prefix(Self.choiceLimit).filter { $0.utf8.count <= Self.choiceLength }
            if let all = field.choices?.count, let choices, choices.count < all {
                shown.choices = choices
                losses.append(
                    "\(name) has \(all) choices, and \(choices.count) are offered: at most \(Self.choiceLimit), of at most \(Self.choiceLength) octets"
                )
            }
            return shown
        }
        return (cut, losses)
    }

    private static func isAddress(_ url: String) -> Bool {
        // A user's name in front of the host could be read as the host.
        let place = url.drop { $0 != ":" }.dropFirst(3).prefix { $0 != "/" && $0 != "?" && $0 != "#" && $0 != "\\" }
        return url.utf8.count <= addressLimit && (url.hasPrefix("https://") || url.hasPrefix("http://")) && !place.contains("@")
            && Printable.text(of: url.utf8) == url
    }
}
