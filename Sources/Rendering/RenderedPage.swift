import BoundHTTP
import CCrypto
import CLinux
import EventLoop
import Glibc
import HotspotCore
import Varlink

/// A page in a browser without a window. The browser can connect only over one link. This class runs the page's scripts, reads the page as a person
/// sees it, types and presses, and knows nothing about logins.
///
/// The browser runs in a sandbox without a network. Its connections go through a proxy in this process, which is bound to the
/// link.
package final class RenderedPage: Sendable {
    /// A page at rest.
    package struct Reading: Sendable {
        /// The address of the page, or of the frame that asks.
        package let url: WebURL
        /// The visible page, as HTML without scripts. It comes from the page, so it is as untrusted as any other answer.
        package let markup: [UInt8]
        /// Whether the reading shows only a layer over the page.
        package let isCover: Bool
        /// The words of the last dialog that a script has opened since the last act (HTML Standard, section "Simple dialogs").
        package let said: String?
        /// The key of the page's server, in the form of ``HTTPResponse/pin``; `nil` over plain HTTP.
        package let pin: String?
        /// The status of the answer that brought the page (RFC 9110, section 15); 200 if the last act loaded no page.
        package let status: Int
        fileprivate let isBusy: Bool
        /// The page's controls and words, without numbers, to notice a change.
        fileprivate let controls: String
        fileprivate let words: String
        fileprivate let context: Int
        /// Whether a part of the page must be opened before it can be read.
        fileprivate let hasMore: Bool
        /// Whether the page has nothing to press or fill in at the moment.
        fileprivate let isIdle: Bool
        /// The numbers that the page shows, in seconds.
        fileprivate let counters: [Int]

        /// The longest count-down that hotspotd waits for, in seconds.
        private static let longestCount = 60
        private static let largestNumber = 9999 * 60 + 9999

        /// Reads the answer of `page.js`. Does not trust it: if the page has taken over the browser, it can write any answer. Throws
        /// ``TransferError``.
        ///
        /// - Parameter pin: returns the key of the server at a secure address.
        init(
            _ answer: JSONValue, context: Int, said: String? = nil, status: Int = 200, isBusy: Bool = false,
            pin: (WebURL) throws(TransferError) -> String? = { _ in nil }
        ) throws(TransferError) {
            guard let markup = answer["markup"]?.string, let address = answer["address"]?.string else {
                throw TransferError(.system, "the browser's page cannot be read")
            }
            // After a failed load, the browser shows an error page of its own.
            guard !address.hasPrefix("chrome-error:") else { throw TransferError(.connectFailed, "the browser shows an error") }
            guard let url = WebURL(address), ["http", "https"].contains(url.scheme) else {
                throw TransferError(.refusedURL, "the browser is at \(address.prefix(60))")
            }
            (self.url, self.markup, self.context) = (url, Array(markup.utf8), context)
            (self.said, self.status) = (said, status)
            self.pin = url.isSecure ? try pin(url) : nil
            isCover = answer["isCover"]?.bool == true
            self.isBusy = isBusy || answer["isComplete"]?.bool != true
            controls = answer["controls"]?.string ?? ""
            words = answer["words"]?.string ?? ""
            hasMore = answer["hasMore"]?.bool == true
            isIdle = answer["isIdle"]?.bool == true
            // `page.js` reads minutes and seconds of up to four digits each, so a larger number is cut.
            counters = answer["counters"]?.array?.compactMap(\.integer).map { min(max(0, $0), Self.largestNumber) } ?? []
        }

        /// Whether the page may count down.
        fileprivate var mayCount: Bool { isIdle && counters.contains { (1...Self.longestCount).contains($0) } }

        /// Returns whether one of the page's numbers has fallen by a few seconds, and no other number has changed.
        func countsDown(since other: Reading) -> Bool {
            guard mayCount, counters.count == other.counters.count else { return false }
            let changed = zip(other.counters, counters).filter { $0 != $1 }
            return changed.count == 1 && (1...3).contains(changed[0].0 - changed[0].1) && changed[0].1 <= Self.longestCount
        }

        fileprivate func isSame(as other: Reading) -> Bool {
            url == other.url && controls == other.controls && words == other.words
        }

        /// Whether the page has something to fill in.
        var hasFields: Bool {
            controls.split(separator: "\n").contains { !$0.hasPrefix("b:") && !$0.hasPrefix("a:") }
        }
    }

    /// The actions on the last reading of the page.
    package struct Act: Sendable {
        /// A button, a link or the Enter key.
        package enum Press: Sendable {
            case button(String)
            case link(String)
            case enter
        }

        /// The typed answers, without ticks and choices.
        package var answers: [String] = []
        /// Returns whether the user has agreed to send the typed answers to an address of another origin.
        package var mayLead: @Sendable (WebURL) -> Bool = { _ in false }
        /// The number of the form, from 1.
        package var form: Int
        /// The names and values of fields to change; `nil` unticks a box.
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

    /// Milliseconds after which a page is read even if it still changes.
    private static let patience = 12_000
    /// The longest wait for a page that has neither text nor anything to press or fill in, in milliseconds.
    private static let emptyPatience = 8_000
    /// The longest wait for a page that has text but nothing to press or fill in, at first and after a press, in milliseconds.
    private static let (startPatience, endPatience) = (6_000, 600)
    /// Milliseconds within which a press must show a first effect.
    private static let effectPatience = 1_500
    /// Milliseconds after which a page is read if only its words still change.
    private static let wordPatience = 2_000
    /// Milliseconds within which a page that counts seconds changes its number.
    private static let tick = 1_400
    /// The largest number of checks of a disabled button, at ten checks a second.
    private static let enableLooks = 50
    /// The longest wait for a page that counts down, in milliseconds.
    private static let countPatience = 65_000
    /// The largest number of page loads before the page at rest is read.
    private static let loadLimit = 8
    /// Milliseconds between two checks of the page.
    private static let interval = 150
    /// The longest time for one check of the page, in milliseconds: a script that never ends would block the check.
    private static let lookLimit = 4_000
    /// Milliseconds for opening all lists, tabs and calendars of a page; after half of this time, no more are opened.
    private static let openLimit = 10_000

    private init(
        tools: DevTools, proxy: Proxy, session: String, version: String, requests: Locked<Requests>, guarded: Locked<Guarded>
    ) {
        (self.tools, self.proxy, self.session, self.version) = (tools, proxy, session, version)
        (self.requests, self.guarded) = (requests, guarded)
    }

    deinit { close() }

    /// Hosts that browsers contact on their own, whatever their settings. The proxy refuses them.
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
    ///   - socket: the path of the socket that provides a browser (``RenderProgram``).
    ///   - cookies: the cookies of the login so far, in libcurl's format.
    ///   - pins: the keys of servers with trusted certificates, in the form of ``HTTPResponse/pin``.
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
                // A refused request is answered with 204 (no content), which leaves the page as it is.
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
        // Removes channels whose messages hotspotd cannot hold back; no known login needs them.
        _ = try page.call("Page.addScriptToEvaluateOnNewDocument", ["source": .string(Self.withoutChannels)], in: scope)
        // Keeps the page focused: a page in the background gets no focus, and only some of its timers run.
        _ = try page.call("Emulation.setFocusEmulationEnabled", ["enabled": .bool(true)], in: scope)
        let agent = (about["userAgent"]?.string ?? "").replacing("Headless", with: "")
        _ = try page.call("Network.setUserAgentOverride", ["userAgent": .string(agent)], in: scope)
        return page
    }

    private func call(_ method: String, _ parameters: JSONValue = [:], in scope: Scope) throws(TransferError) -> JSONValue {
        try tools.call(method, parameters, session: session, in: scope)
    }

    private func load(_ url: WebURL, in scope: Scope) throws(TransferError) {
        let answer = try call("Page.navigate", ["url": .string(url.href)], in: scope.limited(milliseconds: 20_000))
        if let error = answer["errorText"]?.string, !error.isEmpty, error != "net::ERR_ABORTED" {
            throw TransferError(.connectFailed, "the browser: \(error)")
        }
    }

    // MARK: - Reading

    /// Waits until the page is at rest, and reads it. Throws ``TransferError``.
    package func read(in scope: Scope) throws(TransferError) -> Reading {
        try whole(try rest(patience: Self.startPatience, in: scope), in: scope)
    }

    /// Completes a reading by the parts that must be opened first: some lists, tabs and calendars are in the page only while they are open.
    private func whole(_ reading: Reading, in scope: Scope) throws(TransferError) -> Reading {
        guard reading.hasMore else { return keep(reading) }
        let isRead = try? evaluate("hotspot.readMore()", reading.context, in: scope.limited(milliseconds: Self.openLimit))
        // If the page has moved elsewhere meanwhile, it is read in its new state.
        return keep(isRead == nil ? try rest(patience: Self.startPatience, in: scope) : try look(in: scope))
    }

    /// From now on, also reads the page below a layer. Throws ``TransferError``.
    package func readBeneath(in scope: Scope) throws(TransferError) -> Reading {
        if let reading = last.with({ $0 }) { _ = try evaluate("hotspot.lookBeneath()", reading.context, in: scope) }
        return keep(try look(in: scope))
    }

    private func keep(_ reading: Reading) -> Reading {
        last.with { $0 = reading }
        return reading
    }

    /// Checks the page until two checks see the same content and no request is running.
    ///
    /// - Parameter patience: the longest wait in milliseconds for a page that has text but nothing to press.
    private func rest(patience: Int, in scope: Scope) throws(TransferError) -> Reading {
        let start = Instant.now
        requests.with { $0.loads = 0 }
        var (before, sameControls): (Reading?, Instant) = (nil, .now)
        // The time since which the page's numbers have not changed, and whether they count down.
        var (counted, isCounting) = (Instant.now, false)
        while true {
            let reading: Reading?
            do throws(TransferError) { reading = try look(in: scope) } catch {
                // A page cannot be checked while it is being left or while a script is busy, so the check is repeated.
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

    /// Reads the page as it is now: the page itself, or a frame of another origin, if only the frame has something to fill in or press.
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
        let (isBusy, status) = requests.with { ($0.isBusy, $0.statuses[frame.string ?? ""] ?? 200) }
        let reading = try Reading(answer, context: context, said: guarded.with(\.said), status: status, isBusy: isBusy) {
            url throws(TransferError) in try pin(of: url, in: scope)
        }
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

    /// Evaluates an expression in an isolated world, which the page's scripts cannot change. Throws ``TransferError``.
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

    /// Removes the interfaces by which a page could send data without ``AnswerGuard`` seeing it.
    private static let withoutChannels =
        "for (const name of ['WebSocket', 'WebSocketStream', 'WebTransport', 'Worker', 'SharedWorker', 'RTCPeerConnection', "
        + "'webkitRTCPeerConnection']) delete globalThis[name]; delete Navigator.prototype.serviceWorker;"
    private static let script = String(decoding: PackageResources.page_js, as: UTF8.self)

    // MARK: - Acting

    /// The reason why an act was not performed.
    package enum Refusal: Error, Sendable {
        /// The button has changed, or is gone.
        case changed
        /// The page did not accept the text that was typed into this field.
        case notTaken(String)
        /// The page tried to send the typed text to this address of another origin; the request was held back.
        case elsewhere(WebURL)
        /// The page shows other fields than before this act, so the user is asked again.
        case asksAnew
        /// The page keeps the button disabled.
        case disabled
        case failed(TransferError)
    }

    /// Fills in fields of the last reading, presses, and reads the resulting page. If it throws ``Refusal``, the form was not sent, unless the
    /// browser itself failed.
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
        // A page may send by itself after the last character of a code, so wait before pressing.
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

    /// Opens the tab of an act's form, if another tab is open. Returns the act with the form's number on that tab. Throws ``Refusal``.
    private func reached(_ act: Act, from reading: inout Reading, in scope: Scope) throws(Refusal) -> Act {
        let form = try evaluateNow("hotspot.reach(\(act.form))", reading, in: scope).integer ?? 0
        if form == act.form { return act }
        guard form > 0 else { throw .changed }
        do throws(TransferError) { reading = keep(try look(in: scope)) } catch { throw .failed(error) }
        var act = act
        act.form = form
        return act
    }

    /// Returns whether the page now shows other fields than a reading, for example fields that depend on an earlier choice.
    private func asksAnew(than reading: Reading, in scope: Scope) -> Bool {
        guard let next = try? look(in: scope), next.controls != reading.controls else { return false }
        _ = keep(next)
        return true
    }

    /// Whether a request that was not held back has carried all answers of the act, or may have carried them.
    private var hasSent: Bool { guarded.with(\.hasSent) }

    /// Returns the page once the press has had its effect, which may begin a moment later.
    private func settled(after reading: Reading, in scope: Scope) throws(TransferError) -> Reading {
        let end = Instant.after(milliseconds: Self.effectPatience)
        while true {
            _ = scope.pause(milliseconds: Self.interval)
            let next = try rest(patience: Self.endPatience, in: scope)
            if !next.isSame(as: reading) || end.isPast { return next }
        }
    }

    /// From now on, holds back requests that would carry the answers of an act to another origin without the user's agreement.
    private func watch(_ act: Act, on reading: Reading) {
        requests.with { $0.statuses = [:] }
        guarded.with {
            $0 = Guarded(
                answerGuard: AnswerGuard(origin: reading.url.origin, answers: act.answers, mayLead: act.mayLead))
        }
        if !act.answers.isEmpty { tools.tell("Fetch.enable", [:], session: session) }
    }

    /// The last reading of the page.
    package var reading: Reading? { last.with { $0 } }

    private func press(_ act: Act, _ reading: Reading, in scope: Scope) throws(Refusal) {
        let call =
            switch act.press {
            case .button(let key): "hotspot.press(\(act.form), \(Self.literal(key)))"
            case .link(let address): "hotspot.follow(\(Self.literal(address)))"
            case .enter: "hotspot.enter(\(act.form))"
            }
        // Some pages enable their button a moment after the last answer, or some seconds after a refusal, so it is tried repeatedly.
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

    /// Sets the cookies one by one, because a browser refuses a whole list if one of them is invalid.
    private func setCookies(_ lines: [String], in scope: Scope) throws(TransferError) {
        for cookie in lines.compactMap({ Cookie(line: $0) }) {
            _ = try? call("Network.setCookie", cookie.parameters, in: scope)
            if scope.deadline.isPast { throw TransferError(.timeout) }
        }
    }

    /// Returns the cookies of all pages of this browser, in libcurl's format, those for the page's host first. Throws
    /// ``TransferError``.
    package func cookies(in scope: Scope) throws(TransferError) -> [String] {
        let all = (try call("Network.getAllCookies", in: scope)["cookies"]?.array ?? []).compactMap { Cookie(parameters: $0) }
        let host = last.with { $0?.url.host } ?? ""
        let own = all.filter { host.hasSuffix($0.domain.drop { $0 == "." }) }
        return (own + all.filter { !own.contains($0) }).prefix(CookieJar.limit).map(\.line)
    }
}

/// The guard of an act, and its findings about the page's requests.
private struct Guarded: Sendable {
    var answerGuard: AnswerGuard?
    /// The first address for which the guard held back a request.
    var refused: WebURL?
    /// Whether a request that was not held back has carried all answers.
    var hasSent = false
    /// The words of the page's last dialog.
    var said: String?

    init(answerGuard: AnswerGuard? = nil) { self.answerGuard = answerGuard }

    /// Judges a request that DevTools has paused; returns whether the browser must not send it.
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

/// The running requests of a page, with their start times.
private struct Requests: Sendable {
    private var starts: [String: Instant] = [:]
    /// The number of pages that were loaded.
    var loads = 0
    /// The status of the last document of a frame since the last act, by the frame's identifier.
    var statuses: [String: Int] = [:]

    private static let limit = 1000
    /// The longest wait for a request, in milliseconds.
    private static let patience = 5_000

    /// Whether the page is waiting for an answer.
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
