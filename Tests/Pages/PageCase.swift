import Foundation
import HelperKit
import HotspotCore
import PageLogin
import PortalCatalogue

/// The content of a `case.json`, with its page.
struct PageCase: Decodable {
    let url: String
    let expect: ExpectedRuling
    /// The facts that are known before the visit.
    let known: Known?
    /// The portal's answers to requests, by method and address.
    let portal: [String: PlayedPortal.Answer]?
    /// The commands of the login that is played, each with its expected reply.
    let visit: [Visit.Command]?
    private(set) var folder = ""
    private(set) var page: [UInt8] = []

    enum CodingKeys: String, CodingKey { case url, expect, known, portal, visit }

    struct Known: Decodable {
        /// Stored answers, by the name of the field.
        let answers: [String: String]?
        /// Whether the user accepted the terms before.
        let consent: Bool?
    }

    /// A fault of a case, in words.
    struct Fault: Error { let words: String }

    /// Reads a case. Throws ``Fault`` if a file is missing, or a member is unknown or not as it has to be.
    init(folder: String) throws {
        func contents(_ file: String) throws -> Data {
            guard let data = FileManager.default.contents(atPath: "\(folder)/\(file)") else {
                throw Fault(words: "\(folder)/\(file) cannot be read")
            }
            return data
        }
        let (page, text) = (try contents("page.html"), try contents("case.json"))
        do { self = try JSONDecoder().decode(PageCase.self, from: text) } catch {
            throw Fault(words: "\(folder)/case.json: \(error)")
        }
        guard WebURL(url) != nil else { throw Fault(words: "\(folder)/case.json: \(url) is no address") }
        try Self.check(JSONSerialization.jsonObject(with: text), in: folder)
        for file in (portal ?? [:]).values.compactMap(\.page) { _ = try contents(file) }
        (self.folder, self.page) = (folder, Array(page))
    }

    /// The members that a case and its parts may have.
    private static let members: [String: Set<String>] = [
        "": ["url", "known", "expect", "portal", "visit"], "known": ["answers", "consent"],
        "expect": ["class", "rule", "asks", "fields", "submits", "says", "or", "accept_also", "protocol"],
        "visit": ["types", "result", "rule", "says", "fields", "requests"], "portal": ["page", "status", "headers", "opens"],
    ]

    private static func check(_ value: Any, in folder: String) throws {
        guard let object = value as? [String: Any] else { return }
        func check(_ part: Any?, _ name: String) throws {
            guard let part = part as? [String: Any], let known = members[name] else { return }
            guard let unknown = part.keys.sorted().first(where: { !known.contains($0) }) else { return }
            throw Fault(words: "\(folder)/case.json: \(name.isEmpty ? "" : name + ": ")there is no member \"\(unknown)\"")
        }
        try check(object, "")
        for name in ["known", "expect"] { try check(object[name], name) }
        for command in object["visit"] as? [Any] ?? [] { try check(command, "visit") }
        for answer in (object["portal"] as? [String: Any] ?? [:]).values { try check(answer, "portal") }
    }

    /// Returns the decisions on the page and in its visit.
    func judge(_ portals: [PortalFile]) -> JudgedPage {
        var saved = SavedPage(octets: page, url: WebURL(url)!, portals: portals)
        (saved.credential, saved.consent) = (known?.answers, known?.consent ?? false)
        let ruling = Ruling(of: saved)
        let played = visit.map { Visit(self, saved).play($0) } ?? []
        let difference = ruling.difference(from: expect) + played.flatMap(\.difference)
        return JudgedPage(
            folder: folder, ruling: ruling, visit: played.isEmpty ? nil : played, isAsExpected: difference.isEmpty,
            difference: difference)
    }
}

/// One field that a question has to have; members that are not given may have any value.
struct ExpectedField: Decodable {
    let name: String
    let label: String?
    let kind: Field.Kind?
    let choices: [String]?
    let required: Bool?

    func describes(_ field: Field) -> Bool {
        name == field.name && label ?? field.label == field.label && kind ?? field.kind == field.kind
            && choices ?? field.choices == field.choices && required ?? field.required == field.required
    }
}

struct ExpectedRuling: Decodable {
    let `class`: Ruling.Class
    let asks: [String]?
    let submits: SentForm?
    /// Other ways that a user may take instead: one or several.
    let or: OneOrMore?
    /// The fields of the question, in their order.
    let fields: [ExpectedField]?
    /// Words of the text that the user reads.
    let says: String?
    /// The number of the page rule that decides first (`docs/page-rules.md`).
    let rule: String?
    /// Another class that is right as well, by its first word.
    let acceptAlso: String?
    /// The protocol that computes the request.
    let `protocol`: String?

    enum CodingKeys: String, CodingKey {
        case `class`, asks, submits, or, fields, says, rule, `protocol`
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

/// A user's answers, and the request that they make. The request alone is enough if the fields are those of the first way.
struct ExpectedWay: Decodable {
    let asks: [String]?
    let submits: SentForm?

    init(asks: [String]?, submits: SentForm?) { (self.asks, self.submits) = (asks, submits) }

    enum CodingKeys: String, CodingKey { case asks, submits }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let sent = try container.decodeIfPresent(SentForm.self, forKey: .submits) ?? SentForm(from: decoder)
        // A request alone without typed values asks for nothing.
        let isTyped = sent.fields?.values.contains { $0.hasPrefix("<") } ?? false
        asks = try container.decodeIfPresent([String].self, forKey: .asks) ?? (isTyped ? nil : [])
        submits = sent
    }
}

/// A request that a form made, with `<user:NAME>` for a typed answer, and another `<…>` for a value that is computed from it.
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
