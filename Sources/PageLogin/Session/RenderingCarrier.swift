import ForeignText
import Glibc
import HelperKit
import HotspotCore
import PortalPages
import Rendering

/// Makes the requests of a login until a page needs its scripts. From then on, a browser that runs the scripts makes the requests.
package struct RenderingCarrier: LoginCarrier {
    private var http: HTTPCarrier
    /// The address that leads to the first page.
    private let start: WebURL?
    private let command: HelperCommand
    private var rendered: RenderedPage?
    /// The hosts of this login. The page may contact them even if their address could belong to another guest.
    private let hosts = Locked<Set<String>>([])
    /// The last page that the browser showed.
    package private(set) var shown: RedirectChain?

    package var client: HTTPClient { http.client }

    /// - Parameter start: the address that leads to the first page, which some portals serve only once.
    init(_ http: HTTPCarrier, from start: WebURL?, _ command: HelperCommand) {
        (self.http, self.start, self.command) = (http, start, command)
    }

    /// Continues with a page that stayed open while the user was asked. Returns the page's content; `nil` if the page was closed. Throws
    /// ``TransferError``.
    mutating func goOn() throws(TransferError) -> RedirectChain? {
        guard let page = SessionMemory(command.session).rendered.flatMap(OpenPages.shared.take) else { return nil }
        rendered = page
        return try chain(try page.read(in: command.scope))
    }

    // MARK: - The browser

    /// The path of the socket that provides a browser; empty if no browser is installed, `nil` if none is wanted.
    private static var socket: String? { getenv(RenderProgram.variable).map { String(cString: $0) } }

    package var missingBrowser: String? {
        Self.socket == "" ? "If you install Chromium (apt install chromium), you can answer such a page here." : nil
    }

    package mutating func render(for steps: some LoginSteps, because rule: RuleName) throws(TransferError) -> RedirectChain? {
        guard rendered == nil, let socket = Self.socket, !socket.isEmpty else { return nil }
        let began = Instant.now
        OpenPages.shared.makeRoom()
        allow([start, steps.formPage, WebURL(steps.asking.origin + "/")])
        let page = try RenderedPage.open(
            steps.hasSent ? steps.formPage : start ?? steps.formPage, socket: socket, link: command.link, policy: command.policy,
            cookies: client.cookies.lines, pins: [steps.asking.pin].compactMap(\.self),
            mayReach: { [hosts, link = command.link] host in
                // A page must not contact other guests of the network.
                hosts.with { $0.contains(host) } || !link.mayBeNeighbour(host, in: Scope(deadline: .after(milliseconds: 5000)))
            }, in: command.scope)
        let reading = try page.read(in: command.scope)
        rendered = page
        command.scope.trace.add(
            "rendered by \(page.version) in \(began.millisecondsAgo) ms, because of \(rule.number): \(rule.sentence)")
        return try chain(reading)
    }

    private func allow(_ urls: [WebURL?]) { hosts.with { $0.formUnion(urls.compactMap { $0?.host }) } }

    /// The largest number of notices and dialogs that are handled before a page is read.
    private static let noticeLimit = 3

    /// Returns the browser's page, after closing notices about cookies and dialogs that only inform.
    ///
    /// - Parameter sent: the form that led here; `nil` if there was none.
    private mutating func chain(
        _ first: RenderedPage.Reading, behind sent: HTMLForm? = nil
    ) throws(TransferError) -> RedirectChain {
        var (reading, told) = (first, [first.said].compactMap(\.self))
        var chain = Self.chain(of: reading)
        for _ in 0..<Self.noticeLimit {
            guard let rendered, reading.isCover else { break }
            let button: HTMLControl?
            if let notice = CookieNotice(covering: chain.page) {
                button = notice.button
            } else if sent != nil, let dialog = TellingDialog(covering: chain.page) {
                button = dialog.button
                told.append(dialog.words)
            } else {
                break
            }
            if let button {
                let act = RenderedPage.Act(form: 1, fields: [], press: .button(button.value))
                do throws(RenderedPage.Refusal) { reading = try rendered.perform(act, in: command.scope) } catch {
                    throw TransferError(error)
                }
                told += [reading.said].compactMap(\.self)
            } else {
                reading = try rendered.readBeneath(in: command.scope)
            }
            chain = Self.chain(of: reading)
        }
        if !told.isEmpty { chain = Self.chain(of: reading, TellingDialog.markup(of: told, on: chain.page, behind: sent)) }
        chain.leftPortal = http.outside.contains(reading.url.host)
        shown = chain
        return chain
    }

    private static func chain(of reading: RenderedPage.Reading) -> RedirectChain { chain(of: reading, "") }

    /// Returns a reading of the page as if it were the answer to a request, with additional words at the end.
    private static func chain(of reading: RenderedPage.Reading, _ words: String) -> RedirectChain {
        RedirectChain(
            HTTPResponse(url: reading.url, status: reading.status, body: reading.markup + words.utf8, pin: reading.pin))
    }

    // MARK: - The moves

    package mutating func submit(_ filled: FilledForm, for steps: some LoginSteps) throws(TransferError) -> RedirectChain {
        guard let rendered, let shown else { return try http.submit(filled, for: steps) }
        if filled.carriesAnswers, steps.asking.pin != shown.final.pin { throw TransferError(.keyChanged) }
        let began = Instant.now
        let reading: RenderedPage.Reading
        do throws(RenderedPage.Refusal) {
            var act = act(for: filled, on: shown)
            act.mayLead = { [agreed = steps.engine.agreed, hosts, page = shown.final.url] target in
                guard ConsentRequired.allCases.contains(where: { agreed.contains($0.agreement(on: page, to: target)) }) else {
                    return false
                }
                hosts.with { _ = $0.insert(target.host) }
                return true
            }
            reading = try rendered.perform(act, in: command.scope)
        } catch {
            switch error {
            case .elsewhere, .asksAnew: self.shown = rendered.reading.map(Self.chain(of:)) ?? self.shown
            case .changed, .notTaken, .disabled, .failed: break
            }
            throw TransferError(error)
        }
        command.scope.trace.add("filled in and pressed in the browser in \(began.millisecondsAgo) ms")
        return try chain(reading, behind: filled.form)
    }

    /// Returns the actions by which a person would send this form.
    private func act(for filled: FilledForm, on shown: RedirectChain) -> RenderedPage.Act {
        let form = shown.page.forms.firstIndex(of: filled.form)
        guard let form else {
            let link = shown.page.links.first { WebURL($0.reference, relativeTo: shown.page.base)?.text == filled.target.text }
            return RenderedPage.Act(form: 0, fields: [], press: .link(link?.reference ?? filled.target.text))
        }
        let values = Dictionary(filled.pairs.map { ($0.name, $0.value) }, uniquingKeysWith: { first, _ in first })
        var names: Set<String> = []
        let fields = shown.page.forms[form].inputs.filter { !$0.isReadOnly && names.insert($0.name).inserted }
        var act = RenderedPage.Act(
            form: form + 1, fields: fields.map { ($0.name, values[$0.name]) },
            press: filled.button.map { .button($0.value) } ?? .enter)
        // Values that the page filled in itself are not answers.
        act.answers =
            filled.carriesAnswers
            ? fields.filter { $0.isField && $0.value != values[$0.name] }.compactMap { values[$0.name] } : []
        return act
    }

    package mutating func send(
        _ request: HTTPRequest, carriesAnswers: Bool, follows: Bool, for steps: some LoginSteps
    ) throws(TransferError) -> RedirectChain {
        try http.send(request, carriesAnswers: carriesAnswers, follows: follows, for: steps)
    }

    package mutating func forgetKey(of target: WebURL) { http.forgetKey(of: target) }

    package func keep(in memory: inout SessionMemory, isAsking: Bool) {
        http.keep(in: &memory, isAsking: isAsking)
        memory.rendered = nil
        guard let rendered else { return }
        if let lines = try? rendered.cookies(in: command.scope.limited(milliseconds: 2000)) {
            memory.cookies = CookieJar(lines: lines).lines(within: SessionMemory.cookieLimit)
        }
        if isAsking { memory.rendered = OpenPages.shared.keep(rendered) } else { rendered.close() }
    }
}

extension TransferError {
    init(_ refusal: RenderedPage.Refusal) {
        switch refusal {
        case .elsewhere(let address): self.init(.elsewhere, address.origin)
        case .asksAnew: self.init(.asksAnew, "")
        case .changed: self.init(.notTaken, "The page changed its button")
        case .disabled: self.init(.notTaken, "The page keeps its button disabled")
        case .notTaken: self.init(.notTaken, "The page did not accept one of the answers")
        case .failed(let error): self = error
        }
    }
}
