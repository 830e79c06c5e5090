import HelperKit
import HotspotCore
import PageLogin
import PortalCatalogue

/// A page as the network shows it after the probe.
struct SavedPage: Sendable {
    let octets: [UInt8]
    let url: WebURL
    let page: HTMLPage
    var portals: [PortalFile]
    /// The answers that are stored for the portal.
    var credential: [String: String]?
    /// Whether the user accepted the portal's terms before.
    var consent = false
    var policy = NetworkPolicy.strict

    private static let probe = "http://detectportal.firefox.com/canonical.html"

    /// The gateway's answer to the probe, and then the page's answer.
    var hops: [HTTPResponse] {
        let location = HTTPResponse.Header(name: "location", value: url.text)
        return [
            HTTPResponse(url: WebURL(Self.probe)!, status: 302, phrase: "Found", headers: [location]),
            HTTPResponse(url: url, status: 200, phrase: "OK", body: octets, pin: url.isSecure ? "key" : nil),
        ]
    }

    init(octets: [UInt8], url: WebURL, portals: [PortalFile]) {
        (self.octets, self.url, self.portals) = (octets, url, portals)
        page = HTMLPage.read(octets, at: url)
    }

    func portal(kind: String) -> Portal {
        Portal(origin: url.origin, pin: url.isSecure ? "key" : nil, kind: kind, title: page.title)
    }

    /// A command on a link without a nameserver, so that no name is looked up.
    func command(kind: String) -> HelperCommand {
        let link = Link(
            attempt: "judge", association: "judge", interface: "lo", index: 1, addresses: ["192.0.2.2/24"], nameservers: [],
            portalAPI: nil, probeURL: Self.probe, probeExpect: nil)
        return HelperCommand(
            network: Network(ssid: SSID(hex: "61")!, interface: "lo", security: .open), link: link, portal: portal(kind: kind),
            credential: credential, consent: consent, attempts: SharedProbe(), policy: policy)
    }
}

/// The decisions of the helpers.
extension Ruling {
    /// Rules by a WISPr document that leads to an encrypted login at the page's own host.
    init?(byWISPr saved: SavedPage) {
        guard let document = WISPrDocument.find(in: saved.octets), document.isRedirect,
            let login = document.loginURL.flatMap({ WebURL($0, relativeTo: saved.url) }), login.isSecure,
            login.host == saved.url.host, !WISPrLogin.needsNoAccount(saved.page, at: saved.url)
        else { return nil }
        self.init(helper: "wispr")
        asks = ["Password", "UserName"]
        var attempt = WISPrAttempt(
            ("1typed", "2typed"), at: saved.portal(kind: "wispr"), login: login, probed: saved.hops[0].url,
            engine: FormEngine(for: saved.command(kind: "wispr").redirects))
        guard case .request(let request, _, _, _) = attempt.next() else { return nil }
        send(request)
        submits?.fields?.merge(["UserName": "<user:UserName>", "Password": "<user:Password>"]) { $1 }
    }

    /// Rules by the portal file that knows the page; `nil` if there is none, or if it finds another portal than it describes.
    init?(byFile saved: SavedPage) {
        // UniFi's page is a program without text of its own; a page with text is another server's.
        let gateway = Gateway(isUniFi: saved.page.text.isEmpty)
        var command = saved.command(kind: "catalogue")
        let start = PortalLogin.Start(
            hops: saved.hops, page: saved.page, portal: saved.portal(kind: "catalogue"),
            client: HTTPClient(link: command.link, policy: .played(by: gateway.answer)))
        guard let claim = PortalLogin(command, portals: saved.portals).claim(start) else { return nil }
        self.init(helper: claim.portal.id)
        command.portal?.kind = claim.portal.id
        func play(isTypedNow: Bool) -> Reply {
            var login = PortalLogin(command, portals: saved.portals)
            login.isOpen = { false }
            login.pause = { _ in true }
            return login.run(on: start, isTypedNow: isTypedNow)
        }
        var reply = play(isTypedNow: false)
        if reply.result == .uiRequired, reply.reason == nil, let prompt = reply.prompt {
            // Requests before a question fetch the terms, not the login.
            gateway.forget()
            command.answers = answers(to: prompt, on: saved.page)
            command.session = reply.session
            reply = play(isTypedNow: true)
        }
        if let request = gateway.login {
            send(request)
            let typed = command.answers.filter { asks.contains($0.key) }
            for (name, answer) in typed {
                guard let field = submits?.fields?.first(where: { $0.value == answer })?.key else { continue }
                submits?.fields?[field] = "<user:\(field)>"
                asks = asks.map { $0 == name ? field : $0 }.sorted()
            }
            return
        }
        reason = reply.reason
        switch reply.result {
        case .unsupportedNetwork: return nil
        case .uiRequired: self.class = .handOver
        case .success, .failure, .temporaryFailure, .commandNotRecognized, .authenticationRequired:
            self.class = .leaveAlone
        }
    }

