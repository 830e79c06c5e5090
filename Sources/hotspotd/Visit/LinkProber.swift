import ControlAPI
import EventLoop
import ForeignText
import Glibc
import HelperHost
import HotspotCore
import HotspotMachine
import LinkState
import Varlink

/// Asks the prober about one link.
@LoopActor final class LinkProber {
    private let services: Services
    private let journal: Journal
    private let commands: HelperCommands
    private var running: [ProbeID: HelperCall] = [:]
    /// The association that the interface is in; an answer about another association is dropped, because it says nothing about this network.
    var association: String? {
        didSet {
            if association != oldValue { (portalPage, firewallProblem, clockProblem, unreachableProblem) = (nil, nil, nil, nil) }
        }
    }
    /// The portal's page, from the last verdict that found a portal.
    private(set) var portalPage: String?
    /// The problem if a firewall rule of this computer kept answers from the last probe.
    private(set) var firewallProblem: Problem?
    /// The problem of this computer's clock, if the last probe found certificates that are not valid by this clock.
    private(set) var clockProblem: Problem?
    /// Why the last probe saw neither the Internet nor a portal, if its answer says so.
    private(set) var unreachableProblem: Problem?

    init(services: Services, journal: Journal, commands: HelperCommands) {
        self.services = services
        self.journal = journal
        self.commands = commands
    }

    /// Probes for the machine.
    func start(_ id: ProbeID, about link: Link, fresh: Bool, answer: @escaping (ProbeAnswer?) -> Void) {
        running[id] = ask(about: link, fresh: fresh) { [weak self] in
            if self?.running.removeValue(forKey: id) != nil { answer($0) }
        }
    }

    /// Whether a probe for the machine is running.
    var isBusy: Bool { !running.isEmpty }

    func cancel(_ id: ProbeID) { running.removeValue(forKey: id)?.cancel() }

    /// Asks for a verdict on this link; `nil` if there is no prober, if it died, or if the network was left meanwhile.
    ///
    /// - Parameter asksNames: whether to resolve known names again.
    @discardableResult func ask(
        about link: Link, fresh: Bool, asksNames: Bool = false, answer: @escaping (ProbeAnswer?) -> Void
    ) -> HelperCall {
        let request = ProbeRequest(link: link, fresh: fresh, asksNames: asksNames ? true : nil)
        let before = LossCounters.Record.now
        return services.host.probe(parameters: Coding.value(request)) { [weak self] outcome in
            guard let self, association == link.association else { return answer(nil) }
            let found = read(outcome)
            if let address = found?.probeAddress, let url = link.probeURL { services.remember(address, ofProbe: url) }
            if let found {
                setFirewallProblem(found.verdict == .limited ? Self.firewallProblem(found, link, since: before) : nil)
            }
            answer(found)
        }
    }

    private func read(_ outcome: HelperOutcome) -> ProbeAnswer? {
        switch outcome {
        case .value(let value):
            do {
                let answer = try Coding.decode(ProbeAnswer.self, from: value)
                record(answer)
                clockProblem = answer.clock(at: WallClock.now)
                unreachableProblem = answer.unreachableProblem
                return answer
            } catch {
                journal.record("problem", QuotedProblem.join("The prober's answer is malformed.", "\(error)"))
            }
        case .failed(let fault): journal.record("problem", QuotedProblem.join("The prober failed.", fault.sentence))
        case .evaluation, .reply, .annotations, .notRecognized:
            journal.record("problem", "The prober does not know the command Probe.")
        }
        return nil
    }

    /// Reads the firewall rules of this computer after a probe without an answer. Returns `nil` if they are not the cause.
    private static func firewallProblem(_ answer: ProbeAnswer, _ link: Link, since before: LossCounters.Record?) -> Problem? {
        guard let before = before?.counters, let after = LossCounters.Record.now?.counters else { return nil }
        let loss = ProbeLoss(
            endings: answer.endings, before: before, after: after, rules: PacketRules(link: link.interface, index: link.index))
        let user = getpwuid(geteuid()).map { String(cString: $0.pointee.pw_name) } ?? "\(geteuid())"
        return loss.problem(on: link.interface, of: user)
    }

    private func setFirewallProblem(_ found: Problem?) {
        defer { firewallProblem = found }
        guard let found else { return }
        journal.note { $0.obstacle = String(found.message.dropLast()) }
        guard found != firewallProblem else { return }
        journal.record("problem", found.message)
        services.log.notice("\(journal.interface): \(found.message)")
    }

    private func record(_ answer: ProbeAnswer) {
        let problem = answer.problem.map { " (\(Printable.text($0, limit: 100)))" } ?? ""
        let origin = answer.origin.map { ", portal \($0)" } ?? ""
        journal.record("verdict", answer.verdict.rawValue + origin + problem)
        for evidence in answer.evidence.prefix(ProbeAnswer.evidenceLimit) { journal.recordTrace(evidence.line) }
        if answer.verdict == .captive, let origin = answer.origin {
            portalPage = answer.portalURL
            commands.showPortal(at: origin)
        }
    }
}

