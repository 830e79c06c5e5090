import BoundHTTP
import CCrypto
import CLinux
import EventLoop
import Glibc
import HotspotCore
import Varlink

/// A page in a browser without a window, whose only way out is a link: it runs the page's scripts, reads what a person would see, types
/// and presses. It knows nothing of logins.
///
/// The browser runs in a sandbox without a network. Its connections go through a proxy in this process, which is bound to the link.
package final class RenderedPage: Sendable {
    /// A page at rest.
    package struct Reading: Sendable {
        /// The address of the page, or of the frame that asks.
        package let url: WebURL
        /// The visible page, as HTML without scripts. It is the page's, and as hostile as any other answer.
        package let markup: [UInt8]
        /// It is a layer over the page.
        package let isCover: Bool
        /// The words of the last dialog that a script has opened since the last act (HTML Standard, section "Simple dialogs").
        package let said: String?
        /// The key of its server, as ``HTTPResponse/pin`` has it; `nil` over plain HTTP.
        package let pin: String?
        /// The status of the answer that brought it (RFC 9110, section 15); 200 where the last act has loaded no page.
        package let status: Int
        fileprivate let isBusy: Bool
        /// Its controls and its words, without numbers: they show a change.
        fileprivate let controls: String
        fileprivate let words: String
        fileprivate let context: Int
        /// Some of it has to be opened to be read.
        fileprivate let hasMore: Bool
        /// It has no button to press and nothing to fill in, now.
        fileprivate let isIdle: Bool
        /// The numbers that it shows, in seconds.
        fileprivate let counters: [Int]

        /// The most seconds of a count-down for which hotspotd waits.
        private static let longestCount = 60

        /// It may count down to something.
        fileprivate var mayCount: Bool { isIdle && counters.contains { (1...Self.longestCount).contains($0) } }

        /// One of its numbers has fallen by a few seconds, and no other has changed.
        fileprivate func countsDown(since other: Reading) -> Bool {
            guard mayCount, counters.count == other.counters.count else { return false }
            let changed = zip(other.counters, counters).filter { $0 != $1 }
            return changed.count == 1 && (1...3).contains(changed[0].0 - changed[0].1) && changed[0].1 <= Self.longestCount
        }

        fileprivate func isSame(as other: Reading) -> Bool {
            url == other.url && controls == other.controls && words == other.words
        }

        /// It has something to fill in.
        fileprivate var hasFields: Bool {
            controls.split(separator: "\n").contains { !$0.hasPrefix("b:") && !$0.hasPrefix("a:") }
        }
    }

    /// The actions on a page of the last reading.
    package struct Act: Sendable {
        /// A button, a link or the Enter key.
        package enum Press: Sendable {
            case button(String)
            case link(String)
            case enter
        }

        /// The typed answers, without ticks and choices.
        package var answers: [String] = []
        /// Whether the user has agreed that what is typed goes to an address of another origin.
        package var mayLead: @Sendable (WebURL) -> Bool = { _ in false }
        /// The number of the form, from 1.
        package var form: Int
        /// The names and values of fields that change; `nil` takes the tick out of a box.
        package var fields: [(name: String, value: String?)]
        package var press: Press

        package init(form: Int, fields: [(name: String, value: String?)], press: Press) {
            (self.form, self.fields, self.press) = (form, fields, press)
        }
    }

    /// The browser's name and version, such as `Chrome/156.0.8078.108`.
    package let version: String
    private let tools: DevTools
    private let proxy: Proxy
    private let session: String
    private let guarded: Locked<Guarded>
    private let requests: Locked<Requests>
    private let last = Locked<Reading?>(nil)

    /// Milliseconds that a page may take until it is read as it is.
    private static let patience = 12_000
    /// Milliseconds of waiting for a page that has nothing to press or to fill in.
    private static let emptyPatience = 8_000
    /// The same where it says something, at first and behind a press.
    private static let (startPatience, endPatience) = (6_000, 600)
    /// Milliseconds for the first effect of a press.
    private static let effectPatience = 1_500
    /// Milliseconds after which a page that only changes its words is read.
    private static let wordPatience = 2_000
    /// Milliseconds within which a page that counts seconds shows that it does.
    private static let tick = 1_400
    /// The number of looks at a disabled button, ten a second.
    private static let enableLooks = 50
    /// Milliseconds of waiting for a page that counts down.
    private static let countPatience = 65_000
    /// How often a page may load another one before it is read.
    private static let loadLimit = 8
    /// Milliseconds between two looks.
    private static let interval = 150
    /// Milliseconds for one look; a script that runs without an end lets none pass.
    private static let lookLimit = 4_000
    /// Milliseconds for all lists, tabs and calendars of a page; it begins with none after half of them.
    private static let openLimit = 10_000

    private init(
        tools: DevTools, proxy: Proxy, session: String, version: String, requests: Locked<Requests>, guarded: Locked<Guarded>
    ) {
        (self.tools, self.proxy, self.session, self.version) = (tools, proxy, session, version)
        (self.requests, self.guarded) = (requests, guarded)
    }

    deinit { close() }

    /// Hosts that browsers contact on their own, whatever their settings.
    private static let services: Set<String> = [
        "update.googleapis.com", "clients2.google.com", "clients2.googleusercontent.com", "clientservices.googleapis.com",
        "optimizationguide-pa.googleapis.com", "safebrowsing.googleapis.com", "safebrowsinghttpgateway.googleapis.com",
        "content-autofill.googleapis.com", "edgedl.me.gvt1.com", "redirector.gvt1.com", "mtalk.google.com",
        "android.clients.google.com", "config.edge.skype.com", "edge.microsoft.com", "go-updater.brave.com",
        "accounts.google.com", "static1.brave.com", "componentupdater.brave.com", "variations.brave.com",
    ]

    /// Ends the browser.
    package func close() {
        tools.close()
        proxy.stop()
    }

    package var isOpen: Bool { !tools.isClosed }

    // MARK: - The start

    /// Starts a browser, and opens a page in it.
    ///
    /// - Parameters:
    ///   - socket: the path at which a browser is to be had (``RenderProgram``).
    ///   - cookies: those of the login so far, in libcurl's format.
    ///   - pins: the keys of servers whose certificates were found to be trusted, as ``HTTPResponse/pin`` has them.
    ///   - mayReach: decides whether the page may connect to a host.
    ///
    /// Throws ``TransferError``: `cancelled`, `timeout`, `system`.
    package static func open(
        _ url: WebURL, socket: String, link: Link, policy: NetworkPolicy, cookies: [String], pins: [String],
        mayReach: @escaping @Sendable (String) -> Bool, in scope: Scope
    ) throws(TransferError) -> RenderedPage {
        let connection: Int32
        do throws(VarlinkError) { connection = try Socket.connect(path: socket).take() } catch {
            throw TransferError(.system, "no browser: \(error)")
        }
        var patience = timeval(tv_sec: 10, tv_usec: 0)
        setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
        let listener = clinux_receive_descriptor(connection)
        guard listener > 0 else {
            Glibc.close(connection)
            throw TransferError(.system, "the browser could not be started")
        }
        patience = timeval()
        setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
        let wishes = Coding.encode(RenderProgram.Wishes(pins: pins)) + [0]
        _ = send(connection, wishes, wishes.count, Int32(MSG_NOSIGNAL))
        let (requests, guarded) = (Locked(Requests()), Locked(Guarded()))
        let tools = DevTools(descriptor: connection) { tools, event in
            switch event.method {
            case "Page.javascriptDialogOpening":
                guarded.with { $0.said = event.parameters["message"]?.string.map { String($0.prefix(300)) } ?? $0.said }
                tools.tell("Page.handleJavaScriptDialog", ["accept": .bool(false)], session: event.session)
            case "Fetch.requestPaused":
                let isRefused = guarded.with { $0.notes(event.parameters) }
                var answer: [String: JSONValue] = ["requestId": event.parameters["requestId"] ?? .null]
                // Without content the page stays where it is.
                if isRefused { answer["responseCode"] = 204 }
                tools.tell(
                    isRefused ? "Fetch.fulfillRequest" : "Fetch.continueRequest", .object(answer), session: event.session)
            case "Inspector.targetCrashed": tools.close()
            default: break
            }
            requests.with { $0.note(event) }
        }
        let proxy: Proxy
        do throws(Errno) {
            proxy = try Proxy(
                listener: listener, link: link, policy: policy, mayReach: { !Self.services.contains($0) && mayReach($0) })
        } catch {
            tools.close()
            Glibc.close(listener)
            throw TransferError(.system, "no proxy: \(error)")
        }
        proxy.start()
        do throws(TransferError) {
            let page = try start(tools, proxy, requests, guarded, in: scope)
            try page.setCookies(cookies, in: scope)
            try page.load(url, in: scope)
            return page
        } catch {
            tools.close()
            proxy.stop()
            throw error
        }
    }

    private static func start(
        _ tools: DevTools, _ proxy: Proxy, _ requests: Locked<Requests>, _ guarded: Locked<Guarded>, in scope: Scope
    ) throws(TransferError) -> RenderedPage {
        let about = try tools.call("Browser.getVersion", in: scope)
        let target = try tools.call("Target.createTarget", ["url": "about:blank"], in: scope)
        let session = try tools.call(
            "Target.attachToTarget", ["targetId": target["targetId"] ?? .null, "flatten": .bool(true)], in: scope)["sessionId"]?
            .string
        let page = RenderedPage(
            tools: tools, proxy: proxy, session: session ?? "", version: about["product"]?.string ?? "a browser",
            requests: requests, guarded: guarded)
        _ = try tools.call("Browser.setDownloadBehavior", ["behavior": "deny"], in: scope)
        _ = try page.call("Page.enable", in: scope)
        _ = try page.call("Network.enable", ["maxTotalBufferSize": 0, "maxResourceBufferSize": 0], in: scope)
        _ = try page.call("Network.setBypassServiceWorker", ["bypass": .bool(true)], in: scope)
        // Their messages cannot be held back, and no known login needs them.
        _ = try page.call("Page.addScriptToEvaluateOnNewDocument", ["source": .string(Self.withoutChannels)], in: scope)
        // A page in the background gets neither focus nor all timers.
        _ = try page.call("Emulation.setFocusEmulationEnabled", ["enabled": .bool(true)], in: scope)
        let agent = (about["userAgent"]?.string ?? "").replacing("Headless", with: "")
        _ = try page.call("Network.setUserAgentOverride", ["userAgent": .string(agent)], in: scope)
        return page
    }

    private func call(_ method: String, _ parameters: JSONValue = [:], in scope: Scope) throws(TransferError) -> JSONValue {
        try tools.call(method, parameters, session: session, in: scope)
    }

    private func load(_ url: WebURL, in scope: Scope) throws(TransferError) {
        let answer = try call("Page.navigate", ["url": .string(url.text)], in: scope.limited(milliseconds: 20_000))
        if let error = answer["errorText"]?.string, !error.isEmpty, error != "net::ERR_ABORTED" {
            throw TransferError(.connectFailed, "the browser: \(error)")
        }
    }

    // MARK: - Reading

    /// Waits until the page is at rest, and reads it. Throws ``TransferError``.
    package func read(in scope: Scope) throws(TransferError) -> Reading {
        try whole(try rest(patience: Self.startPatience, in: scope), in: scope)
    }

    /// Returns a reading with what has to be opened for that: some lists, tabs and calendars are in the page only while they are open.
    private func whole(_ reading: Reading, in scope: Scope) throws(TransferError) -> Reading {
        guard reading.hasMore else { return keep(reading) }
        let isRead = try? evaluate("hotspot.readMore()", reading.context, in: scope.limited(milliseconds: Self.openLimit))
        // A page that goes elsewhere meanwhile is read as it is then.
        return keep(isRead == nil ? try rest(patience: Self.startPatience, in: scope) : try look(in: scope))
    }

    /// Reads what a layer covers as well, from now on. Throws ``TransferError``.
    package func readBeneath(in scope: Scope) throws(TransferError) -> Reading {
        if let reading = last.with({ $0 }) { _ = try evaluate("hotspot.lookBeneath()", reading.context, in: scope) }
        return keep(try look(in: scope))
    }

    private func keep(_ reading: Reading) -> Reading {
        last.with { $0 = reading }
        return reading
    }

    /// Looks again and again until two looks see the same and no request is under way.
    ///
    /// - Parameter patience: milliseconds of waiting for a page that says something, and has nothing to press.
    private func rest(patience: Int, in scope: Scope) throws(TransferError) -> Reading {
        let start = Instant.now
        requests.with { $0.loads = 0 }
        var (before, sameControls): (Reading?, Instant) = (nil, .now)
        // When the numbers of the page were seen to stand still, or to fall.
        var (counted, isCounting) = (Instant.now, false)
        while true {
            let reading: Reading?
            do throws(TransferError) { reading = try look(in: scope) } catch {
                // A page that is being left has no world to look from, and one whose script keeps it busy lets nobody look.
                guard [.system, .timeout].contains(error.code), isOpen, start.millisecondsAgo < Self.patience else { throw error }
                reading = nil
            }
            if requests.with({ $0.loads }) > Self.loadLimit { throw TransferError(.tooManyRedirects) }
            if let reading {
                if before?.controls != reading.controls { sameControls = .now }
                let isSame = before?.controls == reading.controls && before?.words == reading.words
                let isStill = isSame || (before != nil && sameControls.millisecondsAgo > Self.wordPatience)
                let most = reading.words.isEmpty ? Self.emptyPatience : patience
                let mayFill = reading.controls.isEmpty && start.millisecondsAgo < most
                if let before, before.counters != reading.counters {
                    (counted, isCounting) = (.now, reading.countsDown(since: before))
                }
                let waits = reading.mayCount && counted.millisecondsAgo < Self.tick
                if isStill, !reading.isBusy, !mayFill, !waits { return reading }
                if start.millisecondsAgo > (waits && isCounting ? Self.countPatience : Self.patience) { return reading }
                before = reading
            }
            guard scope.pause(milliseconds: Self.interval) else {
                throw TransferError(scope.cancellation.isCancelled ? .cancelled : .timeout)
            }
        }
    }

    /// Reads the page as it is now: the page itself, or a frame of another origin if it has the only controls.
    private func look(in scope: Scope) throws(TransferError) -> Reading {
        let scope = scope.limited(milliseconds: Self.lookLimit)
        let tree = try call("Page.getFrameTree", in: scope)["frameTree"]
        guard let main = tree?["frame"]?["id"] else { throw TransferError(.system, "the browser has no page") }
        let (reading, frames) = try look(at: main, in: scope)
        guard frames > 0, !reading.hasFields else { return reading }
        for frame in (tree?["childFrames"]?.array ?? []).prefix(3) {
            guard let number = frame["frame"]?["id"], let (inner, _) = try? look(at: number, in: scope) else { continue }
            if inner.hasFields || (reading.controls.isEmpty && !inner.controls.isEmpty) { return inner }
        }
        return reading
    }

    private func look(at frame: JSONValue, in scope: Scope) throws(TransferError) -> (Reading, frames: Int) {
        let world = try call(
            "Page.createIsolatedWorld", ["frameId": frame, "worldName": "hotspotd", "grantUniveralAccess": .bool(false)],
            in: scope)
        let context = world["executionContextId"]?.integer ?? 0
        _ = try evaluate(Self.script, context, in: scope)
        let answer = try evaluate("hotspot.read()", context, in: scope)
        guard let markup = answer["markup"]?.string, let address = answer["address"]?.string else {
            throw TransferError(.system, "the browser's page cannot be read")
        }
        // The browser's own page says what went wrong.
        guard !address.hasPrefix("chrome-error:") else { throw TransferError(.connectFailed, "the browser shows an error") }
        guard let url = WebURL(address), ["http", "https"].contains(url.scheme) else {
            throw TransferError(.refusedURL, "the browser is at \(address.prefix(60))")
        }
        let isBusy = answer["isComplete"]?.bool != true || requests.with { $0.isBusy }
        let reading = Reading(
            url: url, markup: Array(markup.utf8), isCover: answer["isCover"]?.bool == true, said: guarded.with(\.said),
            pin: try url.isSecure ? pin(of: url, in: scope) : nil,
            status: requests.with { $0.statuses[frame.string ?? ""] } ?? 200, isBusy: isBusy,
            controls: answer["controls"]?.string ?? "",
            words: answer["words"]?.string ?? "", context: context, hasMore: answer["hasMore"]?.bool == true,
            isIdle: answer["isIdle"]?.bool == true,
            counters: answer["counters"]?.array?.compactMap(\.integer) ?? [])
        return (reading, answer["frames"]?.integer ?? 0)
    }

    /// Returns the key that a server showed to the browser. Throws ``TransferError``.
    private func pin(of url: WebURL, in scope: Scope) throws(TransferError) -> String {
        let answer = try call("Network.getCertificate", ["origin": .string(url.origin)], in: scope)
        let certificate = answer["tableNames"]?.array?.first?.string.flatMap(Base64.decode)
        var hash = [UInt8](repeating: 0, count: 32)
        guard let certificate, ccrypto_certificate_key_hash(certificate, certificate.count, &hash) == 1 else {
            throw TransferError(.tlsFailed, "the browser shows no certificate")
        }
        return Base64.encode(hash)
    }

    /// Evaluates an expression in the world of ours. Throws ``TransferError``.
    private func evaluate(_ expression: String, _ context: Int, in scope: Scope) throws(TransferError) -> JSONValue {
        let answer = try call(
            "Runtime.evaluate",
            [
                "expression": .string(expression), "contextId": .integer(context), "returnByValue": .bool(true),
                "awaitPromise": .bool(true), "silent": .bool(true),
            ], in: scope)
        if answer["exceptionDetails"] != nil { throw TransferError(.system, "the browser's page cannot be read") }
        return answer["result"]?["value"] ?? .null
    }

    /// Takes the ways out of a page that ``AnswerGuard`` does not see.
    private static let withoutChannels =
        "for (const name of ['WebSocket', 'WebSocketStream', 'WebTransport', 'Worker', 'SharedWorker', 'RTCPeerConnection', "
        + "'webkitRTCPeerConnection']) delete globalThis[name]; delete Navigator.prototype.serviceWorker;"
    private static let script = String(decoding: PackageResources.page_js, as: UTF8.self)

    // MARK: - Acting

    /// Why an act was not done.
    package enum Refusal: Error, Sendable {
        /// The button is another one by now, or gone.
        case changed
        /// The page did not take what was typed into this field.
        case notTaken(String)
        /// The page would have sent what was typed to this address, of another origin; it was held back.
        case elsewhere(WebURL)
        /// The page shows other fields than before this act.
        case asksAnew
        /// The page keeps the button disabled.
        case disabled
        case failed(TransferError)
    }

    /// Fills in fields of the last reading, presses, and reads the page that comes of it. Throws ``Refusal``; nothing was pressed then,
    /// unless the browser itself failed.
    package func perform(_ act: Act, in scope: Scope) throws(Refusal) -> Reading {
        guard var reading = last.with({ $0 }) else { throw .changed }
        watch(act, on: reading)
        let act = try reached(act, from: &reading, in: scope)
        for (name, value) in act.fields {
            let argument = value.map { Self.literal($0) } ?? "null"
            let fill = "hotspot.fill(\(act.form), \(Self.literal(name)), \(argument))"
            guard try evaluateNow(fill, reading, in: scope).bool == true || hasSent else {
                throw asksAnew(than: reading, in: scope) ? .asksAnew : .notTaken(name)
            }
        }
        // A page may send by itself with the last character of a code.
        if !act.answers.isEmpty { _ = scope.pause(milliseconds: Self.interval) }
        if !hasSent {
            do throws(Refusal) { try press(act, reading, in: scope) } catch { if !hasSent { throw error } }
        }
        do throws(TransferError) {
            let next = try whole(try settled(after: reading, in: scope), in: scope)
            guard let address = guarded.with(\.refused), !hasSent, next.isSame(as: reading) else { return next }
            _ = try evaluate("hotspot.leadsTo(\(act.form), \(Self.literal(address.text)))", next.context, in: scope)
            _ = keep(try look(in: scope))
        } catch { throw .failed(error) }
        throw .elsewhere(guarded.with(\.refused) ?? reading.url)
    }

    /// Opens the tab of an act's form, if another one is open. Returns the act with the form's number there. Throws ``Refusal``.
    private func reached(_ act: Act, from reading: inout Reading, in scope: Scope) throws(Refusal) -> Act {
        let form = try evaluateNow("hotspot.reach(\(act.form))", reading, in: scope).integer ?? 0
        if form == act.form { return act }
        guard form > 0 else { throw .changed }
        do throws(TransferError) { reading = keep(try look(in: scope)) } catch { throw .failed(error) }
        var act = act
        act.form = form
        return act
    }

    /// Returns whether the page shows other fields than in a reading, as one does that asks by what was chosen before.
    private func asksAnew(than reading: Reading, in scope: Scope) -> Bool {
        guard let next = try? look(in: scope), next.controls != reading.controls else { return false }
        _ = keep(next)
        return true
    }

    /// A request to the page's own origin has carried all answers of the act, or may have.
    private var hasSent: Bool { guarded.with(\.hasSent) }

    /// Returns the page once the press has had its effect. A page may begin with that a moment later.
    private func settled(after reading: Reading, in scope: Scope) throws(TransferError) -> Reading {
        let end = Instant.after(milliseconds: Self.effectPatience)
        while true {
            _ = scope.pause(milliseconds: Self.interval)
            let next = try rest(patience: Self.endPatience, in: scope)
            if !next.isSame(as: reading) || end.isPast { return next }
        }
    }

    /// Holds back, from now on, what would carry the answers of an act elsewhere.
    private func watch(_ act: Act, on reading: Reading) {
        requests.with { $0.statuses = [:] }
        guarded.with {
            $0 = Guarded(
                answerGuard: AnswerGuard(origin: reading.url.origin, answers: act.answers, mayLead: act.mayLead))
        }
        if !act.answers.isEmpty { tools.tell("Fetch.enable", [:], session: session) }
    }

    /// Returns what the page shows since the last act.
    package var reading: Reading? { last.with { $0 } }

    private func press(_ act: Act, _ reading: Reading, in scope: Scope) throws(Refusal) {
        let call =
            switch act.press {
            case .button(let key): "hotspot.press(\(act.form), \(Self.literal(key)))"
            case .link(let address): "hotspot.follow(\(Self.literal(address)))"
            case .enter: "hotspot.enter(\(act.form))"
            }
        // Pages enable their button a moment after the last answer, and some seconds after a refusal.
        for _ in 0..<Self.enableLooks {
            switch try evaluateNow(call, reading, in: scope).string {
            case "pressed": return
            case "disabled": _ = scope.pause(milliseconds: 100)
            default: throw .changed
            }
        }
        throw .disabled
    }

    private func evaluateNow(_ expression: String, _ reading: Reading, in scope: Scope) throws(Refusal) -> JSONValue {
        do throws(TransferError) {
            return try evaluate(expression, reading.context, in: scope.limited(milliseconds: Self.lookLimit))
        } catch { throw .failed(error) }
    }

    private static func literal(_ text: String) -> String {
        String(decoding: Coding.encode(JSONValue.string(text)), as: UTF8.self)
    }

    // MARK: - Cookies

    /// One by one: a browser refuses all of a list that has one that is not valid.
    private func setCookies(_ lines: [String], in scope: Scope) throws(TransferError) {
        for cookie in lines.compactMap({ Cookie(line: $0) }) {
            _ = try? call("Network.setCookie", cookie.parameters, in: scope)
            if scope.deadline.isPast { throw TransferError(.timeout) }
        }
    }

    /// Returns the cookies of all pages of this browser, in libcurl's format, those for the page's host first. Throws ``TransferError``.
    package func cookies(in scope: Scope) throws(TransferError) -> [String] {
        let all = (try call("Network.getAllCookies", in: scope)["cookies"]?.array ?? []).compactMap { Cookie(parameters: $0) }
        let host = last.with { $0?.url.host } ?? ""
        let own = all.filter { host.hasSuffix($0.domain.drop { $0 == "." }) }
        return (own + all.filter { !own.contains($0) }).prefix(CookieJar.limit).map(\.line)
    }
}

