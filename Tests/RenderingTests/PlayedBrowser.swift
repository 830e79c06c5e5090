import BoundHTTP
import CLinux
import Glibc
import HotspotCore
import TestSupport
import Varlink

@testable import Rendering

/// The browser's side of a connection, which a test plays.
enum PlayedBrowser {
    /// Answers each message on a thread of its own, until the connection ends.
    static func serve(_ connection: Int32, _ answer: @escaping @Sendable (JSONValue) -> [String: JSONValue]) {
        Worker.start {
            var (message, octet): ([UInt8], UInt8) = ([], 0)
            while recv(connection, &octet, 1, 0) == 1 {
                guard octet == 0 else {
                    message.append(octet)
                    continue
                }
                if let value = try? Coding.decode(JSONValue.self, from: message), let number = value["id"] {
                    say(.object(answer(value).merging(["id": number]) { $1 }), on: connection)
                }
                message = []
            }
            close(connection)
        }
    }

    static func say(_ message: JSONValue, on connection: Int32) { send(Coding.encode(message) + [0], on: connection) }

    /// Sends as much as the other end takes.
    static func send(_ octets: [UInt8], on connection: Int32) {
        var rest = octets[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.send(connection, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            guard count > 0 else { return }
            rest = rest.dropFirst(count)
        }
    }

    static func eventually(_ condition: () -> Bool) async -> Bool {
        for _ in 0..<1000 {
            if condition() { return true }
            try? await Task.sleep(for: .milliseconds(10))
        }
        return false
    }

    /// Opens a page in a browser that answers each command.
    static func open(_ folder: TemporaryFolder) throws -> RenderedPage {
        let path = folder.path + "/browser"
        unlink(path)
        let listener = try Socket.listen(path: path, mode: 0o600).take()
        Worker.start {
            var ready = pollfd(fd: listener, events: Int16(POLLIN), revents: 0)
            _ = poll(&ready, 1, 10_000)
            let connection = accept(listener, nil, nil)
            close(listener)
            guard let port = try? Proxy.listen() else { return }
            _ = clinux_send_descriptor(connection, port)
            close(port)
            // The wishes are the first message, and have no number.
            serve(connection) { message in
                switch message["method"]?.string {
                case "Browser.getVersion": ["result": ["product": "Played/1"]]
                case "Page.navigate" where message["params"]?["url"]?.string != "http://portal.test/#/login":
                    ["result": ["errorText": "another address"]]
                case "Target.attachToTarget": ["result": ["sessionId": "s"]]
                case "Network.getAllCookies":
                    ["result": ["cookies": [["domain": "portal.test", "name": "sid", "value": "abc", "path": "/"]]]]
                default: ["result": [:]]
                }
            }
        }
        let link = Link(attempt: "1", association: "1", interface: "lo", index: 1, addresses: ["127.0.0.1/8"])
        return try RenderedPage.open(
            WebURL("http://portal.test/#/login")!, socket: path, link: link, policy: .testing(), cookies: [], pins: [],
            mayReach: { _ in true }, in: Scope(deadline: .after(milliseconds: 10_000)))
    }
}
