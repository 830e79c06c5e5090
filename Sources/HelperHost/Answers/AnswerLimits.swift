import ForeignText
import HotspotCore
import Varlink

/// The limits on an answer. A longer value is cut, and the command continues. Threat R2: a helper is buggy.
public enum AnswerLimits {
    private enum Limit {
        /// The limit of a text in octets. Half an address is useless, so an address that is too long is left out.
        case text(Int), address(Int)
        case amount(Int)
        /// The number of entries of a list, and octets of an entry.
        case list(Int, Int)
    }

    private static let common: [(String, Limit)] = [
        ("reason", .text(2048)), ("portal.pin", .text(128)), ("portal.kind", .text(64)), ("portal.title", .text(256)),
        ("session.venueURL", .address(2048)), ("session.secondsRemaining", .amount(Session.secondsLimit)),
        ("session.bytesRemaining", .amount(Session.bytesLimit)), ("session.maintainAfter", .amount(Session.secondsLimit)),
    ]
    private static let limits =
        common + common.map { ("reply." + $0, $1) }
        + [("reply.imitates", .text(64)), ("reply.trace", .list(100, 2048)), ("needs", .list(64, 128))]

    /// Returns one sentence for each value that is cut from an answer, for the author of the helper.
    public static func losses(in parameters: JSONValue) -> [String] { cut(parameters).losses }

    /// Cuts everything except the prompt, which ``Prompt/limited`` cuts when it is shown.
    static func cut(_ parameters: JSONValue) -> (kept: JSONValue, losses: [String]) {
        var (kept, losses) = (parameters, [String]())
        for (path, limit) in limits {
            guard let value = kept[at: path], let (cut, loss) = Self.cut(value, limit) else { continue }
            kept[at: path] = cut
            losses.append("\"\(path)\" \(loss)")
        }
        return (kept, losses)
    }

    /// Returns the part of a value that is kept, and the sentence about it; `nil` for a value within its limit.
    private static func cut(_ value: JSONValue, _ limit: Limit) -> (JSONValue?, String)? {
        switch limit {
        case .text(let limit):
            guard let text = value.string, let start = Printable.beginning(of: text, limit: limit) else { return nil }
            return (.string(start), "has \(text.utf8.count) octets; the first \(limit) are kept")
        case .address(let limit):
            guard let text = value.string, text.utf8.count > limit else { return nil }
            return (nil, "has \(text.utf8.count) octets, more than \(limit); hotspotd ignores it")
        case .amount(let limit):
            guard let amount = value.integer, Session.remaining(amount, upTo: limit) == nil else { return nil }
            return (nil, "is \(amount), not from 0 to \(limit); hotspotd ignores it")
        case .list(let limit, let length):
            guard let all = value.array, all.count > limit || all.contains(where: { ($0.string?.utf8.count ?? 0) > length })
            else { return nil }
            let entries = all.prefix(limit).map { cut($0, .text(length))?.0 ?? $0 }
            return (.array(entries), "has \(all.count) entries; the first \(limit) are kept, with at most \(length) octets each")
        }
    }
}

extension JSONValue {
    /// The value at a path, such as `portal.kind`. Setting a value at a path that leads nowhere does nothing.
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
    /// The largest prompt as JSON, in octets, so that an answer with several prompts still fits a client's limit.
    public static let octetLimit = 64 * 1024

    /// Whether the prompt is short enough for a client.
    public var fits: Bool { Coding.encode(self).count <= Self.octetLimit }
}
