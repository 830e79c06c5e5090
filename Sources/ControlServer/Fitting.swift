import ForeignText
import HotspotCore
import Varlink

/// Answers that hold a list: as much of it as fits into one message. A client that is sent more than may wait for it is cut off, and would
/// have no answer at all.
enum Fitting {
    /// Octets of an answer, with room to spare below what may wait for a client.
    static let room = Server.Limits().output * 3 / 4

    /// The octets of a reply's parameters: the list, as many of the first as fit, and what else belongs to the reply.
    ///
    /// - Parameters:
    ///   - name: the member that holds the list.
    ///   - others: the other members; `omitted`: so many elements are left out.
    ///   - order: who comes first if not all fit; otherwise, and without it, the order stays as it is.
    static func reply<Element: Encodable>(
        _ name: String, _ elements: some Collection<Element>, with others: (_ omitted: Int) -> [String: JSONValue] = Self.omitted,
        inOrder order: ((Element, Element) -> Bool)? = nil
    ) -> [UInt8] {
        var octets = Array("{\"\(name)\":[".utf8)
        var room = room - octets.count - Coding.encode(others(elements.count)).count
        var count = 0
        for element in elements {
            let piece = Coding.encode(element)
            room -= piece.count + 1
            guard room >= 0 else { break }
            if count > 0 { octets.append(UInt8(ascii: ",")) }
            octets += piece
            count += 1
        }
        if count < elements.count, let order { return reply(name, elements.sorted(by: order), with: others) }
        octets.append(UInt8(ascii: "]"))
        let rest = Coding.encode(others(elements.count - count))
        // An object's members without its brackets.
        if rest.count > 2 { octets += [UInt8(ascii: ",")] + rest.dropFirst().dropLast() }
        octets.append(UInt8(ascii: "}"))
        return octets
    }

    /// How many are left out; nothing at all if none is.
    static func omitted(_ count: Int) -> [String: JSONValue] { count > 0 ? ["omitted": .integer(count)] : [:] }
}

/// What is shown of texts and lists that others wrote: so much that one element of an answer never is too long for it.
private enum Shown {
    static let text = 1024
    static let list = 64
    static let claims = 16
    static let problems = 16

    /// The first of a list, each cut; and how many are left out.
    static func list(_ texts: [String]) -> (shown: [String], omitted: Int?) {
        (texts.prefix(list).map { Printable.cut($0, limit: 256) }, texts.count > list ? texts.count - list : nil)
    }
}

extension [Problem] {
    /// The first, with their texts cut; the last one says how many are left out.
    var shown: [Problem] {
        var shown = prefix(Shown.problems).map { problem in
            Problem(
                problem.code, Printable.cut(problem.message, limit: Shown.text),
                hint: problem.hint.map { Printable.cut($0, limit: Shown.text) })
        }
        if count > shown.count { shown.append(Problem("moreProblems", "\(count - shown.count) more problems are left out.")) }
        return shown
    }
}

extension HelperStatus {
    /// Cut to what is shown.
    var shown: HelperStatus {
        var shown = self
        (shown.ssids, shown.moreSSIDs) = Shown.list(ssids)
        (shown.disabledFor, shown.moreDisabledFor) = Shown.list(disabledFor)
        shown.displayName = Printable.cut(displayName, limit: Shown.text)
        shown.problems = problems.shown
        return shown
    }
}

extension ScannedNetwork {
    /// Cut to what is shown; of the claims the surest stay.
    var shown: ScannedNetwork {
        guard claims.count > Shown.claims else { return self }
        var shown = self
        shown.claims = Array(
            (claims.filter { $0.confidence == .high } + claims.filter { $0.confidence != .high }).prefix(Shown.claims))
        shown.moreClaims = claims.count - Shown.claims
        return shown
    }

    /// Whether this one is of more use than another, if one of them has to go: the joined network, then the strongest.
    func comesBefore(_ other: ScannedNetwork) -> Bool { (joined ? 1 : 0, signal) > (other.joined ? 1 : 0, other.signal) }
}

extension InterfaceStatus {
    /// Cut to what is shown.
    var shown: InterfaceStatus {
        var shown = self
        shown.problems = problems.shown
        return shown
    }
}

extension Step {
    /// Cut to what is shown.
    var shown: Step {
        guard detail.utf8.count > 4 * Shown.text else { return self }
        var shown = self
        shown.detail = Printable.cut(detail, limit: 4 * Shown.text)
        return shown
    }
}
