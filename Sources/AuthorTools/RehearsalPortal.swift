import EventLoop
import ForeignText
import Glibc
import HelperHost
import HelperKit
import HotspotCore
import Varlink

/// A captive portal on loopback with one page: the default page, or the author's page. Until a login, the portal answers the
/// probe with a redirect to the page, or with the page itself.
///
/// The portal listens on one of the ports that gateways use.
final class RehearsalPortal: Sendable {
    /// The answer to the probe before a login.
    enum ProbeTreatment: Sendable {
        /// The portal answers with 302 to the page.
        case redirect
        /// The portal answers with 200 and the page itself, at the probe's own address.
        case page
        /// The portal does not answer; the connection stays open.
        case stall
    }

    private struct PortalState {
        var isOpen = false
        var acceptedTerms = false
        /// Whether the portal refuses every login.
        var isRefusing = false
        /// The number of logins that the portal has refused.
        var refusals = 0
        var treatment = ProbeTreatment.redirect
        /// The answer to the probe after a login: a status or a text.
        var expect = "204"
        var token = 100
        var page: RehearsalPage
        /// The requests, without values, each with its outcome.
        var got: [String] = []
        var stalled: [Int32] = []
    }

    private static let ports = [
        8000, 8001, 8002, 8003, 8004, 8005, 8006, 8007, 8008, 8009, 8010, 8088, 8090, 8880, 8888, 9997, 9998,
    ]
    private static let gotLimit = 12
    private static let pageLimit = 1 << 20

    /// The portal's scheme, host and port.
    let origin: String
    /// Remarks on the page.
    let remarks: [Remark]
    /// Whether the portal serves the default page.
    let servesItsOwnPage: Bool
    private let state: Locked<PortalState>

