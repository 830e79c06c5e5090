import Foundation
import HotspotCore
import PageLogin
import PortalCatalogue

/// Prints the helpers' questions and requests on saved portal pages, offline: `page-judge [--moved] FOLDER…`. Each folder contains `page.html` and
/// `case.json`. Prints one line of JSON for each, or with `--moved` only the differences from its case; the totals follow on standard error. The exit
/// status is 1 if a page differs.
@main struct PageJudge {
    static func main() {
        var isAsExpected = true
        var totals = Totals()
        let hasPortals = ProcessInfo.processInfo.environment["HOTSPOTD_PORTALS"] != nil
        let portals = hasPortals ? PortalCatalogue().read().portals : []
        let onlyMoved = CommandLine.arguments.contains("--moved")
        guard CommandLine.arguments.contains(where: { !$0.hasPrefix("-") && $0 != CommandLine.arguments[0] }) else {
            FileHandle.standardError.write(Data("usage: page-judge [--moved] FOLDER...\n".utf8))
            exit(2)
        }
        for folder in CommandLine.arguments.dropFirst() where folder != "--moved" {
            let saved: PageCase
            do { saved = try PageCase(folder: folder) } catch {
                FileHandle.standardError.write(Data("\((error as? PageCase.Fault)?.words ?? "\(error)")\n".utf8))
                isAsExpected = false
                continue
            }
            let judged = saved.judge(portals)
            isAsExpected = isAsExpected && judged.isAsExpected
            totals.count(judged.ruling, judged.difference, saved.expect)
            if onlyMoved {
                for line in judged.difference { print("\(folder): \(line)") }
                continue
            }
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
            if let data = try? encoder.encode(judged) { print(String(decoding: data, as: UTF8.self)) }
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

/// One line of output.
struct JudgedPage: Encodable {
    let folder: String
    let ruling: Ruling
    /// The ends of the visit's commands.
    let visit: [Visit.End]?
    let isAsExpected: Bool
    let difference: [String]
}
