import ArgumentParser
import ControlAPI
import EventLoop
import Glibc
import HotspotCore
import Varlink

struct CompanionShare: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "share", abstract: "Offer the stored answers for a network to paired laptops nearby.",
        discussion: """
            The other laptop must run 'hotspotctl companion accept', or wait at the portal's question. It stores the answers \
            only for the same network and portal. A voucher may work for one device only. The offer ends when this command ends. If a PIN guards the stored \
            answers, you are asked for it.
            """)

    @OptionGroup var options: CompanionOptions

    @Option(help: "The helper whose answers to share, if several have answers.", completion: Complete.helpers)
    var helper: String?

    @Option(help: "Share the answers for this portal, as 'hotspotctl credentials show' prints it.")
    var portal: String?

    @Option(
        name: .customLong("portal-file"),
        help: ArgumentHelp("Also send this portal file, with or without stored answers.", valueName: "path"),
        completion: .file(extensions: ["portal"]))
    var portalFile: String?

    @Option(help: ArgumentHelp("How long to wait for the other laptops.", valueName: "seconds"))
    var wait: Double = 300

    @Argument(help: "The network as 'list' shows it; without it, the joined one.", completion: Complete.networks)
    var network: String?

    @Argument(help: "The laptop's name or ID; without it, all paired laptops.", completion: Complete.laptops)
    var peer: String?

    func validate() throws {
        try CompanionOptions.validate(wait: wait)
        if let network { try NetworkName.validate(network) }
    }

    func run() throws {
        let companion = try options.connect()
        let daemon = try options.common.connect()
        let name = try network ?? joined(daemon)
        let text = try portalFile.map(Self.portalFile)
        let shared = try unlock(daemon, name) ? stored(daemon, name) : present(daemon, name)
        try companion.subscribe(
            "Share",
            ShareParameters(
                network: shared.network, portal: shared.portal, portalKey: shared.portalKey, kind: nil, answers: shared.answers,
                portalFile: text, peer: peer, seconds: max(1, Int(wait))))
        try follow(companion, shared, name)
    }

    /// Prints the decisions. Throws unless a laptop accepted the login.
    private func follow(_ companion: ControlClient, _ shared: SharedReply, _ name: String) throws {
        let renderer = options.common.renderer
        let end = WallClock.now + Int(wait * 1000)
        var (open, isTaken): (Set<String>?, Bool) = (nil, false)
        while open?.isEmpty != true, let reply = try companion.next(within: max(0.001, Double(end - WallClock.now) / 1000)) {
            let share = try ControlClient.read(ShareReply.self, reply)
            isTaken = isTaken || share.taken == true
            if options.printed(reply) {
                // The reply has been printed as JSON.
            } else if let notice = share.notice {
                Output.print([renderer.safe(notice)])
            } else {
                Output.print(renderer.lines(share.offers, of: shared, at: name))
            }
            let ids = Set(share.offers.map(\.id))
            open = share.notice == nil ? ids : open?.subtracting(ids)
        }
        if isTaken { return }
        guard open?.isEmpty != true else { throw Failure(.failed, "") }
        throw Failure(
            .timeout, "No laptop accepted the login within \(renderer.tenths(wait)).", hint: "hotspotctl companion status")
    }

    private func joined(_ daemon: ControlClient) throws(Failure) -> String {
        let names = try daemon.call("Status", as: StatusReply.self).interfaces.compactMap(\.ssid)
        guard let name = names.first else {
            throw Failure(.notFound, "No network is joined: name one.", hint: "hotspotctl list --all")
        }
        guard names.count == 1 else { throw Failure(.usage, "Several networks are joined: name one.", hint: "hotspotctl status") }
        return name
    }

    private static func portalFile(_ path: String) throws(Failure) -> String {
        guard let octets = FilePath.octets(of: path, limit: fileLimit + 1) else {
            throw Failure(.failed, "\(Renderer.safe(path)) cannot be read.")
        }
        guard octets.count <= fileLimit, let text = String(validating: octets, as: UTF8.self) else {
            throw Failure(.usage, "A portal file is UTF-8 text of at most 32 KiB.")
        }
        return text
    }

    /// The largest portal file that the protocol allows, in octets.
    private static let fileLimit = 32 * 1024

    private func stored(_ daemon: ControlClient, _ name: String) throws(Failure) -> SharedReply {
        try daemon.call("SharedAnswers", .members(["ssid": name, "helper": helper, "portal": portal]), as: SharedReply.self)
    }

    /// Returns the current portal of a joined network, without answers.
    private func present(_ daemon: ControlClient, _ name: String) throws(Failure) -> SharedReply {
        let here = try daemon.call("Status", as: StatusReply.self).interfaces.first { $0.ssid == name }
        guard let network = here?.network, let origin = here?.portal else {
            throw Failure(
                .notFound, "The portal of \(options.common.renderer.quoted(name)) is not known now: join the network first.",
                hint: "hotspotctl status")
        }
        return SharedReply(network: network, helper: "", portal: origin, portalKey: here?.portalKey, answers: [:])
    }

    /// Asks for the PIN if it locks the stored answers. Returns whether there are stored answers.
    private func unlock(_ daemon: ControlClient, _ name: String) throws(Failure) -> Bool {
        let stored = try daemon.call("Credentials", ["ssid": .string(name)], as: CredentialsReply.self)
        guard !stored.credentials.isEmpty else {
            if portalFile != nil { return false }
            throw Failure(
                .notFound, "No answers are stored for \(options.common.renderer.quoted(name)).",
                hint: "hotspotctl credentials list")
        }
        guard stored.pin == "locked" else { return true }
        guard Dialogue.canAsk(options.common) else {
            throw Failure(.answerNeeded, "The stored answers are locked by the PIN.", hint: "hotspotctl credentials unlock")
        }
        _ = try daemon.call("Unlock", ["pin": .string(try TerminalLine.read("PIN of the stored answers: ", true))])
        return true
    }
}

extension Renderer {
    /// Returns the lines about offers that were made.
    func lines(_ offers: [MadeStatus], of shared: SharedReply, at network: String) -> [String] {
        ["Offered the answers for \(quoted(network)) to \(offers.map { quoted($0.peer) }.joined(separator: ", "))."]
            + lines(portal: shared.portal, fields: shared.answers.keys.sorted())
            + ["On the other laptop: hotspotctl companion accept. The offer ends when this command ends."]
    }
}
