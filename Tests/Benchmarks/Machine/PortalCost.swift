import HelperKit
import HotspotCore
import PortalCatalogue

/// The files of a large catalogue, compared with the answers up to a portal's page. One file matches; one in fifty of the others names no address and
/// is compared with the whole page.
struct PortalCost {
    let baseline: Int

    func run() {
        let hops = Self.hops
        print("portal files that are compared with a portal's page of 16 KiB behind two redirects:")
        for count in [10, 100, 1000, 10_000] {
            let files = (0..<count).map(Self.file)
            precondition(Matcher.claims(files, on: hops, ssid: nil).map(\.portal.id) == ["portal7"])
            let time = Stopwatch.time(rounds: 30) { Matcher.claims(files, on: hops, ssid: nil).count }
            print(
                "  \(time.median / 1000) µs, at best \(time.best / 1000) µs  \(count) files  (\(time.median / max(1, baseline)) times the baseline)"
            )
        }
    }

    /// The kinds of evidence in the proportions of the files that come with the daemon: of 50 sections 16 name a host, 16 a path and a
    /// query, 17 a path or a query and words of the page, and one only words.
    private static func file(_ number: Int) -> PortalFile {
        let lines =
            switch number % 50 {
            case 0: "Body=/words-of-\(number)/"
            case 1...16: "Host=*.operator\(number).example\nPath=/portal/*"
            case 17...33: "Path=/*login*\nQuery=token\(number)"
            default: "Query=key\(number)\nBody=<title>Portal \(number)"
            }
        let text = "[Match]\n\(lines)\n[Portal]\nName=Portal \(number)\n[Step]\nOpen=/in\n"
        return try! PortalFileParser.parse(Array(text.utf8), file: "/portals/portal\(number).portal")!
    }

    private static var hops: [HTTPResponse] {
        func hop(_ url: String, _ location: String?, _ body: String = "") -> HTTPResponse {
            let headers =
                [("server", "nginx"), ("date", "today"), ("content-type", "text/html")]
                + (location.map { [("location", $0)] } ?? [])
            return HTTPResponse(
                url: WebURL(url)!, status: location == nil ? 200 : 302, phrase: "OK",
                headers: headers.map { HTTPResponse.Header(name: $0.0, value: $0.1) }, body: Array(body.utf8))
        }
        let page =
            "https://guest.operator7.example/portal/login?url=http%3A%2F%2Fprobe.example%2F&mac=02-00-00-00-00-01&session=abc"
        let words = String(repeating: "<p class=text>Welcome to the network of this house.</p>\n", count: 290)
        return [
            hop("http://probe.example/generate_204", "http://10.0.0.1/go?mac=02-00-00-00-00-01"),
            hop("http://10.0.0.1/go?mac=02-00-00-00-00-01", page), hop(page, nil, "<title>Guests</title>" + words),
        ]
    }
}
