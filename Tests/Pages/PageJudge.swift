import Foundation
import HelperKit
import HotspotCore

/// Says of saved portal pages what the form engine asks and sends there, offline: `page-judge FOLDER…`. Each folder has `page.html` and
/// `case.json`. A line of JSON is printed for each; the exit status is 1 if one is not as its case expects.
@main struct PageJudge {
    static func main() {
        var isAsExpected = true
        for folder in CommandLine.arguments.dropFirst() {
            guard let page = FileManager.default.contents(atPath: folder + "/page.html"),
                let text = FileManager.default.contents(atPath: folder + "/case.json"),
                let expected = try? JSONDecoder().decode(PageCase.self, from: text), let url = WebURL(expected.url)
            else {
                print("{\"folder\": \"\(folder)\", \"problem\": \"page.html or case.json cannot be read\"}")
                isAsExpected = false
                continue
            }
            let ruling = Ruling(of: Array(page), at: url)
            let difference = ruling.difference(from: expected.expect)
            isAsExpected = isAsExpected && difference.isEmpty
            let line = JudgedPage(folder: folder, ruling: ruling, isAsExpected: difference.isEmpty, difference: difference)
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
            if let data = try? encoder.encode(line) { print(String(decoding: data, as: UTF8.self)) }
        }
        exit(isAsExpected ? 0 : 1)
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
}

/// One line of output.
struct JudgedPage: Encodable {
    let folder: String
    let ruling: Ruling
    let isAsExpected: Bool
    let difference: [String]
}

/// A request that a form made, with `<user:NAME>` for what the user typed.
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
