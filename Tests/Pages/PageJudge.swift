import Foundation
import HelperKit
import HotspotCore
import PortalCatalogue

/// Says of saved portal pages what the helpers ask and send there, offline: `page-judge FOLDER…`. Each folder has `page.html` and
/// `case.json`. A line of JSON is printed for each, and the totals on standard error; the exit status is 1 if one is not as its case expects.
@main struct PageJudge {
    static func main() {
        var isAsExpected = true
        var totals = Totals()
        let portals = PortalCatalogue().read().portals
        for folder in CommandLine.arguments.dropFirst() {
            guard let page = FileManager.default.contents(atPath: folder + "/page.html"),
                let text = FileManager.default.contents(atPath: folder + "/case.json"),
                let expected = try? JSONDecoder().decode(PageCase.self, from: text), let url = WebURL(expected.url)
            else {
                print("{\"folder\": \"\(folder)\", \"problem\": \"page.html or case.json cannot be read\"}")
                isAsExpected = false
                continue
            }
            let ruling = Ruling(of: SavedPage(octets: Array(page), url: url, portals: portals))
            let difference = ruling.difference(from: expected.expect)
            isAsExpected = isAsExpected && difference.isEmpty
            totals.count(ruling, difference, expected.expect)
            let line = JudgedPage(folder: folder, ruling: ruling, isAsExpected: difference.isEmpty, difference: difference)
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
            if let data = try? encoder.encode(line) { print(String(decoding: data, as: UTF8.self)) }
        }
        FileHandle.standardError.write(Data((totals.description + "\n").utf8))
        exit(isAsExpected ? 0 : 1)
    }
}

/// How often the engine did what a careful user of a browser would do.
struct Totals: CustomStringConvertible {
    private var (loggedIn, handedOver, wrong) = (0, 0, 0)
    private var (othersRight, othersWrong) = (0, 0)

    mutating func count(_ ruling: Ruling, _ difference: [String], _ expected: ExpectedRuling) {
        switch (expected.class, difference.isEmpty, ruling.class) {
        case (.loggedIn, true, .loggedIn): loggedIn += 1
        case (.loggedIn, _, .handOver): handedOver += 1
        case (.loggedIn, _, .loggedIn), (.loggedIn, _, .leaveAlone): wrong += 1
        case (.handOver, true, _), (.leaveAlone, true, _): othersRight += 1
        case (.handOver, false, _), (.leaveAlone, false, _): othersWrong += 1
        }
    }

    var description: String {
        "want a login: \(loggedIn) logged in, \(handedOver) handed over, \(wrong) wrong; others: \(othersRight) right, \(othersWrong) wrong"
    }
}

/// The content of a `case.json`.
struct PageCase: Decodable {
    let url: String
    let expect: ExpectedRuling
}

struct ExpectedRuling: Decodable {
    let `class`: Ruling.Class
    let asks: [String]?
    let submits: SentForm?
    /// Other ways that a user may take instead: one or several.
    let or: OneOrMore?
    /// Another class that is right as well, by its first word.
    let acceptAlso: String?
    /// The protocol that computes what is sent.
    let `protocol`: String?

    enum CodingKeys: String, CodingKey {
        case `class`, asks, submits, or, `protocol`
        case acceptAlso = "accept_also"
    }

    struct OneOrMore: Decodable {
        let ways: [ExpectedWay]

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            ways = try (try? container.decode([ExpectedWay].self)) ?? [container.decode(ExpectedWay.self)]
        }
    }

    func accepts(_ found: Ruling.Class) -> Bool { found == `class` || acceptAlso?.hasPrefix(found.rawValue) == true }
}

/// What a user fills in, and the request that it makes. Written as the request alone where the fields are those of the first way.
struct ExpectedWay: Decodable {
    let asks: [String]?
    let submits: SentForm?

    init(asks: [String]?, submits: SentForm?) { (self.asks, self.submits) = (asks, submits) }

    enum CodingKeys: String, CodingKey { case asks, submits }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let sent = try container.decodeIfPresent(SentForm.self, forKey: .submits) ?? SentForm(from: decoder)
        // A request alone that has nothing typed asks for nothing.
        let isTyped = sent.fields?.values.contains { $0.hasPrefix("<") } ?? false
        asks = try container.decodeIfPresent([String].self, forKey: .asks) ?? (isTyped ? nil : [])
        submits = sent
    }
}

/// One line of output.
struct JudgedPage: Encodable {
    let folder: String
    let ruling: Ruling
    let isAsExpected: Bool
    let difference: [String]
}

/// A request that a form made, with `<user:NAME>` for what the user typed, and another `<…>` for what is computed from it.
struct SentForm: Codable, Equatable {
    var method: String
    var url: String
    var fields: [String: String]?

    /// Returns the request with the query of a GET among its fields.
    var normalized: SentForm {
        guard method == "GET", let mark = url.firstIndex(of: "?") else { return self }
        var fields = fields ?? [:]
        fields.merge(Self.pairs(String(url[url.index(after: mark)...]))) { own, _ in own }
        return SentForm(method: method, url: String(url[..<mark]), fields: fields)
    }

    static func isComputed(_ value: String) -> Bool { value.hasPrefix("<") && value.hasSuffix(">") && !value.hasPrefix("<user:") }

    /// Returns the texts in a JSON object.
    static func members(_ object: String) -> [String: String] {
        let members = try? JSONDecoder().decode([String: JSONValue].self, from: Data(object.utf8))
        return (members ?? [:]).compactMapValues(\.string)
    }

    /// Returns the texts in a body of `multipart/form-data`.
    static func parts(_ body: String) -> [String: String] {
        var parts: [String: String] = [:]
        for part in body.components(separatedBy: "Content-Disposition: form-data; name=\"").dropFirst() {
            let sides = part.components(separatedBy: "\"\r\n\r\n")
            guard sides.count > 1 else { continue }
            parts[sides[0]] = sides[1].components(separatedBy: "\r\n------hotspot")[0]
        }
        return parts
    }

    static func pairs(_ query: String) -> [String: String] {
        var pairs: [String: String] = [:]
        for part in query.split(separator: "&") {
            let sides = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map {
                $0.replacing("+", with: " ").removingPercentEncoding ?? String($0)
            }
            pairs[sides[0]] = sides.count > 1 ? sides[1] : ""
        }
        return pairs
    }
}
