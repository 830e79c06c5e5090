import ArgumentParser
import ControlAPI
import EventLoop
import Glibc
import HotspotCore
import Varlink

struct CompanionAccept: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "accept", abstract: "Wait for a login that a paired laptop shares, and use it if you agree.",
        discussion: """
            An offer is valid only for its own network and portal: join that network first. If the portal's question waits, \
            the offer answers it; otherwise the answers are stored for the next login.
            """)

    @OptionGroup var options: CompanionOptions

    @Flag(help: "Use the first offer that is for this network and portal, without asking.")
    var yes = false

    @Option(
        name: .customLong("portal-file"),
        help: ArgumentHelp("Save the offer's portal file here. Read it before you install it.", valueName: "path"),
        completion: .file(extensions: ["portal"]))
    var portalFile: String?

    @Option(help: "Use only the offer with this ID from 'hotspotctl companion status --json'.")
    var offer: String?

    @Flag(help: "Ask in a dialog of the desktop, as the notification does.")
    var dialog = false

    /// Whether to wait for Enter at the end, in a terminal that closes with this command.
    @Flag(help: .hidden)
    var stay = false

    @Option(help: ArgumentHelp("How long to wait for an offer.", valueName: "seconds"))
    var wait: Double = 600

    func validate() throws {
        try CompanionOptions.validate(wait: wait)
    }

    func run() throws { try DesktopPrograms.run(staying: stay, accept) }

    private func accept() throws {
        // Checked before the decision, because the service does not keep the portal file afterwards.
        if let portalFile, access(portalFile, F_OK) == 0 {
            throw Failure(.usage, "\(Renderer.safe(portalFile)) exists already; name another file.")
        }
        let client = try options.connect()
        try client.subscribe("Status", CompanionStatusParameters(awaitsOffers: true))
        let renderer = options.common.renderer
        let wait = CompanionWait(options: options, client: client, seconds: wait)
        let isNamed = offer != nil
        let offer = try wait.first(
            "offer of a login", isGone: { isNamed && named(in: $0).isEmpty ? Self.gone : nil }
        ) { status in
            for other in named(in: status) where !other.fits { wait.mention(other.id, renderer.misfit(other)) }
            return named(in: status).first(where: \.fits)
        }
        let asker = try options.asker(
            dialog: dialog, terminal: ["accept", "--stay", "--offer=\(offer.id)"],
            end: wait.end(Self.gone) { status in
                status.offers.contains { $0.id == offer.id }
            })
        if options.common.jsonMode == nil { Output.print(renderer.lines(offer)) }
        guard yes || asker != nil else {
            throw Failure(
                .answerNeeded, "hotspotctl cannot ask you here whether to accept the offer.",
                hint: "hotspotctl companion accept --yes")
        }
        let isAccepted = try yes || asker?.accepts(offer) == true
        if isAccepted, !offer.fields.isEmpty { try unlock(offer, asker) }
        // A second connection, because the first one carries a stream.
        let reply = try options.connect().call(
            "Decide", DecideParameters(id: offer.id, peer: offer.peer.id, accept: isAccepted))
        let decided = try ControlClient.read(DecideReply.self, reply)
        if let portalFile, let text = decided.portalFile { try Self.save(text, to: portalFile) }
        if options.printed(reply) { return }
        guard isAccepted else { return Output.print(["Declined; nothing was stored."]) }
        if let portalFile, decided.portalFile != nil {
            let path = renderer.argument(portalFile)
            Output.print([
                "The portal file was saved as \(renderer.safe(portalFile)). Read it first, then:",
                "  hotspotctl portals check \(path)", "  sudo install -m 644 \(path) /etc/hotspotd/portals/",
            ])
        }
        guard !offer.fields.isEmpty else { return }
        Output.print(
            decided.answered == true
                ? ["hotspotd answered the portal's question with the offer.", "  to see the outcome: hotspotctl login --wait"]
                : ["The answers are stored for this network and portal.", "  to log in: hotspotctl login --wait"])
    }
}

extension CompanionAccept {
    private func named(in status: CompanionStatus) -> [OfferStatus] {
        status.offers.filter { offer == nil || $0.id == offer }
    }

    private static let gone = Failure(.notFound, "This offer has ended.", hint: "hotspotctl companion status")

