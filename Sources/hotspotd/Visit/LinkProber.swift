import ControlAPI
import EventLoop
import ForeignText
import HelperHost
import HotspotCore
import HotspotMachine
import Varlink

/// Asks the prober about one link.
@LoopActor final class LinkProber {
    private let services: Services
    private let journal: Journal
    private let conversation: Conversation
    private var running: [ProbeID: HelperCall] = [:]
    /// The association that the interface is in; an answer about another one says nothing of this network.
    var association: String? { didSet { if association != oldValue { portalPage = nil } } }
    /// The portal's page, by the last verdict that found one.
    private(set) var portalPage: String?

    init(services: Services, journal: Journal, conversation: Conversation) {
        self.services = services
        self.journal = journal
        self.conversation = conversation
    }

    /// Probes for the machine.
    func start(_ id: ProbeID, about link: Link, fresh: Bool, answer: @escaping (ProbeAnswer?) -> Void) {
        running[id] = ask(about: link, fresh: fresh) { [weak self] in
            if self?.running.removeValue(forKey: id) != nil { answer($0) }
        }
    }

    func cancel(_ id: ProbeID) { running.removeValue(forKey: id)?.cancel() }

    /// Asks for a verdict on this link; `nil` if there is no prober, if it died, or if the network was left meanwhile.
    @discardableResult func ask(about link: Link, fresh: Bool, answer: @escaping (ProbeAnswer?) -> Void) -> HelperCall {
        let request = ProbeRequest(link: link, endpoints: [], fresh: fresh)
        return services.host.probe(parameters: Coding.value(request)) { [weak self] outcome in
            guard let self, association == link.association else { return answer(nil) }
            answer(read(outcome))
        }
    }

    private func read(_ outcome: HelperOutcome) -> ProbeAnswer? {
        switch outcome {
        case .value(let value):
            do {
                let answer = try Coding.decode(ProbeAnswer.self, from: value)
                record(answer)
                return answer
            } catch {
                journal.record("problem", Hearsay.join("The prober's answer is malformed.", "\(error)"))
            }
        case .failed(let fault): journal.record("problem", Hearsay.join("The prober failed.", fault.sentence))
        case .evaluation, .reply, .annotations, .notRecognized: journal.record("problem", "The prober does not know Probe.")
        }
        return nil
    }

    private func record(_ answer: ProbeAnswer) {
        let problem = answer.problem.map { " (\(Printable.text($0, limit: 100)))" } ?? ""
        let origin = answer.origin.map { ", portal \($0)" } ?? ""
        journal.record("verdict", answer.verdict.rawValue + origin + problem)
        for evidence in answer.evidence.prefix(8) { journal.recordTrace(evidence.line) }
        if answer.verdict == .captive, let origin = answer.origin {
            portalPage = answer.portalURL
            conversation.showPortal(at: origin)
        }
    }
}

/// The parameters of `Probe`: org.hotspotd.Probe.
struct ProbeRequest: Encodable {
    var link: Link
    /// Always empty: the link has them.
    var endpoints: [String]
    var fresh: Bool
}

/// The answer of `Probe`.
struct ProbeAnswer: Decodable {
    struct Evidence: Decodable {
        var request: String
        var status: Int?
        var error: String?
        var milliseconds: Int

        /// One line of a trace: the request without its query, and its result.
        var line: String {
            let asked = request.prefix { $0 != "?" }
            let got = status.map(String.init) ?? error ?? "nothing"
            return Printable.text("\(asked) → \(got) in \(milliseconds) ms", limit: 300)
        }
    }

    var verdict: Verdict
    var portalURL: String?
    var problem: String?
    var secondsRemaining: Int?
    var evidence: [Evidence]

    /// Returns the answer to a client that checks. Where HTTPS does not get through, most programs are not online.
    func checkReply(on interface: String) -> CheckReply {
        let word = verdict == .partial ? Verdict.limited : verdict
        var reply = CheckReply(
            verdict: word.rawValue, interface: interface, detail: problem ?? origin.map { "portal \($0)" })
        reply.requests = evidence.prefix(16).map(\.line)
        return reply
    }

    /// The portal's origin: paths are not shown to all users.
    var origin: String? {
        guard let portalURL, let scheme = portalURL.firstRange(of: "://") else { return nil }
        let host = portalURL[scheme.upperBound...].prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        let origin = String(portalURL[..<scheme.upperBound] + host)
        return Origin.isValid(origin) ? origin : nil
    }
}

extension CheckReply {
    /// Returns the reply with the endpoints that the settings name in place of the usual ones.
    func naming(_ settings: Settings) -> CheckReply {
        var reply = self
        if settings.probeURL != Link.usualProbe.url { reply.url = settings.probeURL }
        reply.httpsURL = settings.probeHTTPSURL
        return reply
    }
}
