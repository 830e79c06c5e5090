import ControlAPI
import ForeignText
import HotspotCore
import Varlink

/// Makes replies that contain a list, with as many elements as fit into one message. The server disconnects a client if more than
/// ``Server/ClientLimits/output`` octets wait for it, so a longer reply would never arrive.
enum ReplyBudget {
    /// The largest number of octets in a reply, well below the number that may wait for a client.
    static let capacity = Server.ClientLimits().output * 3 / 4

    /// Returns the octets of a reply's parameters: the list, as many of its first elements as fit, and the other members.
    ///
    /// - Parameters:
    ///   - name: the member that contains the list.
    ///   - others: makes the other members, from the number of elements that are left out.
    ///   - order: sorts the elements, but only if some of them do not fit.
    ///   - written: writes an element.
    static func reply<Element: Encodable>(
        _ name: String, _ elements: some Collection<Element>, with others: (_ omitted: Int) -> [String: JSONValue] = Self.omitted,
        inOrder order: ((Element, Element) -> Bool)? = nil, written: (Element) -> [UInt8] = { Coding.encode($0) }
    ) -> [UInt8] {
        var octets = Array("{\"\(name)\":[".utf8)
        var rest = capacity - octets.count - Coding.encode(others(elements.count)).count
        var count = 0
        for element in elements {
            let piece = written(element)
            rest -= piece.count + 1
            guard rest >= 0 else { break }
            if count > 0 { octets.append(UInt8(ascii: ",")) }
            octets += piece
            count += 1
        }
        if count < elements.count, let order { return reply(name, elements.sorted(by: order), with: others, written: written) }
        octets.append(UInt8(ascii: "]"))
        let members = Coding.encode(others(elements.count - count))
        // Append the other members without the braces of their object.
        if members.count > 2 { octets += [UInt8(ascii: ",")] + members.dropFirst().dropLast() }
        octets.append(UInt8(ascii: "}"))
        return octets
    }

    /// Returns the member `omitted`, if elements are left out.
    static func omitted(_ count: Int) -> [String: JSONValue] { count > 0 ? ["omitted": .integer(count)] : [:] }
}

/// Limits for texts and lists that come from helpers and networks, so that one element always fits into a reply.
private enum Shown {
    static let text = 1024
    static let list = 64
    static let claims = 16
    static let problems = 16

    /// Returns the first texts of a list, each shortened, and the number of texts that are left out.
    static func list(_ texts: [String]) -> (shown: [String], omitted: Int?) {
        (texts.prefix(list).map { Printable.cut($0, limit: 256) }, texts.count > list ? texts.count - list : nil)
    }
}

extension [Problem] {
    /// The first problems, with shortened texts; if some are left out, a last problem gives their number.
    var shown: [Problem] {
        var shown = prefix(Shown.problems).map { problem in
            Problem(
                problem.code, Printable.cut(problem.message, limit: Shown.text),
                hint: problem.hint.map { Printable.cut($0, limit: Shown.text) })
        }
        if count > shown.count { shown.append(Problem(.moreProblems, "\(count - shown.count) more problems are not shown.")) }
        return shown
    }
}

extension HelperStatus {
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
    /// The network. If it has too many claims, only the claims of the highest confidence are left.
    var shown: ScannedNetwork {
        guard claims.count > Shown.claims else { return self }
        var shown = self
        let high = claims.filter { $0.confidence == Confidence.high.rawValue }
        let others = claims.filter { $0.confidence != Confidence.high.rawValue }
        shown.claims = Array((high + others).prefix(Shown.claims))
        shown.moreClaims = claims.count - Shown.claims
        return shown
    }
}

/// Writes the members in the order of their names.
extension ScannedNetwork: JSONWritable {
    package func write(to writer: inout JSONWriter) {
        writer.object {
            $0.member("announced", announced)
            $0.member("autoJoin", autoJoin)
            $0.member("bssid", bssid)
            $0.member("claims", claims)
            $0.member("disabled", disabled)
            $0.member("frequency", frequency)
            $0.member("interface", interface)
            $0.member("joined", joined)
            $0.member("lastOutcome", lastOutcome)
            $0.member("lastOutcomeTime", lastOutcomeTime)
            $0.member("lastSeen", lastSeen)
            $0.member("moreClaims", moreClaims)
            $0.member("security", security)
            $0.member("signal", signal)
            $0.member("signalStrength", signalStrength)
            $0.member("ssid", ssid)
            $0.member("ssidHex", ssidHex)
            $0.member("stations", stations)
        }
    }
}

extension AnnouncedAccess: JSONWritable {
    package func write(to writer: inout JSONWriter) {
        writer.object {
            $0.member("additionalStep", additionalStep)
            $0.member("anqp", anqp)
            $0.member("consortia", consortia)
            $0.member("domains", domains)
            $0.member("hessid", hessid)
            $0.member("internet", internet)
            $0.member("loginOrigin", loginOrigin)
            $0.member("loginURL", loginURL)
            $0.member("networkType", networkType)
            $0.member("openRoaming", openRoaming)
            $0.member("operators", operators)
            $0.member("passpoint", passpoint)
            $0.member("realms", realms)
            $0.member("steps", steps)
            $0.member("venueGroup", venueGroup)
            $0.member("venueNames", venueNames)
            $0.member("venueType", venueType)
            $0.member("venueURL", venueURL)
        }
    }
}

extension ClaimStatus: JSONWritable {
    package func write(to writer: inout JSONWriter) {
        writer.object {
            $0.member("confidence", confidence)
            $0.member("displayName", displayName)
            $0.member("helper", helper)
            $0.member("portalKind", portalKind)
            $0.member("ready", ready)
            $0.member("source", source)
        }
    }
}

extension InterfaceStatus {
    var shown: InterfaceStatus {
        var shown = self
        shown.problems = problems.shown
        return shown
    }
}

extension Step {
    var shown: Step {
        guard detail.utf8.count > 4 * Shown.text else { return self }
        var shown = self
        shown.detail = Printable.cut(detail, limit: 4 * Shown.text)
        return shown
    }
}
