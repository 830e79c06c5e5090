import EventLoop
import Glibc
import HelperHost
import HotspotCore
import Varlink

/// The commands of the contract, one after the other, with a made-up network and a portal on loopback.
@LoopActor final class Rehearsal {
    private let spec: HelperSpec
    private let candidate: Candidate
    private let portal: RehearsalPortal
    private let networks: RehearsalNetworks
    private let host: HelperHost
    private let folder: String
    private var mistakes = 0
    private var attempts = 0
    private var session: Session?
    private var found: Portal?
    /// A helper that says nothing for as long as this is cut off by the daemon.
    private let patience = Duration.seconds(45)
    /// Slower answers are worth a word.
    private let slow = 5_000

    init(_ candidate: Candidate, portal: RehearsalPortal) {
        self.candidate = candidate
        spec = candidate.spec
        self.portal = portal
        networks = RehearsalNetworks(candidate.spec)
        var template = Array("/tmp/hotspot-helper-test-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else {
            print("no folder below /tmp: \(String(cString: strerror(errno)))")
            exit(2)
        }
        folder = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        host = HelperHost(
            configuration: HostConfiguration(
                runtimeDirectory: folder + "/run", hiddenDirectories: [], scratchDirectory: folder + "/scratch"))
        host.setHelpers([HelperEntry(spec: candidate.spec, file: candidate.path)])
    }

    func run() async {
        print(
            "\(spec.name) («\(spec.displayName)»), \(spec.activation.word); the network is «\(networks.joined.ssid)», the portal \(portal.origin)"
        )
        say(candidate.remarks)
        await describe()
        await filter()
        await evaluate()
        await logIn()
        await maintain()
        await logOff()
        conclude()
        await withCheckedContinuation { continuation in host.shutDown { continuation.resume() } }
        for path in ["/run/helpers", "/run", "/scratch", ""] { rmdir(folder + path) }
        EventLoop.shared.stop(code: mistakes == 0 ? 0 : 1)
    }

    // MARK: The commands

    private func describe() async {
        guard let outcome = await play("Describe", { host.describe(spec.name, completion: $0) }) else { return }
        if case .value(let value) = outcome { say(Review.description(value, spec)) }
    }

    private func filter() async {
        guard !spec.ssids.isEmpty || spec.scanList else {
            print("FilterScanList: not asked, since the file has neither SSID= nor ScanList=yes")
            return
        }
        let outcome = await play("FilterScanList", .filterScanList, ["networks": Coding.value(networks.inSight)])
        if case .annotations(let annotations)? = outcome { say(Review.annotations(annotations, asked: networks.inSight)) }
    }

    private func evaluate() async {
        portal.reset(open: true)
        if case .evaluation(let evaluation)? = await play("Evaluate, no login needed", .evaluate, place(new: true)) {
            say(Review.open(evaluation))
        }
        portal.reset(open: false)
        guard case .evaluation(let evaluation)? = await play("Evaluate, captive", .evaluate, place(new: true)) else { return }
        say(Review.captive(evaluation))
        session = evaluation.session
        found = evaluation.portal
    }

    private func logIn() async {
        var prompt = await authenticate("Authenticate, nothing accepted yet", login(consent: false), consent: false)
        if prompt != nil { prompt = await present(prompt) }
        let wasAsked = prompt != nil || portal.isOpen
        portal.reset(open: false)
        attempts += 1
        prompt = await authenticate("Authenticate, terms accepted before", login(consent: true), consent: true)
        if prompt == nil, !wasAsked { portal.reset(open: false) }
        if prompt != nil || !wasAsked { _ = await present(prompt) }
    }

    private func authenticate(_ title: String, _ parameters: [String: JSONValue], consent: Bool) async -> Prompt? {
        guard case .reply(let reply)? = await play(title, .authenticate, parameters) else { return nil }
        review(reply, consent: consent)
        return reply.result == .uiRequired ? reply.prompt : nil
    }

    /// Answers a prompt, and those that follow from it, such as one for a code by text message. Without one, the command is played with
    /// no answers.
    private func present(_ first: Prompt?) async -> Prompt? {
        var prompt = first
        for round in 0..<3 {
            var parameters = login(consent: false)
            parameters["answers"] = Coding.value(prompt.map(RehearsalUser.answers) ?? [:])
            guard case .reply(let reply)? = await play("PresentUI, answered", .presentUI, parameters) else { return first }
            review(reply, consent: true)
            prompt = reply.result == .uiRequired ? reply.prompt : nil
            if prompt == nil { return first }
            if round == 2 { say([.note("It asks again and again, whatever is answered.")]) }
        }
        return first
    }

    private func maintain() async {
        if !portal.isOpen { portal.reset(open: true) }
        for (title, open) in [("Maintain, session good", true), ("Maintain, session over", false)] {
            portal.isOpen = open
            var parameters = place(new: true)
            parameters["session"] = session.map { Coding.value($0) }
            guard case .reply(let reply)? = await play(title, .maintain, parameters) else { continue }
            say(Review.maintain(reply, isOpen: open))
            if open { session = reply.session ?? session }
        }
    }