extension ProbeEvidence {
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    /// The date in an answer, in milliseconds of Unix time; a portal that answers in a server's place sends a date as well.
    var day: Int? {
        // The only form that servers send (RFC 9110, 5.6.7): Mon, 23 Nov 2026 16:00:00 GMT.
        let words = headers["date"]?.split(separator: " ") ?? []
        guard words.count == 6, let day = Int32(words[1]), (1...31).contains(day), let year = Int32(words[3]),
            (1970...9999).contains(year), let month = Self.months.firstIndex(of: String(words[2]))
        else { return nil }
        var fields = tm()
        (fields.tm_year, fields.tm_mon, fields.tm_mday) = (year - 1900, Int32(month), day)
        return timegm(&fields) * 1000
    }

    /// How the request ended, by the words of HelperKit's `TransferErrorCode`.
    var ending: ProbeLoss.Ending {
        switch error?.prefix(while: { $0 != ":" }) {
        case "refusedHere": .refusedHere
        case "connectFailed" where milliseconds < ProbeLoss.refusedWithin: .refused
        case "timeout", "dnsTimeout": .silent
        default: .other
        }
    }

    /// One line of a trace: the request without its query, and its result.
    var line: String {
        let asked = request.prefix { $0 != "?" }
        return Printable.text("\(asked) → \(outcome) in \(milliseconds) ms", limit: 300)
    }
}

extension ProbeAnswer {
    /// The largest number of requests that are read from one answer.
    static let evidenceLimit = 16

    /// How the requests ended.
    var endings: [ProbeLoss.Ending] { evidence.prefix(Self.evidenceLimit).map(\.ending) }

    /// The place of the portal, to compare it with others: the origin and the path, without numbers that a gateway makes up for each request. A
    /// portal that answers a probe itself, without a redirect, has the place "here", whichever server was asked.
    var place: String? {
        guard verdict == .captive, let portalURL, let origin else { return nil }
        let asked = evidence.prefix(Self.evidenceLimit).map { $0.request.split(separator: " ").last ?? "" }
        let page = portalURL.prefix { $0 != "?" && $0 != "#" && $0 != ";" }
        if asked.contains(page) { return "here" }
        let path = page.dropFirst(origin.utf8.count).prefix(512).split(separator: "/").map { segment in
            segment.count { $0.isNumber } > 3 ? "#" : segment
        }
        return origin + "/" + path.joined(separator: "/")
    }

    /// Returns the problem of this computer's clock if a certificate is not valid by this clock. If the network agrees with the clock, the
    /// certificate is at fault.
    func clock(at now: Int) -> Problem? {
        guard problem == "clockWrong" else { return nil }
        let dates = evidence.prefix(Self.evidenceLimit).compactMap(\.day)
        // A clock within two days of a server's date counts as right, so the certificate is at fault.
        if dates.contains(where: { abs($0 - now) < 2 * 86_400_000 }) { return nil }
        let other = dates.first.map { " The clock says \(Self.day(now)), and the network says \(Self.day($0))." } ?? ""
        return Problem(
            .clockWrong, "By this computer's clock, certificates are not valid, so HTTPS does not work.\(other)",
            hint: "timedatectl")
    }

    /// Returns the known reason why a network shows neither the Internet nor a portal; `nil` if there is none.
    var unreachableProblem: Problem? {
        guard verdict == .limited, let problem else { return nil }
        func make(_ sentence: String) -> Problem { Problem(.internetLimited, sentence, hint: "hotspotctl check") }
        switch problem {
        case "noNameserver", "dnsTimeout":
            // If the probe went to the remembered address of its server, a redirect comes from a portal.
            let isRedirected = evidence.contains { evidence in
                evidence.request.split(separator: " ").dropLast().last == "at" && (300..<400).contains(evidence.status ?? 0)
            }
            return make(
                isRedirected
                    ? "No nameserver of the network answers, so the portal that seems to be there cannot be reached."
                    : "No nameserver of the network answers, so neither the Internet nor a portal can be found.")
        case "dnsFailed":
            return make(
                "The network's nameserver cannot resolve Internet names, so neither the Internet nor a portal can be found."
            )
        default:
            guard problem.hasPrefix("status"), let status = Int(problem.dropFirst(6)) else { return nil }
            return make("A server answered \(status); it is neither the Internet nor a portal.")
        }
    }

    private static func day(_ milliseconds: Int) -> String { WallClock.utc(milliseconds, "%Y-%m-%d") }

    /// Returns the answer to a client that checks. If HTTPS does not get through, the answer is `limited`, because most programs are not online.
    func checkReply(on interface: String) -> CheckReply {
        let word = verdict == .partial ? Verdict.limited : verdict
        var reply = CheckReply(
            verdict: word.rawValue, interface: interface, detail: problem ?? origin.map { "portal \($0)" })
        reply.requests = evidence.prefix(Self.evidenceLimit).map(\.line)
        return reply
    }

    /// The portal's origin without the path, which only some users may see.
    var origin: String? {
        guard let portalURL else { return nil }
        // The third part is the host behind "//".
        let parts = portalURL.split(separator: "/", maxSplits: 3, omittingEmptySubsequences: false)
        let origin = parts.prefix(3).joined(separator: "/").prefix { $0 != "?" && $0 != "#" }
        return Origin.isValid(String(origin)) ? String(origin) : nil
    }
}

extension CheckReply {
    /// Returns the reply with the endpoints that the settings name in place of the usual ones.
    func naming(_ settings: Settings) -> CheckReply {
        var reply = self
        if settings.probeURL != Link.usualProbe.url { reply.url = settings.probeURL }
        reply.httpsURL = settings.probeHTTPSURL
        reply.settings = settings.file
        return reply
    }
}