    /// Asks for the PIN if it locks the stored answers and the offer's answers must be stored. Call this before the decision, because the decision
    /// ends the offer. A login that waits for the PIN does not continue with the user's own stored answers.
    private func unlock(_ offer: OfferStatus, _ asker: (any OfferQuestioner)?) throws {
        guard let daemon = try? options.common.connect(),
            let stored = try? daemon.call("Credentials", ["ssid": .string(offer.ssid)], as: CredentialsReply.self),
            stored.pin == "locked"
        else { return }
        let prompts = (try? daemon.call("Prompts", as: PromptsReply.self).prompts) ?? []
        guard !prompts.contains(where: { $0.portal == offer.portal && offer.answers($0.fields) }) else { return }
        let isOpen = try asker.map { asker throws(Failure) in
            try daemon.unlock(asker, "PIN of the stored answers", isDialog: asker is DialogAsker, resumes: false)
        }
        guard isOpen == true else {
            throw Failure(
                .answerNeeded, "The stored answers are locked by the PIN. The offer still waits.",
                hint: "hotspotctl credentials unlock")
        }
    }

    /// Writes a new file.
    private static func save(_ text: String, to path: String) throws(Failure) {
        guard FilePath.create(path, text, mode: 0o644) else {
            throw Failure(.failed, "The portal file was not saved: \(Renderer.safe(path)): \(String(cString: strerror(errno))).")
        }
    }
}

struct CompanionAnswer: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "answer", abstract: "Wait for a portal's question on a paired laptop, and answer it here.",
        discussion: """
            On a terminal, hotspotctl asks for each field. Otherwise it reads name=value lines from standard input. The question comes from \
            the other laptop; the answers go to that laptop alone.
            """)

    @OptionGroup var options: CompanionOptions

    @Option(help: "Answer only the question with this ID from 'hotspotctl companion status --json'.")
    var question: String?

    @Flag(help: "Ask in a dialog of the desktop, as the notification does.")
    var dialog = false

    /// Whether to wait for Enter at the end, in a terminal that closes with this command.
    @Flag(help: .hidden)
    var stay = false

    @Option(help: ArgumentHelp("How long to wait for a question.", valueName: "seconds"))
    var wait: Double = 600

    @Argument(help: "Only the questions of this laptop.", completion: Complete.laptops)
    var peer: String?

    func validate() throws {
        try CompanionOptions.validate(wait: wait)
    }

    func run() throws { try DesktopPrograms.run(staying: stay, answer) }

    private func answer() throws {
        let client = try options.connect()
        try client.subscribe("Status", CompanionStatusParameters(awaitsQuestions: true))
        let wait = CompanionWait(options: options, client: client, seconds: wait)
        let isNamed = question != nil
        let question = try wait.first("question", isGone: { isNamed && named(in: $0).isEmpty ? Self.gone : nil }) { status in
            named(in: status).first
        }
        let renderer = options.common.renderer
        let laptop = "On the laptop \(renderer.quoted(question.peer)):"
        let end = wait.end(Self.gone) { status in
            status.questions.contains { $0.id == question.id && $0.peer.id == question.peer.id }
        }
        let asker = try options.asker(
            dialog: dialog, introduction: laptop, terminal: ["answer", "--stay", "--question=\(question.id)", question.peer.id],
            end: end)
        if asker is Asker { Output.ask(laptop + "\n") }
        let values =
            try asker?.ask(question.prompt, after: EarlierQuestions()).values ?? AnswerLines.read(fields: question.fields)
        // A second connection is needed, because the first one carries a stream.
        let reply = try options.connect().call(
            "Answer", PeerAnswerParameters(id: question.id, peer: question.peer.id, answers: values))
        if options.printed(reply) { return }
        Output.print(["The answers were sent to \(renderer.quoted(question.peer))."])
    }

    private func named(in status: CompanionStatus) -> [QuestionStatus] {
        status.questions.filter { question == nil || $0.id == question }
            .filter { peer == nil || $0.peer.name == peer || $0.peer.id.hasPrefix(peer ?? "") }
    }

    private static let gone = Failure(.notFound, "This question has ended.", hint: "hotspotctl companion status")
}

/// Waits for a change in the stream of the service's status.
final class CompanionWait {
    private let options: CompanionOptions
    private let client: ControlClient
    private let seconds: Double
    private var mentioned: Set<String> = []

    init(options: CompanionOptions, client: ControlClient, seconds: Double) {
        (self.options, self.client, self.seconds) = (options, client, seconds)
    }

    /// Prints the lines, once for each ID, unless the output is JSON.
    func mention(_ id: String, _ lines: @autoclosure () -> [String]) {
        guard mentioned.insert(id).inserted, options.common.jsonMode == nil else { return }
        Output.error(lines())
    }

