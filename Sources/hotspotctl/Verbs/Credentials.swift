import ArgumentParser
import ControlAPI
import Glibc
import HotspotCore

struct CredentialsVerb: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "credentials", abstract: "Show and change stored answers, and the PIN that guards them.",
        discussion: """
            Passwords and codes are never shown. Passwords, codes and the PIN are typed without echo or read from standard input. They are never read from the \
            arguments, which every user of this computer can see.
            """,
        subcommands: [
            CredentialsList.self, CredentialsShow.self, CredentialsAdd.self, CredentialsRemove.self, CredentialsUnlock.self,
            CredentialsPIN.self,
        ], defaultSubcommand: CredentialsList.self)
}

struct CredentialsList: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "list", abstract: "List the networks with stored answers.")

    @OptionGroup var common: CommonOptions

    func run() throws {
        try common.show(try common.connect().call("Credentials")) { (renderer, reply: CredentialsReply) in renderer.lines(reply) }
    }
}

struct CredentialsShow: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Show a network's stored answers: helper, portal and names of fields.")

    @OptionGroup var common: CommonOptions
    @OptionGroup var network: NetworkArgument

    func run() throws {
        let reply = try common.connect().call("Credentials", ["ssid": .string(network.name)])
        guard reply["credentials"]?.array?.isEmpty == false else {
            throw Failure(
                .notFound, "No answers are stored for \(common.renderer.quoted(network.name)).",
                hint: "hotspotctl credentials list")
        }
        try common.show(reply) { (renderer, reply: CredentialsReply) in
            reply.credentials.flatMap(renderer.details) + renderer.notes(reply)
        }
    }
}

struct CredentialsAdd: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "add", abstract: "Store answers for the portal of a network where you logged in before.",
        discussion: "On a terminal, hotspotctl asks for each field. Otherwise it reads name=value lines from standard input.")

    @OptionGroup var common: CommonOptions
    @OptionGroup var network: NetworkArgument

    @Option(help: "The helper that gets the answers, if several know the network.", completion: Complete.helpers)
    var helper: String?

    @Argument(
        help: "The fields' names, as 'hotspotctl prompts' shows them after the labels; by default the stored fields.")
    var fields: [String] = []

    func run() throws {
        let client = try common.connect()
        var values: [String: String] = [:]
        if isatty(STDIN_FILENO) == 1 {
            for name in try names(client) {
                values[name] = try SecretLines.ask("\(common.renderer.bar) \(common.renderer.safe(name, limit: 64)): ", common)
            }
        } else {
            values = try AnswerLines.read(
                fields: fields.isEmpty ? nil : fields.map { Field(name: $0, label: $0, kind: .text, required: true) })
        }
        let reply: JSONValue
        do throws(Failure) {
            reply = try client.call("AddCredential", AddParameters(ssid: network.name, helper: helper, answers: values))
        } catch {
            guard case .invalidAnswer = error.refusal else { throw error }
            throw Failure(
                error.status, error.message, hint: "hotspotctl credentials add \(common.renderer.argument(network.name))")
        }
        try common.show(reply) { (renderer, reply: AddedReply) in ["Stored:"] + renderer.details(reply.credential) }
    }

    /// Returns the fields to ask for: those that the user names, otherwise the stored ones.
    private func names(_ client: ControlClient) throws(Failure) -> [String] {
        guard fields.isEmpty else {
            // Reports an unknown portal before the user types anything.
            do throws(Failure) {
                _ = try client.call("AddCredential", AddParameters(ssid: network.name, helper: helper, answers: [:]))
            } catch {
                guard case .invalidAnswer = error.refusal else { throw error }
            }
            return fields
        }
        let reply = try client.call("Credentials", ["ssid": .string(network.name)], as: CredentialsReply.self)
        let stored = reply.credentials.filter { helper == nil || $0.helper == helper }
        guard stored.count < 2 else {
            throw Failure(
                .failed,
                "Answers are stored for several portals or helpers of \(common.renderer.quoted(network.name)): remove those "
                    + "that you do not want, or name the helper.",
                hint: "hotspotctl credentials show \(common.renderer.argument(network.name))")
        }
        if let stored = stored.first { return stored.fields }
        throw Failure(
            .notFound,
            "No answers are stored for \(common.renderer.quoted(network.name)). Log in once and keep the answers; then this "
                + "command also takes the fields' names.", hint: try hint(client))
    }
}

extension CredentialsAdd {
    /// Returns the command that shows the portal's question.
    private func hint(_ client: ControlClient) throws(Failure) -> String {
        let here = try client.call("Status", as: StatusReply.self).interfaces.first { $0.ssid == network.name }
        let login = "hotspotctl login --wait" + (here.map { " \(common.renderer.argument($0.interface))" } ?? "")
        guard let here, here.helper != nil, here.state == StateName.authenticated.rawValue else { return login }
        return "hotspotctl logoff \(common.renderer.argument(here.interface)), then \(login)"
    }
}

struct CredentialsRemove: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove", abstract: "Forget only the stored answers of a network.")

    @OptionGroup var common: CommonOptions
    @OptionGroup var network: NetworkArgument

    @Option(help: "Only the answers of this helper.", completion: Complete.helpers)
    var helper: String?

    @Option(help: "Only the answers for this portal, as 'show' prints it.")
    var portal: String?

    func run() throws {
        let parameters = JSONValue.members(["ssid": network.name, "helper": helper, "portal": portal])
        let count = try common.connect().call("RemoveCredentials", parameters, as: RemovedReply.self).removed
        let name = common.renderer.quoted(network.name)
        guard count > 0 else {
            let which = helper == nil && portal == nil ? "No answers are" : "No such answers are"
            throw Failure(.notFound, "\(which) stored for \(name).", hint: "hotspotctl credentials list")
        }
        Output.print(["Removed the answers for \(count) portal\(count == 1 ? "" : "s") of \(name)."])
    }
}

