import ForeignText
import HotspotCore
import Varlink

/// How much of an answer is kept; the rest is cut, and the command goes on. Threat R2: a helper is buggy.
public enum AnswerLimits {
    /// Octets of an address, of a reason, and of a line of a trace.
    public static let text = 2048
    /// Lines of a trace.
    public static let traceLines = 100
    /// Fields that an evaluation names, and octets of each.
    public static let (needs, need) = (64, 128)
    /// Octets of what describes a portal.
    public static let (pin, kind, title) = (128, 64, 256)

    /// Names what is cut of the parameters of an answer, for the author of a helper: one sentence each.
    public static func losses(in parameters: JSONValue) -> [String] {
        func value(_ path: String) -> JSONValue? {
            path.split(separator: ".").reduce(Optional(parameters)) { $0?[String($1)] }
        }
        let texts = [
            ("reason", text), ("portal.pin", pin), ("portal.kind", kind), ("portal.title", title), ("session.venueURL", text),
        ]
        let amounts = [
            ("session.secondsRemaining", Session.secondsLimit), ("session.bytesRemaining", Session.bytesLimit),
        ]
        var losses: [String] = []
        for parent in ["", "reply."] {
            for (path, limit) in texts {
                guard let length = value(parent + path)?.string?.utf8.count, length > limit else { continue }
                losses.append("\"\(parent)\(path)\" has \(length) octets; \(limit) are kept")
            }
            for (path, limit) in amounts {
                guard let amount = value(parent + path)?.integer, Session.remaining(amount, upTo: limit) == nil else { continue }
                losses.append("\"\(parent)\(path)\" is \(amount), not from 0 to \(limit); no limit is known then")
            }
        }
        for (path, limit, length) in [("reply.trace", traceLines, text), ("needs", needs, need)] {
            guard let all = value(path)?.array else { continue }
            if all.count > limit { losses.append("\"\(path)\" has \(all.count) entries; the first \(limit) are kept") }
            let long = all.count { ($0.string?.utf8.count ?? 0) > length }
            if long > 0 { losses.append("\"\(path)\" has \(long) entries of more than \(length) octets, which are cut") }
        }
        return losses
    }
}

extension Evaluation {
    /// The evaluation with its texts and lists cut to ``AnswerLimits``.
    var limited: Evaluation {
        Evaluation(
            confidence, portal: portal?.limited,
            needs: needs?.prefix(AnswerLimits.needs).map { $0.beginning(AnswerLimits.need) }, session: session?.limited,
            reason: reason?.beginning(AnswerLimits.text))
    }
}

extension Reply {
    /// The reply with its texts and lists cut to ``AnswerLimits``; the prompt is cut by ``Prompt/limited`` when it is shown.
    var limited: Reply {
        Reply(
            result, prompt: prompt, portal: portal?.limited, session: session?.limited,
            reason: reason?.beginning(AnswerLimits.text),
            trace: trace?.prefix(AnswerLimits.traceLines).map { $0.beginning(AnswerLimits.text) })
    }
}

extension Portal {
    fileprivate var limited: Portal {
        Portal(
            origin: origin, pin: pin?.beginning(AnswerLimits.pin), kind: kind.beginning(AnswerLimits.kind),
            title: title?.beginning(AnswerLimits.title))
    }
}

extension Session {
    fileprivate var limited: Session {
        Session(
            secondsRemaining: Self.remaining(secondsRemaining, upTo: Self.secondsLimit),
            bytesRemaining: Self.remaining(bytesRemaining, upTo: Self.bytesLimit), canExtend: canExtend,
            venueURL: venueURL.flatMap { $0.utf8.count <= AnswerLimits.text ? $0 : nil }, memory: memory)
    }
}

extension String {
    /// At most `limit` octets of it. Octets, because one character may have any number of them.
    fileprivate func beginning(_ limit: Int) -> String { Printable.beginning(of: self, limit: limit) ?? self }
}

extension Prompt {
    /// The most octets of a prompt as JSON, so that an answer with several prompts still fits a client's limit.
    public static let octetLimit = 64 * 1024
    /// The most octets that are kept of terms.
    private static let termsLimit = 32 * 1024
    private static let (titleLimit, messageLimit, labelLimit) = (200, 1000, 200)
    private static let (fieldLimit, nameLimit, valueLimit) = (32, 256, 200)
    private static let (choiceLimit, choiceLength) = (256, 256)
    private static let addressLimit = 2048

    /// The prompt cut to what a person can be asked: 32 fields, short texts, and terms of at most 32 KiB. Nothing is escaped, because that
    /// depends on the screen; an address of the terms that would have to be escaped is left out.
    public var limited: Prompt {
        var names: Set<String> = []
        return Prompt(
            title: Printable.cut(title, limit: Self.titleLimit),
            message: message.map { Printable.cut($0, limit: Self.messageLimit) },
            fields: fields.prefix(Self.fieldLimit).map { field in
                Field(
                    // No answer can be kept under a name that is too long or not unique.
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
        // A user's name in front of the host could be read as the host.
        let place = url.drop { $0 != ":" }.dropFirst(3).prefix { $0 != "/" && $0 != "?" && $0 != "#" && $0 != "\\" }
        return url.utf8.count <= addressLimit && (url.hasPrefix("https://") || url.hasPrefix("http://")) && !place.contains("@")
            && Printable.text(of: url.utf8) == url
    }

    /// Whether it is short enough for a client.
    public var fits: Bool { Coding.encode(self).count <= Self.octetLimit }

    /// Names what ``limited`` cuts, for the author of a helper: one sentence each.
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
            let name = "the field \"\(Printable.text(field.name, limit: 64))\""
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
