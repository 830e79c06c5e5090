import Glibc
import HotspotCore
import Testing

@testable import BoundHTTP
@testable import HelperKit
@testable import PageLogin
@testable import PortalPages

/// A server on loopback that sends exactly what a test wrote, well-formed or not.
final class ScriptedServer: Sendable {
    /// One request.
    struct Request: Sendable {
        var method: String
        var target: String
        var head: String
        var body: String

        var path: String { String(target.prefix { $0 != "?" }) }
        func header(_ name: String) -> String? {
            head.split(separator: "\r\n").first { $0.lowercased().hasPrefix(name.lowercased() + ":") }
                .map { String($0.drop { $0 != ":" }.dropFirst().drop { $0 == " " }) }
        }
    }

    /// The reaction to a request.
    enum Action: Sendable {
        /// Sends these octets and closes the connection; if the head is complete, it announces that.
        case send([UInt8])
        /// Sends these octets and waits for the next request.
        case keep([UInt8])
        /// Sends these octets and keeps the connection open until the client closes it.
        case hold([UInt8])
        /// Sends the first octets once and the others repeatedly until the client closes the connection.
        case repeating([UInt8], [UInt8])

        /// Sends a page and closes the connection.
        static func page(_ body: String) -> Action { .send(octets(http(200, body))) }
    }

    let port: Int
    private let host: UInt8
    private let listener: Int32
    private let log = Locked([Request]())
    private let opened = Locked(0)

    /// The number of connections that were accepted, and greeted if they had to be.
    var connections: Int { opened.with { $0 } }
    var requests: [Request] { log.with { $0 } }
    var url: String { "http://127.0.0.\(host):\(port)" }

