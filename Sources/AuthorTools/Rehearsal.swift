import EventLoop
import ForeignText
import Glibc
import HelperHost
import HotspotCore
import Varlink

/// Plays the commands of the contract one after the other, with a made-up network and a portal on loopback.
@LoopActor final class Rehearsal {
    private let helper: HelperUnderTest
    private let portal: RehearsalPortal
    private let networks: RehearsalNetworks
    let host: TestHost
    var transcript = Transcript()
    private var attempts = 0
    private var session: Session?
    private var foundPortal: Portal?
    private var needs: [String] = []
    /// The fields of the prompts that the made-up user answered, as the helper sent them.
    private var askedFields: [Field] = []
    /// The helper's answers about the captive network.
    private var evaluations: [HelperOutcome?] = []
    /// Whether a login opened the portal.
    var opened = false
    /// The results of the helper's logins.
    private var results: [HelperResult] = []
    /// The requests of the last login that did not open the portal, as a sentence.
    private var lastRequests = ""
    /// Milliseconds after which an answer counts as slow.
    let slow = 5_000
    /// The number of commands without an answer in time, in a row.
    var unanswered = 0

    init(_ helper: HelperUnderTest, networks: RehearsalNetworks, portal: RehearsalPortal) {
        self.helper = helper
        self.portal = portal
        self.networks = networks
        host = TestHost(helper)
    }

    var spec: HelperSpec { helper.spec }

    func run() async {
        Transcript.show(
            "\(spec.name) (\"\(Printable.text(spec.displayName, limit: 64))\"), \(spec.activation.word); the network is \"\(networks.joined.ssid)\", the portal \(portal.origin)"
        )
        transcript.say(helper.remarks + portal.remarks)
        do throws(CannotTest) {
            try await describe()
            try await filter()
            try await evaluate()
            try await logIn()
            try await maintain()
            try await logOff()
            try await cancel()
            judge()
        } catch {
            transcript.say([.note(error.description)])
        }
        conclude()
        await host.close()
        EventLoop.shared.stop(code: transcript.mistakes == 0 && opened ? 0 : 1)
    }

    // MARK: The commands

    private func describe() async throws(CannotTest) {
        let outcome = try await play("Describe", shape: OutcomeText.description, [:]) { host, name, completion in
            host.describe(name, completion: completion)
        }
        guard case .value(let value)? = outcome else { return }
        transcript.say(
            value == [:]
                ? [.wrong("The answer to Describe is empty; the format is: \(OutcomeText.description)")]
                : Review.description(value, spec))
    }

    private func filter() async throws(CannotTest) {
        guard !spec.ssids.isEmpty || spec.scanList else {
            return transcript.skip("FilterScanList: skipped, because the file contains neither SSID= nor ScanList=yes")
        }
        let outcome = try await play("FilterScanList", .filterScanList, ["networks": Coding.value(networks.inSight)])
        if case .annotations(let annotations)? = outcome {
            transcript.say(Review.annotations(annotations, asked: networks.inSight))
        }
    }

    private func evaluate() async throws(CannotTest) {
        var answers = false
        for (title, expect) in [
            ("Evaluate, no login needed", "204"), ("Evaluate, no login needed, plain text answers the probe", "made-up success"),
        ] {
            portal.reset(open: true)
            portal.treatProbe(expect: expect)
            if case .evaluation(let evaluation)? = try await play(title, .evaluate, place(new: true, expect: expect)) {
                transcript.say(Review.open(evaluation))
                answers = true
            }
        }
        portal.reset(open: false)
        portal.treatProbe()
        let title = "Evaluate, without link.probeURL"
        if case .failed? = try await play(title, .evaluate, place(new: true, expect: nil)), answers {
            transcript.say([Review.noProbe])
        }
        var claimedBefore = false
        evaluations.append(try await play("Evaluate, captive", .evaluate, place(new: true)))
        if case .evaluation(let evaluation)?? = evaluations.last {
            transcript.say(Review.captive(evaluation))
            session = evaluation.session
            foundPortal = evaluation.portal
            needs = evaluation.needs ?? []
            claimedBefore = evaluation.confidence != .none
        }
        portal.treatProbe(.page)
        evaluations.append(try await play("Evaluate, the probe gets the page without a redirect", .evaluate, place(new: true)))
        if case .evaluation(let evaluation)?? = evaluations.last {
            transcript.say(Review.inPlace(evaluation, claimedBefore: claimedBefore))
        }
        portal.treatProbe()
    }

    private func logIn() async throws(CannotTest) {
        attempts += 1
        let first = try await authenticate("Authenticate, terms not accepted yet", login(consent: false), consent: false)
        if first != nil { try await present(first) }
        let wasAsked = first != nil || portal.isOpen
        portal.reset(open: false)
        attempts += 1
        // Plays a second visit: the terms are accepted, and the vault has answers for this portal.
        var parameters = login(consent: true)
        parameters["credential"] = Coding.value(RehearsalUser.credential(prompt: first, needs: needs))
        let second = try await authenticate("Authenticate, terms accepted before", parameters, consent: true)
        if second == nil, !wasAsked { portal.reset(open: false) }
        if second != nil || !wasAsked { try await present(second) }
        portal.reset(open: false)
        portal.treatProbe(.page)
        attempts += 1
        parameters["link"] = place(new: false)["link"]
        _ = try await authenticate("Authenticate, the probe gets the page without a redirect", parameters, consent: true)
        portal.treatProbe()
        guard opened else { return }
        portal.reset(open: false, refusing: true)
        attempts += 1
        parameters["link"] = place(new: false)["link"]
        _ = try await authenticate("Authenticate, the portal refuses the login", parameters, consent: true)
        transcript.say(Review.refused(results.last, times: portal.refusals))
        portal.reset(open: false)
    }

