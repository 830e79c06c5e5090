import ForeignText
import Glibc
import HelperKit
import HotspotCore
import PageLogin
import PortalCatalogue
import Varlink

/// `hotspotctl portals`: lists, checks and tries portal files.
enum PortalsTool {
    /// The first command-line argument that selects this tool.
    static let word = "portals"

    private static let usage = """
        usage: hotspotctl portals list [--verbose] [--json=pretty|short] | check FILE.portal… | try [--interface=NAME] URL | record [--interface=NAME] FILE
        Exit status: 0 all is well, 1 something is wrong, 2 wrong usage.
        """

    static func run(_ words: [String]) -> Never {
        switch (words.first ?? "list", Array(words.dropFirst())) {
        case ("list", let options) where options.allSatisfy({ ["--verbose", "--json=pretty", "--json=short"].contains($0) }):
            exit(list(Set(options)) ? 0 : 1)
        case ("check", let files) where !files.isEmpty:
            // Every file is checked, even after a mistake in another file.
            exit(files.map(check).allSatisfy { $0 } ? 0 : 1)
        case ("try", let rest):
            guard let (words, interface) = target(rest) else { misuse(usage) }
            guard let url = WebURL(words) else {
                misuse(
                    "\"\(Printable.text(words, limit: 200))\" is not a web address; web addresses begin with http:// or https://."
                )
            }
            exit(attempt(url, interface: interface) ? 0 : 1)
        case ("record", let rest):
            guard let (file, interface) = target(rest) else { misuse(usage) }
            let isRecorded = RecordingTool.record(file, interface: interface)
            fflush(nil)
            // Some threads still run a probe that no longer matters. The TLS library's exit handlers would free memory that these
            // threads use, so `_exit` skips the handlers.
            _exit(isRecorded ? 0 : 1)
        default: misuse(usage)
        }
    }

    private static func misuse(_ words: String) -> Never {
        print(words)
        exit(2)
    }

    /// Reads the only argument and the option `--interface`, which may be absent.
    private static func target(_ words: [String]) -> (String, interface: String?)? {
        let options = words.filter { $0.hasPrefix("--interface=") }
        let others = words.filter { !$0.hasPrefix("--") }
        guard others.count == 1, options.count + 1 == words.count else { return nil }
        return (others[0], options.first.map { String($0.dropFirst(12)) })
    }

    // MARK: - list

    private static func list(_ options: Set<String>) -> Bool {
        let listing = PortalCatalogue().read(reporting: false)
        if let json = options.first(where: { $0.hasPrefix("--json") }) {
            let portals = listing.portals.map { portal in
                JSONValue.object([
                    "file": .string(portal.id), "title": .string(portal.name), "path": .string(portal.file),
                    "knownBy": .array(portal.matches.map { .array($0.evidence.map { .string($0.rawValue) }) }),
                    "fields": .array(portal.fields.map { .string($0.name) }),
                ])
            }
            let mistakes = listing.mistakes.map { JSONValue.string("\($0)") }
            let octets = Coding.encode(
                JSONValue.object(["portals": .array(portals), "mistakes": .array(mistakes)]), isIndented: json == "--json=pretty")
            print(Printable.json(String(decoding: octets, as: UTF8.self)))
            return listing.mistakes.isEmpty
        }
        if listing.portals.isEmpty, listing.mistakes.isEmpty {
            print("There are no portal files in \(PortalCatalogue.usualFolders.joined(separator: " or ")).")
        }
        let rows = listing.portals.map { portal in
            let evidence = portal.matches.map { $0.evidence.map(\.rawValue).joined(separator: "+") }.joined(separator: ", ")
            let fields = portal.fields.isEmpty ? "–" : portal.fields.map(\.name).joined(separator: ", ")
            return [portal.id, portal.name, fields] + (options.contains("--verbose") ? [evidence, portal.file] : [])
        }
        let headings = ["FILE", "TITLE", "ASKS FOR"] + (options.contains("--verbose") ? ["KNOWN BY", "PLACE"] : [])
        if !rows.isEmpty { printTable([headings] + rows) }
        for mistake in listing.mistakes { print(Printable.text("\(mistake)", limit: 400)) }
        return listing.mistakes.isEmpty
    }

    private static func printTable(_ rows: [[String]]) {
        let widths = rows[0].indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
        for row in rows {
            let cells = zip(row, widths).map { $0 + String(repeating: " ", count: $1 - $0.count) }
            print(String(cells.joined(separator: "  ").reversed().drop { $0 == " " }.reversed()))
        }
    }

    // MARK: - check

    private static func check(_ path: String) -> Bool {
        do throws(Keyfile.Error) {
            let (mistakes, summary) = try Replay.check(path)
            for mistake in mistakes { print(Printable.text("\(mistake)", limit: 2000)) }
            if mistakes.isEmpty { print("\(path): \(summary)") }
            return mistakes.isEmpty
        } catch {
            print(Printable.text("\(error)", limit: 400))
            return false
        }
    }

    // MARK: - try

    private static func attempt(_ url: WebURL, interface: String?) -> Bool {
        guard let link = LocalLink.link(interface, probe: url) else { return false }
        let command = Scope()
        let client = HTTPClient(link: link)
        do throws(TransferError) {
            try RedirectPolicy().check(url)
            let request = HTTPRequest(url)
            let answer = try client.send(request, in: command)
            let chain = try RedirectChain.follow(answer, to: request, client: client, trusted: url.origin, in: command)
            for hop in chain.hops { show(hop) }
            show(chain.page)
            let claims = Matcher.claims(PortalCatalogue().read().portals, on: chain.hops, ssid: nil)
            for (index, claim) in claims.enumerated() {
                print(index == 0 ? "Claimed \(claim.confidence.rawValue): \(claim.reason)" : "Also matches: \(claim.reason)")
            }
            if claims.isEmpty { print("No portal file matches.") }
            print("Page rule \(PageRules.rule(on: chain.page, at: chain.final.url))")
            return !claims.isEmpty
        } catch {
            for line in command.trace.lines { print(line) }
            print(error.advice)
            if let remedy = LoginRecording.remedy(error, on: link) { print(remedy) }
            return false
        }
    }

    private static func show(_ hop: HTTPResponse) {
        print("GET \(hop.url.text)\n  \(hop.status) \(hop.phrase)")
        for header in hop.headers { print("  \(header.name): \(Printable.text(header.value, limit: 400))") }
    }

    private static func show(_ page: HTMLPage) {
        if let title = page.title { print("Title: \(title)") }
        for form in page.forms {
            let names = form.controls.map { "\($0.name.isEmpty ? "–" : $0.name) (\($0.kind.rawValue))" }.joined(separator: ", ")
            print(Printable.text("Form: \(form.method.rawValue) \(form.action): \(names)", limit: 600))
        }
        for link in page.links.prefix(10) { print(Printable.text("Link: \(link.text) → \(link.reference)", limit: 300)) }
    }
}