    private func logOff() async {
        portal.isOpen = true
        var parameters = place(new: true)
        parameters["session"] = session.map { Coding.value($0) }
        guard case .reply(let reply)? = await play("Logoff", .logoff, parameters) else { return }
        say(Review.logoff(reply, isOpen: portal.isOpen))
    }

    // MARK: Parameters

    private func place(new: Bool) -> [String: JSONValue] {
        if new { attempts += 1 }
        let link = Link(
            attempt: "rehearsal-\(attempts)", association: "rehearsal", interface: networks.joined.interface, index: 1,
            addresses: ["127.0.0.1/8"], gateways: ["127.0.0.1"], nameservers: [], probeURL: portal.probeURL, probeExpect: "204")
        return ["network": Coding.value(networks.joined), "link": Coding.value(link)]
    }

    private func login(consent: Bool) -> [String: JSONValue] {
        var parameters = place(new: false)
        parameters["portal"] = found.map { Coding.value($0) }
        parameters["session"] = session.map { Coding.value($0) }
        parameters["consent"] = .bool(consent)
        return parameters
    }

    private func review(_ reply: Reply, consent: Bool) {
        say(Review.login(reply, .init(isOpen: portal.isOpen, acceptedTerms: portal.acceptedTerms, consent: consent)))
        session = reply.session ?? session
        found = reply.portal ?? found
    }

    // MARK: Playing and telling

    private func play(_ title: String, _ command: Command, _ parameters: [String: JSONValue]) async -> HelperOutcome? {
        await play(title) { host.send(command, to: spec.name, parameters: .object(parameters), completion: $0) }
    }

    private func play(_ title: String, _ send: (@escaping (HelperOutcome) -> Void) -> HelperCall) async -> HelperOutcome? {
        let start = EventLoop.now
        var timer: EventSource?
        let outcome: HelperOutcome? = await withCheckedContinuation { continuation in
            let call = send { continuation.resume(returning: $0) }
            timer = try? EventLoop.shared.schedule(after: patience) {
                guard call.isLive else { return }
                call.cancel()
                continuation.resume(returning: nil)
            }
        }
        timer?.cancel()
        let took = (EventLoop.now - start).milliseconds
        print("\(title): \(Self.tell(outcome)) (\(took) ms)")
        switch outcome {
        case nil: say([.wrong("No answer within \(patience): the daemon would have cut it off, and counted a strike.")])
        case .failed(let fault)?:
            say([.wrong(fault.sentence)])
            if let text = fault.standardError {
                print(text.split(separator: "\n").suffix(20).map { "         | \($0)" }.joined(separator: "\n"))
            }
        case .evaluation, .reply, .annotations, .value, .notRecognized:
            if took > slow {
                say([.note("It took \(took / 1000) s. Other helpers may win meanwhile, and after 45 s it is cut off.")])
            }
        }
        return outcome
    }

    private static func tell(_ outcome: HelperOutcome?) -> String {
        switch outcome {
        case nil: return "nothing"
        case .failed?: return "no usable answer"
        case .notRecognized?: return "not known to it, which is allowed"
        case .annotations(let annotations)?:
            let claims = annotations.prefix(8).map {
                "\($0.confidence.rawValue) for \(SSID(hex: $0.ssidHex)?.description ?? "?")"
            }
            return claims.isEmpty ? "no claims" : claims.joined(separator: ", ")
        case .evaluation(let evaluation)?:
            return evaluation.confidence.rawValue + (evaluation.reason.map { ": " + Printable.text($0, limit: 200) } ?? "")
        case .reply(let reply)?:
            let asks =
                reply.prompt.map { prompt in
                    let fields = prompt.fields.prefix(8).map { Printable.text($0.name, limit: 40) }.joined(separator: ", ")
                    return " «\(Printable.text(prompt.title, limit: 60))» (\(fields.isEmpty ? "no fields" : fields))"
                } ?? ""
            return reply.result.rawValue + asks + (reply.reason.map { ": " + Printable.text($0, limit: 200) } ?? "")
        case .value(let value)?: return Printable.text(String(decoding: Coding.encode(value), as: UTF8.self), limit: 200)
        }
    }

    private func say(_ remarks: [Remark]) {
        for remark in remarks {
            if remark.isWrong { mistakes += 1 }
            print(remark.line)
        }
    }

    private func conclude() {
        let words = host.containment(of: spec.name)
        if !words.isEmpty { print("It ran with: \(words.joined(separator: ", "))") }
        let missing = host.missingContainment(of: spec.name)
        if !missing.isEmpty, !words.isEmpty { print("Not to be had here: \(missing.joined(separator: ", "))") }
        if let ignored = host.ignoredAnswers[spec.name] {
            say([.wrong("It gave \(ignored) answers more than it was asked for; only the first counts.")])
        }
        print(mistakes == 0 ? "Nothing is wrong." : mistakes == 1 ? "One thing is wrong." : "\(mistakes) things are wrong.")
    }
}