    /// Starts a portal that listens until the process ends.
    ///
    /// - Parameter file: the page to serve; without it, the default page.
    init(page file: String? = nil) throws {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var reuse: Int32 = 1
        setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &reuse, socklen_t(MemoryLayout<Int32>.size))
        let freePort = Self.ports.first { port in
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_port = UInt16(port).bigEndian
            address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
            return withUnsafePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    bind(listener, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
                }
            }
        }
        guard let freePort, listen(listener, 64) == 0 else {
            close(listener)
            let ports = Self.ports.map(String.init).joined(separator: ", ")
            throw CannotTest("The made-up portal needs a free port, one of \(ports).")
        }
        let origin = "http://127.0.0.1:\(freePort)"
        self.origin = origin
        let octets =
            try file.map { name throws(CannotTest) in try Self.read(name) }
            ?? Array(RehearsalPage.usual(token: 100, complaint: "").utf8)
        let page = try RehearsalPage(octets, name: file ?? "the page", origin: origin, wantsButton: file != nil)
        remarks = page.remarks
        servesItsOwnPage = file == nil
        state = Locked(PortalState(page: page))
        Worker.start { [self] in
            while true {
                let client = accept(listener, nil, nil)
                guard client >= 0 else { continue }
                Worker.start { [self] in serve(client) }
            }
        }
    }

    var probeURL: String { origin + "/generate_204" }

    var isOpen: Bool {
        get { state.with { $0.isOpen } }
        set { state.with { $0.isOpen = newValue } }
    }

    /// Whether the terms were accepted since the last ``reset(open:refusing:)``.
    var acceptedTerms: Bool { state.with { $0.acceptedTerms } }

    /// The requests since the last ``reset(open:refusing:)``, except probes, without values, each with its outcome.
    var got: [String] { state.with { $0.got } }

    /// The number of probes that wait for an answer (``ProbeTreatment/stall``).
    var stalledCount: Int { state.with { $0.stalled.count } }

    /// Sets the answers to the probe before and after a login.
    func treatProbe(_ treatment: ProbeTreatment = .redirect, expect: String = "204") {
        state.with {
            $0.treatment = treatment
            $0.expect = expect
            for client in $0.stalled { close(client) }
            $0.stalled = []
        }
    }

    /// The number of logins refused since the last ``reset(open:refusing:)``.
    var refusals: Int { state.with { $0.refusals } }

    /// Opens or closes the portal, and forgets the requests.
    func reset(open: Bool, refusing: Bool = false) {
        state.with {
            $0.isOpen = open
            $0.acceptedTerms = false
            $0.isRefusing = refusing
            $0.refusals = 0
            $0.got = []
        }
    }

    private static func read(_ file: String) throws(CannotTest) -> [UInt8] {
        guard let octets = FilePath.octets(of: file, limit: pageLimit + 1) else {
            throw CannotTest("\(Printable.text(file)): \(String(cString: strerror(errno)))")
        }
        guard octets.count <= pageLimit else {
            throw CannotTest("\(Printable.text(file)) is larger than \(pageLimit / 1024) KiB.")
        }
        return octets
    }

    private func serve(_ client: Int32) {
        var wait = timeval(tv_sec: 10, tv_usec: 0)
        setsockopt(client, SOL_SOCKET, SO_RCVTIMEO, &wait, socklen_t(MemoryLayout<timeval>.size))
        var octets: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 4096)
        while octets.count < ReceivedRequest.limit {
            let count = recv(client, &chunk, chunk.count, 0)
            guard count > 0 else { break }
            octets += chunk[..<count]
            guard let request = ReceivedRequest(octets) else { continue }
            if request.path == "/generate_204", keepsWaiting(client) { return }
            let (answer, outcome) = answer(request)
            if request.path != "/generate_204" || !request.pairs.isEmpty {
                state.with { state in
                    if state.got.count < Self.gotLimit { state.got.append("\(request.masked) → \(outcome)") }
                }
            }
            var rest = answer[...]
            while !rest.isEmpty {
                let sent = rest.withUnsafeBytes { send(client, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
                guard sent > 0 else { break }
                rest = rest.dropFirst(sent)
            }
            break
        }
        close(client)
    }

    /// Keeps a probe's connection open without an answer if the treatment is ``ProbeTreatment/stall``; returns whether it does.
    private func keepsWaiting(_ client: Int32) -> Bool {
        state.with { state in
            guard case .stall = state.treatment, !state.isOpen, state.stalled.count < 16 else { return false }
            state.stalled.append(client)
            return true
        }
    }

    private func answer(_ request: ReceivedRequest) -> (octets: [UInt8], outcome: String) {
        state.with { state in
            switch request.path {
            case "/generate_204" where state.page.returnsToItself && !request.pairs.isEmpty: return login(request, &state)
            case "/generate_204": return (probed(&state), "the probe")
            case "/logout":
                state.isOpen = false
                return (Self.http("200 OK", "<p>Good-bye.</p>"), "logged out")
            case state.page.action where request.method == state.page.method: return login(request, &state)
            case "/", "/portal": return (page(&state), "the page")
            case let path where request.method == "GET" && state.page.links.contains(path):
                return (Self.http("200 OK", "<h1>House rules</h1><p>Be kind to the other guests.</p>"), "terms to read")
            case state.page.action:
                return (page(&state), "the page again: the form's method is \(state.page.method)")
            default: return (Self.http("404 Not Found", "<p>There is no such page.</p>"), "no such page")
            }
        }
    }

    private func probed(_ state: inout PortalState) -> [UInt8] {
        if state.isOpen {
            return Int(state.expect) == 204 ? Self.http("204 No Content", "") : Self.http("200 OK", state.expect + "\n")
        }
        switch state.treatment {
        case .redirect, .stall: return Self.http("302 Found", "", "Location: \(origin)/portal")
        // The page keeps its token, so that a probe between reading the page and the login does not invalidate it.
        case .page: return Self.http("200 OK", state.page.octets, kind: "text/html")
        }
    }

    private func login(_ request: ReceivedRequest, _ state: inout PortalState) -> ([UInt8], String) {
        // For a GET form that goes to its own page, a request without fields is the first view of the page.
        if request.method == "GET", request.pairs.isEmpty { return (page(&state), "the page") }
        let lacks =
            request.otherKind.map { ["its body is \(Printable.text($0, limit: 40)), not the form"] }
            ?? state.page.lacks(request.pairs, isScript: request.isJSON)
        func refuse(_ complaint: String) -> [UInt8] {
            request.isJSON ? Self.json(["success": false, "message": .string(complaint)]) : page(&state, complaint: complaint)
        }
        guard lacks.isEmpty else {
            let reasons = lacks.prefix(3).joined(separator: ", ")
            return (refuse("Please accept the house rules."), "\(request.isJSON ? "refused" : "the page again"): \(reasons)")
        }
        if state.isRefusing {
            state.refusals += 1
            return (refuse("You cannot log in today."), "refused")
        }
        state.isOpen = true
        state.acceptedTerms = state.acceptedTerms || state.page.accepts(request.pairs)
        if request.isJSON { return (Self.json(["success": true]), "logged in") }
        return (Self.http("200 OK", "<p>You are now connected.</p><a href=\"/logout\">Log out</a>"), "logged in")
    }

    private func page(_ state: inout PortalState, complaint: String = "") -> [UInt8] {
        guard servesItsOwnPage else { return Self.http("200 OK", state.page.octets, kind: "text/html") }
        state.token += 1
        let text = RehearsalPage.usual(token: state.token, complaint: complaint)
        // The initialiser does not fail, because the default page contains a form.
        if let page = try? RehearsalPage(Array(text.utf8), name: "the page", origin: origin, wantsButton: false) {
            state.page = page
        }
        return Self.http("200 OK", text)
    }

    private static func json(_ value: JSONValue) -> [UInt8] {
        http("200 OK", Coding.encode(value), kind: "application/json")
    }

    private static func http(_ status: String, _ body: String, _ headers: String...) -> [UInt8] {
        http(status, Array(body.utf8), headers, kind: "text/html; charset=utf-8")
    }

    private static func http(_ status: String, _ body: [UInt8], _ headers: [String] = [], kind: String) -> [UInt8] {
        let lines =
            ["HTTP/1.1 \(status)", "Content-Length: \(body.count)", "Content-Type: \(kind)", "Connection: close"] + headers
        return Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8) + body
    }
}