struct CredentialsUnlock: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "unlock", abstract: "Type the PIN; the daemon needs it once after each start.",
        discussion: "The tenth wrong PIN in a row erases the stored answers.")

    @OptionGroup var common: CommonOptions

    func run() throws {
        let client = try common.connect()
        let stored = try client.call("Credentials", as: CredentialsReply.self)
        guard stored.pin != "none" else {
            // After the tenth wrong PIN, there is neither a PIN nor a stored answer.
            guard !stored.credentials.isEmpty else { throw Failure(.failed, "There is no PIN, and no answers are stored.") }
            throw Failure(
                .failed, "There is no PIN; the stored answers are used without one.", hint: "hotspotctl credentials pin")
        }
        let pin = try SecretLines.read(["PIN: "], common)[0]
        _ = try client.call("Unlock", ["pin": .string(pin)])
        Output.print(["The stored answers can be used until the daemon ends."])
    }
}

struct CredentialsPIN: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pin", abstract: "Set, change or remove the PIN that guards the stored answers.",
        discussion:
            "Without a terminal, the current PIN (if one is set) and the new PIN are read from standard input, each on its own line."
    )

    @OptionGroup var common: CommonOptions

    @Flag(help: "Remove the PIN and keep the answers.")
    var remove = false

    func run() throws {
        let client = try common.connect()
        let hasOld = try client.call("Credentials", as: CredentialsReply.self).pin != "none"
        guard hasOld || !remove else { throw Failure(.failed, "There is no PIN.") }
        let new = remove ? [] : isatty(STDIN_FILENO) == 1 ? ["New PIN: ", "New PIN again: "] : ["New PIN: "]
        var lines = try SecretLines.read((hasOld ? ["Current PIN: "] : []) + new, common)[...]
        let old = hasOld ? lines.popFirst() : nil
        guard Set(lines).count < 2 else { throw Failure(.usage, "The two PINs differ; nothing was changed.") }
        _ = try client.call("SetPIN", .members(["pin": lines.first, "old": old]))
        Output.print([
            remove ? "The PIN was removed; the stored answers are used without one." : "This PIN now guards the stored answers."
        ])
    }
}

/// A network with stored answers.
struct NetworkArgument: ParsableArguments {
    @Argument(help: "The network as 'list' shows it, or wired:ADDRESS.", completion: Complete.networks)
    var name: String

    func validate() throws { try NetworkName.validate(name) }
}

/// Reads secrets from the terminal without echo, or from standard input, each on its own line.
enum SecretLines {
    /// Asks for one secret on the terminal, unless `--no-ask` forbids it.
    static func ask(_ question: String, _ common: CommonOptions) throws(Failure) -> String {
        guard !common.noAsk else { throw Failure(.answerNeeded, "An answer is needed: \(question.dropLast(2)).") }
        return try TerminalLine.read(question, true)
    }

    static func read(_ questions: [String], _ common: CommonOptions) throws(Failure) -> [String] {
        guard isatty(STDIN_FILENO) != 1 else {
            return try questions.map { question throws(Failure) in try ask(question, common) }
        }
        guard let text = String(validating: try AnswerLines.standardInput(), as: UTF8.self) else {
            throw Failure(.usage, "The input is not UTF-8.")
        }
        let lines = text.split(separator: "\n", omittingEmptySubsequences: true).map(String.init)
        guard lines.count == questions.count else {
            throw Failure(.usage, "\(questions.count) line\(questions.count == 1 ? " is" : "s are") needed on standard input.")
        }
        return lines
    }
}

extension Renderer {
    func lines(_ reply: CredentialsReply) -> [String] {
        guard !reply.credentials.isEmpty else { return ["No answers are stored."] }
        return table(
            [
                Column(heading: "NETWORK"), Column(heading: "HELPER", least: 6, leaves: 2),
                Column(heading: "PORTAL", least: 16, isOrigin: true), Column(heading: "FIELDS", least: 8, leaves: 1),
                Column(heading: "SENT"),
            ],
            reply.credentials.map {
                [name($0.ssid), safe($0.helper, limit: 48), origin($0.portal), fields($0), release($0)]
            }) + notes(reply)
    }

    fileprivate func details(_ credential: CredentialStatus) -> [String] {
        [
            "\(tone(quoted(credential.ssid), .strong)) (\(security(credential.security)))",
            "  helper: \(safe(credential.helper, limit: 48))", "  portal: \(origin(credential.portal))",
            "  fields: \(fields(credential, limit: 64))", "  sent: \(release(credential))",
        ]
    }

    fileprivate func notes(_ reply: CredentialsReply) -> [String] {
        (reply.pin == "locked" ? ["The answers are locked by the PIN; to unlock them: hotspotctl credentials unlock"] : [])
            + more(reply.omitted, "networks with stored answers")
    }

    private func fields(_ credential: CredentialStatus, limit: Int = 8) -> String {
        credential.fields.prefix(limit).map { safe($0, limit: 32) }.joined(separator: ", ")
            + (credential.fields.count > limit ? ", …" : "")
    }

    private func release(_ credential: CredentialStatus) -> String {
        let words =
            switch CredentialRelease(rawValue: credential.release) {
            case .automatic: "automatically"
            case .confirm: "after you press Enter"
            case .never: "never"
            case nil: safe(credential.release, limit: 32)
            }
        return credential.earlierKey == true ? "\(words), to the portal's earlier key" : words
    }
}
