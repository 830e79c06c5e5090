import HotspotCore

/// How much of an answer is kept. What is more is cut, and the command goes on.
public enum AnswerLimits {
    /// Octets of an address, of a reason, and of a line of a trace.
    public static let text = 2048
    /// Lines of a trace.
    public static let traceLines = 100
    /// Fields that an evaluation names, and octets of each.
    public static let (needs, need) = (64, 128)
    /// Octets of what a portal says of itself.
    public static let (pin, kind, title) = (128, 64, 256)

    /// What is cut of the parameters of an answer, for the author of a helper: a sentence for each.
    public static func losses(in parameters: JSONValue) -> [String] {
        var losses: [String] = []
        func text(_ value: JSONValue?, _ path: String, _ limit: Int) {
            guard let text = value?.string else { return }
            let length = text.utf8.count
            guard length > limit else { return }
            losses.append("«\(path)» has \(length) octets; \(limit) are kept")
        }
        func list(_ value: JSONValue?, _ path: String, _ limit: Int, of length: Int) {
            guard let all = value?.array else { return }
            if all.count > limit { losses.append("«\(path)» has \(all.count) entries; the first \(limit) are kept") }
            let long = all.count { ($0.string?.utf8.count ?? 0) > length }
            if long > 0 { losses.append("«\(path)» has \(long) entries of more than \(length) octets, which are cut") }
        }
        func portal(_ value: JSONValue?, _ path: String) {
            text(value?["pin"], path + ".pin", pin)
            text(value?["kind"], path + ".kind", kind)
            text(value?["title"], path + ".title", title)
        }
        func amount(_ value: JSONValue?, _ path: String, _ limit: Int) {
            guard let amount = value?.integer, Session.remaining(amount, upTo: limit) == nil else { return }
            losses.append("«\(path)» is \(amount), not from 0 to \(limit); no limit is known then")
        }
        for (value, path) in [(parameters, ""), (parameters["reply"] ?? [:], "reply.")] {
            text(value["reason"], path + "reason", Self.text)
            portal(value["portal"], path + "portal")
            text(value["session"]?["venueURL"], path + "session.venueURL", Self.text)
            amount(value["session"]?["secondsRemaining"], path + "session.secondsRemaining", Session.secondsLimit)
            amount(value["session"]?["bytesRemaining"], path + "session.bytesRemaining", Session.bytesLimit)
        }
        list(parameters["reply"]?["trace"], "reply.trace", traceLines, of: Self.text)
        list(parameters["needs"], "needs", needs, of: need)
        return losses
    }
}
