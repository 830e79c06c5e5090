import ArgumentParser
import ControlAPI
import HotspotCore

struct CheckVerb: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check", abstract: "Probe now, and print the state of the Internet connection in one word.",
        discussion: """
            The word is online, captive, limited, none or unknown. It is limited if HTTPS does not get through, if no nameserver answers, or if neither a portal nor the Internet \
            answers. It is none without a network. The exit status is 0 only for online. Probes again each time; it may wait \
            up to a second for an earlier check.
            """)

    @OptionGroup var common: CommonOptions

    @Flag(name: .shortAndLong, help: "Also show the reason, which hosts are contacted, when, and how to change that.")
    var verbose = false

    @Argument(help: "The interface; by default the one with the preferred default route.", completion: Complete.interfaces)
    var interface: String?

    func run() throws {
        let reply = try common.connect().call("Check", .members(["interface": interface]))
        let check = try ControlClient.read(CheckReply.self, reply)
        if let mode = common.jsonMode {
            Output.print(reply, mode)
        } else {
            Output.print(common.renderer.lines(check, verbose: verbose))
        }
        guard check.verdict == "online" else { throw Failure(.failed, "") }
    }
}

extension Renderer {
    func lines(_ check: CheckReply, verbose: Bool) -> [String] {
        let word = safe(check.verdict, limit: 32)
        guard verbose else { return [word] }
        var lines = [word]
        if let interface = check.interface { lines.append("  on \(safe(interface, limit: 32))") }
        lines += ([reason(check)].compactMap { $0 } + (check.requests ?? [])).map { "  \(bar) \(safe($0))" }
        return lines + contacts(check)
    }

    /// Returns the detail as a sentence; the daemon sends a code.
    private func reason(_ check: CheckReply) -> String? {
        switch check.detail {
        case "httpsBlocked": return "Plain HTTP reaches the Internet, but HTTPS does not."
        case "httpBlocked": return "HTTPS reaches the Internet, but plain HTTP does not."
        case "noAnswer": return "Nothing answered."
        case "timeout": return "Nothing answered in time."
        case "dnsTimeout": return "No nameserver answered."
        case "emptyAnswer": return "The answers were empty."
        case "askedToWait": return "The host asked hotspotd to wait before the next request."
        case "clockWrong": return "The certificate is not valid at this computer's time; check the clock."
        case let detail?:
            if let status = Int(detail.dropFirst("status".count)), detail.hasPrefix("status") {
                return "A server answered \(status); it is neither the Internet nor a portal."
            }
            // The line of the failed request contains the code and then the sentence.
            for line in check.requests ?? [] {
                guard let start = line.firstRange(of: "→ \(detail): ")?.upperBound,
                    let end = line[start...].ranges(of: " in ").last?.lowerBound
                else { continue }
                return String(line[start..<end])
            }
            return detail
        case nil: return nil
        }
    }

    /// The hosts that the probe contacts by default, the last one over HTTPS.
    static let probeHosts = [
        "connectivitycheck.gstatic.com", "detectportal.firefox.com", "nmcheck.gnome.org", "1.1.1.1", "www.gstatic.com",
    ]

    /// Returns the hosts that the probe contacts, and when. docs/settings.md contains the same list.
    private func contacts(_ check: CheckReply) -> [String] {
        let isUsual = check.url == nil && check.httpsURL == nil
        let usual = Self.probeHosts.dropLast().joined(separator: ", ")
        // If the settings contain `URL=`, the probe uses HTTPS only with their `HTTPSURL=`; an empty value means no HTTPS.
        let https = check.httpsURL ?? (check.url == nil ? Self.probeHosts[4] : "")
        let hosts = [check.url.map { safe($0) } ?? usual] + (https.isEmpty ? [] : [safe(https)])
        return [
            "Hosts contacted by \(isUsual ? "default" : "your settings"), until one answer is clear: \(hosts.joined(separator: " and ")); "
                + "also the network's portal API, if there is one.",
            "When:", "  when you join, during and just after a login, and with this command",
            "  while you are not logged in: every 10 to 60 s",
            "  while a helper keeps a session: every 5 min (MaintainIntervalSec=), sooner if connections have trouble",
            "  on a network without a login: every 5 to 60 min, sooner if connections have trouble",
            "  during 'hotspotctl browse': every 3 s",
            "To change \(isUsual ? "it" : "them"): URL=, Expect= and HTTPSURL= under [Probe] in \(safe(check.settings ?? CommonOptions.defaultSettings)).",
        ]
    }
}