    /// - Parameters: - host: the last octet of its address, 127.0.0.1 or another one. - greeting: sent to the first connection before its request;
    ///   then that connection ends.
    init(host: UInt8 = 1, greeting: [UInt8]? = nil, _ handler: @escaping @Sendable (Request) -> Action) {
        self.host = host
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = (0x7F00_0000 | UInt32(host)).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                precondition(bind(listener, $0, length) == 0 && listen(listener, 16) == 0)
                getsockname(listener, $0, &length)
            }
        }
        self.listener = listener
        port = Int(UInt16(bigEndian: address.sin_port))
        let (log, opened) = (log, opened)
        Worker.start {
            var greeting = greeting
            while true {
                let client = accept(listener, nil, nil)
                guard client >= 0 else {
                    // Closed by this thread: if the owner closed it, the number could belong to another socket before accept() returns.
                    close(listener)
                    return
                }
                if let text = greeting {
                    _ = Self.write(text, client)
                    close(client)
                }
                let isGreeted = greeting != nil
                greeting = nil
                opened.with { $0 += 1 }
                if isGreeted { continue }
                Worker.start {
                    Self.serve(client, handler, log)
                    close(client)
                }
            }
        }
    }

    /// Makes a server that answers each path with a whole response.
    convenience init(host: UInt8 = 1, _ pages: [String: String]) {
        self.init(host: host) { request in .send(Array((pages[request.path] ?? http(404, "")).utf8)) }
    }

    deinit { shutdown(listener, Int32(SHUT_RDWR)) }

    /// Waits at most 20 s until this many requests have come.
    func waitForRequests(_ count: Int = 1) -> Bool {
        log.wait(until: .after(milliseconds: 20_000)) { $0.count >= count ? true : nil } ?? false
    }

    /// Waits at most 20 s until this many connections were accepted.
    func waitForConnections(_ count: Int = 1) -> Bool {
        opened.wait(until: .after(milliseconds: 20_000)) { $0 >= count ? true : nil } ?? false
    }

    private static func serve(_ client: Int32, _ handler: (Request) -> Action, _ log: Locked<[Request]>) {
        var octets: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 4096)
        while true {
            if let end = octets[...].firstIndex(of: "\r\n\r\n") {
                let head = String(decoding: octets[..<end], as: UTF8.self)
                let first = head.prefix { $0 != "\r\n" }.split(separator: " ")
                var request = Request(method: String(first[0]), target: String(first[1]), head: head, body: "")
                let length = request.header("content-length").flatMap(Int.init) ?? 0
                if octets.count >= end + 4 + length {
                    request.body = String(decoding: octets[(end + 4)..<(end + 4 + length)], as: UTF8.self)
                    log.with { $0.append(request) }
                    let action = handler(request)
                    guard case .keep(let answer) = action else { return perform(action, client) }
                    guard write(answer, client) else { return }
                    octets.removeFirst(end + 4 + length)
                    continue
                }
            }
            let count = recv(client, &chunk, chunk.count, 0)
            guard count > 0 else { return }
            octets += chunk[..<count]
        }
    }

    private static func write(_ octets: [UInt8], _ client: Int32) -> Bool {
        var rest = octets[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.send(client, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }

    /// Returns an answer whose head says that the connection ends; an incomplete head stays unchanged.
    private static func closing(_ octets: [UInt8]) -> [UInt8] {
        guard octets.starts(with: "HTTP/1.1 ".utf8), let end = octets[...].firstIndex(of: "\r\n\r\n"),
            let line = octets[..<(end + 2)].firstIndex(of: "\r\n"),
            !String(decoding: octets[..<end], as: UTF8.self).lowercased().contains("\r\nconnection:")
        else { return octets }
        return octets[..<line] + Array("\r\nConnection: close".utf8) + octets[line...]
    }

    private static func perform(_ action: Action, _ client: Int32) {
        switch action {
        case .send(let octets): _ = write(closing(octets), client)
        case .keep(let octets): _ = write(octets, client)
        case .hold(let octets):
            guard write(octets, client) else { return }
            var byte: UInt8 = 0
            while recv(client, &byte, 1, 0) > 0 {}
        case .repeating(let first, let again):
            guard write(first, client) else { return }
            while write(again, client) {}
        }
    }
}

/// Returns a whole response with its length.
func http(_ status: Int, _ body: String, _ headers: String...) -> String {
    let lines = ["HTTP/1.1 \(status) Text", "Content-Length: \(body.utf8.count)"] + headers
    return lines.joined(separator: "\r\n") + "\r\n\r\n" + body
}

/// Returns a redirect.
func redirect(_ target: String, status: Int = 302) -> String { http(status, "", "Location: \(target)") }

func octets(_ text: String) -> [UInt8] { Array(text.utf8) }

/// Returns a link over loopback, with a new attempt and association.
func loopback(probe: String? = nil, expect: String? = "204", nameservers: [String] = [], api: String? = nil) -> Link {
    let number = String(UInt64.random(in: .min ... .max), radix: 36)
    return Link(
        attempt: "attempt-\(number)", association: "association-\(number)", interface: "lo", index: 1, addresses: ["127.0.0.1/8"],
        nameservers: nameservers, portalAPI: api, probeURL: probe, probeExpect: expect)
}

/// Returns a response as if it had come from the network.
func response(
    _ status: Int = 200, _ body: String = "", url: String = "http://portal.test/page", headers: [(String, String)] = [],
    pin: String? = nil
) -> HTTPResponse {
    HTTPResponse(
        url: WebURL(url)!, status: status, headers: headers.map { HTTPResponse.Header(name: $0.0, value: $0.1) },
        body: octets(body),
        pin: pin)
}

/// Returns a page as if it had come from the network.
func page(_ body: String, url: String = "http://portal.test/page") -> HTMLPage { HTMLReader.read(response(200, body, url: url)) }

/// Returns the question that a page at its own address causes.
func question(on page: HTMLPage, _ engine: FormEngine = FormEngine()) throws -> Prompt {
    if case .ask(let prompt, _) = engine.decide(on: page, at: page.base) { return prompt }
    return try #require(nil, "The page asks nothing.")
}