    /// Rules by the page's forms.
    init(byForm saved: SavedPage) {
        self.init(helper: "form")
        let (page, url) = (saved.page, saved.url)
        let portal = saved.portal(kind: "form")
        var command = saved.command(kind: "form")
        if let hop = RedirectChain.ownRequest(of: page, at: url, on: command.link) {
            // A page that refuses only leads back to the login.
            if let complaint = FormEngine(for: command.redirects).complaint(of: page) { reason = complaint } else { send(hop) }
            return
        }
        var first = FormAttempt(command, at: portal, isTypedNow: false)
        let move = first.move(on: page, at: url).withoutBrowser
        rule = first.rule?.number
        switch move {
        case .submit(let filled, let form): send(filled, of: form, [:])
        case .done: reason = "done"
        case .end(_, let text): reason = text
        case .leave(let company): reason = "imitates \(company.name)"
        case .request, .render, .probe: reason = "a move of another helper"
        case .ask(_, _, let text?):
            self.class = .handOver
            reason = text
        case .ask(let prompt, _, nil):
            reason = prompt.message
            fields = prompt.fields
            command.answers = answers(to: prompt, on: page)
            var second = FormAttempt(command, at: portal, impliedAgreements: first.impliedAgreements, isTypedNow: true)
            guard case .submit(let filled, let form) = second.move(on: page, at: url) else {
                self.class = .handOver
                reason = "asked, and sent nothing after the answers"
                return
            }
            send(
                filled, of: form,
                command.answers.filter { answer in asks.contains(answer.key) && form.controls.contains { $0.name == answer.key } }
            )
        }
    }

    /// Notes a form's request; the values of asked fields are replaced.
    private mutating func send(_ filled: FilledForm, of form: HTMLForm, _ typed: [String: String]) {
        send(filled.request)
        var fields = submits?.fields ?? [:]
        for pair in filled.pairs {
            // A script may copy one answer into several fields.
            let source =
                pair.value.isEmpty ? nil : typed[pair.name] != nil ? pair.name : typed.first { $0.value == pair.value }?.key
            fields[pair.name] = source.map { "<user:\($0)>" } ?? pair.value
        }
        submits?.fields = fields
        unticked = Set(form.controls.filter(\.agreesToMore).map(\.name))
        clicks = Set(
            form.submits.filter { $0.kind == .image }.flatMap { image in
                ["x", "y"].map { image.name.isEmpty ? $0 : "\(image.name).\($0)" }
            })
    }
}

/// Answers the requests that portal files send to a gateway before the login, and ends the exchange at the login.
private final class Gateway: Sendable {
    private let sent = Locked<[HTTPRequest]>([])
    private let isUniFi: Bool

    init(isUniFi: Bool) { self.isUniFi = isUniFi }

    func forget() { sent.with { $0 = [] } }

    /// The first request that is not answered here.
    var login: HTTPRequest? { sent.with { $0.first } }

    private static let answers = [
        "/api/captiveportal/access/status/": #"{"clientState":"NOT_AUTHORIZED","authType":"normal"}"#,
        "/hotspotconfig": #"{"meta":{"rc":"ok"},"data":[{"auth":"hotspot","voucher_enabled":true}]}"#,
        "/json/status": #"{"clientState":0,"challenge":"000102030405060708090a0b0c0d0e0f"}"#,
        "/cgi-bin/get_challenge": #"{"challenge":"0123456789abcdef","client_ip":"192.0.2.2","res":"ok"}"#,
    ]

    func answer(_ request: HTTPRequest) -> Result<HTTPResponse, TransferError> {
        if !isUniFi, request.url.path.hasSuffix("/hotspotconfig") { return .success(HTTPResponse(url: request.url, status: 404)) }
        if let known = Self.answers.first(where: { request.url.path.hasSuffix($0.key) }) {
            return .success(HTTPResponse(url: request.url, status: 200, phrase: "OK", body: Array(known.value.utf8)))
        }
        sent.with { $0.append(request) }
        return .failure(TransferError(.connectFailed))
    }
}