    private func authenticate(_ title: String, _ parameters: [String: JSONValue], consent: Bool) async throws(CannotTest)
        -> Prompt?
    {
        guard case .reply(let reply)? = try await play(title, .authenticate, parameters) else { return nil }
        review(reply, consent: consent, after: parameters)
        return reply.result == .uiRequired ? reply.prompt : nil
    }

    /// Answers a prompt and the prompts that follow, such as a prompt for a code by text message. If there is no prompt, plays
    /// PresentUI without answers.
    private func present(_ first: Prompt?) async throws(CannotTest) {
        var prompt = first
        for round in 0..<3 {
            var parameters = login(consent: false)
            askedFields += prompt?.fields ?? []
            parameters["answers"] = Coding.value(prompt.map(RehearsalUser.answers) ?? [:])
            let outcome = try await play("PresentUI, answered", .presentUI, parameters)
            if prompt != nil, outcome == .notRecognized { transcript.say([Review.deadEnd]) }
            guard case .reply(let reply)? = outcome else { return }
            if prompt != nil, reply.result == .commandNotRecognized { transcript.say([Review.deadEnd]) }
            review(reply, consent: true, after: parameters)
            prompt = reply.result == .uiRequired ? reply.prompt : nil
            if prompt == nil { return }
            if round == 2 {
                transcript.say([prompt == first ? Review.sameAgain : .note("It asks again after each answer.")])
            }
        }
    }

    private func maintain() async throws(CannotTest) {
        portal.isOpen = true
        for (title, open) in [("Maintain, session valid", true), ("Maintain, session ended", false)] {
            portal.isOpen = open
            var parameters = place(new: true)
            parameters["session"] = session.map { Coding.value($0) }
            guard case .reply(let reply)? = try await play(title, .maintain, parameters) else { continue }
            transcript.say(Review.maintain(reply, isOpen: open))
            if open { session = reply.session ?? session }
        }
    }

    private func logOff() async throws(CannotTest) {
        portal.isOpen = true
        var parameters = place(new: true)
        parameters["session"] = session.map { Coding.value($0) }
        guard case .reply(let reply)? = try await play("Logoff", .logoff, parameters) else { return }
        transcript.say(Review.logoff(reply, isOpen: portal.isOpen))
    }

    /// Cancels Evaluate while the portal does not answer, as if the daemon had chosen another helper.
    private func cancel() async throws(CannotTest) {
        portal.reset(open: false)
        portal.treatProbe(.stall)
        defer { portal.treatProbe() }
        guard let record = await host.cancel(.evaluate, place(new: true), while: { self.portal.stalledCount > 0 }) else { return }
        transcript.line("Evaluate, cancelled: \(record.status == nil ? "it goes on" : "it ends")")
        if record.status == nil, record.wasTerminated {
            let sentence = "The daemon ends it with SIGKILL 60 ms after the cancellation."
            transcript.say([.note("It ignores both the end of its standard input and SIGTERM. \(sentence)")])
        }
    }

    /// Judges the whole helper: it is useful only if it claims the network and opens the portal.
    private func judge() {
        let confidences = evaluations.compactMap {
            if case .evaluation(let evaluation)? = $0 { evaluation.confidence } else { nil }
        }
        if confidences.isEmpty {
            // Reports that the helper does not know Evaluate. Failures of Evaluate were already reported.
            if !opened, evaluations.contains(.notRecognized) { transcript.say([Review.unknownEvaluate]) }
            return
        }
        let refuses = !results.isEmpty && results.allSatisfy { $0 == .unsupportedNetwork }
        let claims = confidences.contains { $0 != .none } && !refuses
        if !claims {
            transcript.say([Review.neverClaims])
        } else if !opened {
            transcript.say([Review.useless(requests: lastRequests, hasOwnPage: !portal.servesItsOwnPage)])
        }
    }

    // MARK: Parameters

    /// Returns the parameters that describe the network and the link. If `expect` is `nil`, the link has no probe.
    private func place(new: Bool, expect: String? = "204") -> [String: JSONValue] {
        if new { attempts += 1 }
        let link = Link(
            attempt: "rehearsal-\(attempts)", association: "rehearsal", interface: networks.joined.interface, index: 1,
            addresses: ["127.0.0.1/8"], gateways: ["127.0.0.1"], nameservers: [],
            probeURL: expect == nil ? nil : portal.probeURL, probeExpect: expect)
        return ["network": Coding.value(networks.joined), "link": Coding.value(link)]
    }

    private func login(consent: Bool) -> [String: JSONValue] {
        var parameters = place(new: false)
        parameters["portal"] = foundPortal.map { Coding.value($0) }
        parameters["session"] = session.map { Coding.value($0) }
        parameters["consent"] = .bool(consent)
        return parameters
    }

    private func review(_ reply: Reply, consent: Bool, after parameters: [String: JSONValue]) {
        let situation = Review.LoginSituation(
            isOpen: portal.isOpen, acceptedTerms: portal.acceptedTerms, consent: consent, got: portal.got,
            known: KnownWords(asked: askedFields, parameters: .object(parameters)))
        transcript.say(Review.login(reply, situation))
        if !portal.isOpen { lastRequests = situation.requests }
        opened = opened || portal.isOpen
        results.append(reply.result)
        session = reply.session ?? session
        foundPortal = reply.portal ?? foundPortal
    }
}
