import Glibc
import HelperKit
import HotspotCore

/// A captive portal on loopback with one page: terms to accept and a button. It redirects the probe until somebody is logged in.
///
/// It listens on a port that gateways use, since helpers of HelperKit follow no redirect to any other.
final class RehearsalPortal: Sendable {
    /// No port was free.
    struct NoPort: Error, CustomStringConvertible {
        var description: String {
            "No port is free for the made-up portal; one of \(RehearsalPortal.ports.map(String.init).joined(separator: ", ")) is needed."
        }
    }

    private struct State {
        var isOpen = false
        var acceptedTerms = false
        var token = 100
        var requests: [String] = []
    }

    fileprivate static let ports = [
        8000, 8001, 8002, 8003, 8004, 8005, 8006, 8007, 8008, 8009, 8010, 8088, 8090, 8880, 8888, 9997, 9998,
    ]
    private static let requestLimit = 64 * 1024

    /// Where it listens.
    let port: Int
    private let state = Monitor(State())

    /// Starts to listen. It ends with the process.
    init() throws {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var reuse: Int32 = 1
        setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &reuse, socklen_t(MemoryLayout<Int32>.size))
        let found = Self.ports.first { port in
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
        guard let found, listen(listener, 64) == 0 else {
            close(listener)
            throw NoPort()
        }
        port = found
        Worker.start { [self] in
            while true {
                let client = accept(listener, nil, nil)
                guard client >= 0 else { continue }
                Worker.start { [self] in
                    serve(client)
                    close(client)
                }
            }
        }
    }

    /// Scheme, host and port.
    var origin: String { "http://127.0.0.1:\(port)" }
    /// What the link's probe asks.
    var probeURL: String { origin + "/generate_204" }

    /// Somebody is logged in.
    var isOpen: Bool {
        get { state.with { $0.isOpen } }
        set { state.with { $0.isOpen = newValue } }
    }

    /// The terms were accepted since the last ``reset(open:)``.
    var acceptedTerms: Bool { state.with { $0.acceptedTerms } }

    /// What was asked since the last ``reset(open:)``, methods and paths.
    var requests: [String] { state.with { $0.requests } }

    /// Logs everybody in or out, and forgets what was asked.
    func reset(open: Bool) {
        state.with {
            $0.isOpen = open
            $0.acceptedTerms = false
            $0.requests = []
        }
    }

    private func serve(_ client: Int32) {
        var wait = timeval(tv_sec: 10, tv_usec: 0)
        setsockopt(client, SOL_SOCKET, SO_RCVTIMEO, &wait, socklen_t(MemoryLayout<timeval>.size))
        var octets: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 4096)
        while octets.count < Self.requestLimit {
            let count = recv(client, &chunk, chunk.count, 0)
            guard count > 0 else { return }
            octets += chunk[..<count]
            guard let (head, body) = Self.split(octets) else { continue }
            let words = head.prefix { $0 != "\r\n" }.split(separator: " ")
            guard words.count >= 2 else { return }
            let answer = Array(answer(String(words[0]), String(words[1]), body).utf8)
            _ = send(client, answer, answer.count, Int32(MSG_NOSIGNAL))
            return
        }
    }

    /// Head and body, once both are whole.
    private static func split(_ octets: [UInt8]) -> (head: String, body: String)? {
        let text = String(decoding: octets, as: UTF8.self)
        guard let end = text.firstRange(of: "\r\n\r\n") else { return nil }
        let head = String(text[..<end.lowerBound])
        let body = String(text[end.upperBound...])
        let length = head.split(separator: "\r\n").first { $0.lowercased().hasPrefix("content-length:") }
            .flatMap { Int($0.split(separator: ":")[1].filter { !$0.isWhitespace }) }
        return body.utf8.count >= length ?? 0 ? (head, body) : nil
    }

    private func answer(_ method: String, _ target: String, _ body: String) -> String {
        let parts = target.split(separator: "?", maxSplits: 1).map(String.init)
        let path = parts.first ?? "/"
        let pairs = (method == "POST" ? body : parts.dropFirst().first ?? "").split(separator: "&").map(String.init)
        return state.with { state in
            state.requests.append("\(method) \(path)")
            switch path {
            case "/generate_204":
                return state.isOpen ? Self.http("204 No Content", "") : Self.http("302 Found", "", "Location: \(origin)/portal")
            case "/terms": return Self.http("200 OK", "<h1>House rules</h1><p>Be kind to the other guests.</p>")
            case "/logout":
                state.isOpen = false
                return Self.http("200 OK", "<p>Good-bye.</p>")
            case "/login":
                guard method == "POST", pairs.contains("accept=yes"), pairs.contains("token=\(state.token)") else {
                    return Self.http("200 OK", page("<p class=error>Please accept the house rules.</p>", &state))
                }
                state.isOpen = true
                state.acceptedTerms = true
                return Self.http("200 OK", "<p>You are now connected.</p><a href=\"/logout\">Log out</a>")
            default: return Self.http("200 OK", page("", &state))
            }
        }
    }

    private func page(_ message: String, _ state: inout State) -> String {
        state.token += 1
        return """
            <html><head><title>Rehearsal</title></head><body><h1>Welcome</h1>\(message)
            <form action="/login" method="post">
            <input type="hidden" name="token" value="\(state.token)">
            <label><input type="checkbox" name="accept" value="yes"> I accept the <a href="/terms">house rules</a></label>
            <input type="submit" name="go" value="Connect">
            </form></body></html>
            """
    }

    private static func http(_ status: String, _ body: String, _ headers: String...) -> String {
        let lines =
            [
                "HTTP/1.1 \(status)", "Content-Length: \(body.utf8.count)", "Content-Type: text/html; charset=utf-8",
                "Connection: close",
            ]
            + headers
        return lines.joined(separator: "\r\n") + "\r\n\r\n" + body
    }
}