/// The guard of an act, and what it has seen.
private struct Guarded: Sendable {
    var answerGuard: AnswerGuard?
    /// The address that it held answers back from.
    var refused: WebURL?
    /// A request to the page's own origin has carried all answers.
    var hasSent = false
    /// The words of the page's last dialog.
    var said: String?

    init(answerGuard: AnswerGuard? = nil) { self.answerGuard = answerGuard }

    /// Notes a request that DevTools has paused; returns whether it is held back.
    mutating func notes(_ event: JSONValue) -> Bool {
        switch answerGuard?.ruling(event["request"], isPage: event["resourceType"]?.string == "Document") {
        case .refused(let address):
            refused = refused ?? address
            return true
        case .sends: hasSent = true
        case .checks, .other, nil: break
        }
        return false
    }
}

/// The requests of a page that are under way, with their starts.
private struct Requests: Sendable {
    private var starts: [String: Instant] = [:]
    /// How many pages were loaded.
    var loads = 0
    /// The status of the last document of a frame since the last act, by the frame's identifier.
    var statuses: [String: Int] = [:]

    private static let limit = 1000
    /// Milliseconds to wait for a request.
    private static let patience = 5_000

    /// The page waits for an answer.
    var isBusy: Bool { starts.values.contains { $0.millisecondsAgo < Self.patience } }

    mutating func note(_ event: DevTools.Event) {
        if event.method == "Page.frameNavigated", event.parameters["frame"]?["parentId"] == nil { loads += 1 }
        if event.method == "Network.responseReceived", event.parameters["type"]?.string == "Document",
            let frame = event.parameters["frameId"]?.string, statuses.count < Self.limit
        {
            statuses[frame] = event.parameters["response"]?["status"]?.integer
        }
        guard let request = event.parameters["requestId"]?.string else { return }
        switch event.method {
        case "Network.requestWillBeSent": if starts.count < Self.limit { starts[request] = .now }
        case "Network.loadingFinished", "Network.loadingFailed": starts[request] = nil
        default: break
        }
    }
}