    /// Waits until `find` finds something in a status, and returns it. Throws after the time limit.
    ///
    /// - Parameter isGone: returns a failure if `find` can no longer succeed.
    func first<T>(
        _ what: String, isGone: (CompanionStatus) -> Failure?, _ find: (CompanionStatus) -> T?
    ) throws(Failure) -> T {
        var end: Int?
        // The time limit starts with the first status, which does not depend on other laptops but may be late on a busy computer.
        while let reply = try client.next(
            within: end.map { max(0.001, Double($0 - WallClock.now) / 1000) } ?? ControlClient.patience)
        {
            end = end ?? WallClock.now + Int(seconds * 1000)
            let status = try ControlClient.read(CompanionStatus.self, reply).checked
            if let message = status.message { throw Failure(.failed, "\(Renderer.safe(message)).") }
            guard !status.peers.isEmpty else {
                throw Failure(.failed, "No laptop is paired.", hint: "hotspotctl companion pair")
            }
            if let found = find(status) {
                _ = options.printed(reply)
                return found
            }
            if let failure = isGone(status) { throw failure }
            mention(
                "", ["Waiting for the \(what) of \(status.peers.map(options.common.renderer.quoted).joined(separator: " or "))…"])
        }
        throw Failure(.timeout, "No \(what) came within \(options.common.renderer.tenths(seconds)).")
    }

    /// Returns a function that an asker calls repeatedly. The function reads the next status, if there is one, and returns `gone` if `isWaiting`
    /// rejects that status.
    ///
    /// - Parameter isWaiting: returns whether a status still contains the question or the offer.
    func end(_ gone: Failure, _ isWaiting: @escaping (CompanionStatus) -> Bool) -> () -> Failure? {
        { [client] in
            do throws(Failure) {
                guard let reply = try client.next(within: 0.001) else { return nil }
                return isWaiting(try ControlClient.read(CompanionStatus.self, reply).checked) ? nil : gone
            } catch { return error }
        }
    }
}

extension CompanionOptions {
    /// Returns an asker for this terminal or, if wanted, for dialogs; `nil` if the user must not be asked. Without a program for dialogs, continues
    /// in a terminal.
    ///
    /// - Parameters:
    ///   - introduction: the first line of the dialog.
    ///   - words: the arguments of hotspotctl in that terminal, after `companion`.
    fileprivate func asker(
        dialog: Bool, introduction: String? = nil, terminal words: [String], end: @escaping () -> Failure?
    ) throws -> (any OfferQuestioner)? {
        let renderer = common.renderer
        if Dialogue.canAsk(common), common.jsonMode == nil { return Asker(renderer: renderer, interface: "", end: end) }
        guard dialog else { return nil }
        if let program = DesktopPrograms.dialog {
            return DialogAsker(renderer: renderer, program: program, introduction: introduction, end: end)
        }
        throw DesktopPrograms.terminalInstead(["companion"] + words, hint: "hotspotctl companion \(words[0])")
    }
}

/// Asks whether to use an offer.
protocol OfferQuestioner: Questioner {
    func accepts(_ offer: OfferStatus) throws(Failure) -> Bool
}

extension OfferQuestioner {
    fileprivate static var question: String { "Use it for this portal, now and for later logins?" }
}

extension Asker: OfferQuestioner {
    /// The offer is already on the screen, so only the question is asked.
    func accepts(_ offer: OfferStatus) throws(Failure) -> Bool {
        TerminalLine.dropTypedAhead()
        return ["y", "yes"].contains(try TerminalLine.read("\(Self.question) [y/N] ", false, end: end).lowercased())
    }
}

extension DialogAsker: OfferQuestioner {
    func accepts(_ offer: OfferStatus) throws(Failure) -> Bool {
        try agrees((renderer.lines(offer) + ["", Self.question]).joined(separator: "\n"), mayDecline: true)
    }
}

extension OfferStatus {
    /// Returns whether hotspotd can answer a question with these fields from this offer. An offer contains no consent, so it answers no check boxes.
    func answers(_ asked: [Field]) -> Bool {
        let answered = asked.filter { $0.kind != .checkbox && fields.contains($0.name) }.map(\.name)
        return !answered.isEmpty && asked.allSatisfy { !$0.required || answered.contains($0.name) }
    }
}

extension QuestionStatus {
    /// The question as a prompt, so that it is asked like the questions of this computer's own portals.
    var prompt: PendingPrompt {
        PendingPrompt(
            id: id, interface: "", ssid: ssid ?? "", helper: "", portal: portal,
            prompt: Prompt(title: title, message: message, fields: fields, termsURL: termsURL, terms: terms), since: 0)
    }
}

extension Renderer {
    func lines(_ offer: OfferStatus) -> [String] {
        ["\(quoted(offer.peer)) offers a login for \(tone(quoted(offer.ssid), .strong)):"]
            + lines(portal: offer.portal, fields: offer.fields)
            + (offer.portalFile == true ? ["  with a portal file, which --portal-file PATH saves"] : [])
    }

    func misfit(_ offer: OfferStatus) -> [String] {
        lines(offer) + ["  This offer is for another network or portal. Join that network to accept it."]
    }
}
