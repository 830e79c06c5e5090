import Glibc
import HotspotCore
import Testing

@testable import HelperKit

/// An authority and servers of its own, made with the openssl command in a folder that goes with it.
private final class Authority {
    let folder: String
    var file: String { folder + "/authority.pem" }
    private var servers: [pid_t] = []

    init() throws {
        var template = Array("/tmp/hotspotd-tls-XXXXXX".utf8CString)
        folder = try #require(mkdtemp(&template).map { String(cString: $0) })
        try run(
            "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", "-subj",
            "/CN=Test", "-keyout",
            "authority.key", "-out", "authority.pem")
    }

    deinit {
        for server in servers {
            kill(server, SIGKILL)
            waitpid(server, nil, 0)
        }
        if let directory = opendir(folder) {
            while let entry = readdir(directory) {
                let name = withUnsafeBytes(of: entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
                unlink(folder + "/" + name)
            }
            closedir(directory)
        }
        rmdir(folder)
    }

    private func spawn(_ words: [String]) throws -> pid_t {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        for output in [1, 2] as [Int32] { posix_spawn_file_actions_addopen(&actions, output, "/dev/null", O_WRONLY, 0) }
        var arguments: [UnsafeMutablePointer<CChar>?] =
            (["sh", "-c", "cd \"$0\" && exec openssl \"$@\"", folder] + words).map { strdup($0) } + [nil]
        defer { for argument in arguments { free(argument) } }
        var process: pid_t = 0
        try #require(posix_spawn(&process, "/bin/sh", &actions, nil, &arguments, environ) == 0)
        return process
    }

    private func run(_ words: String...) throws {
        var status: Int32 = 0
        waitpid(try spawn(words), &status, 0)
        try #require(status == 0)
    }

    /// A server that answers every path with the file of that name in the folder; its port and pin.
    func serve(_ name: String, subject: String = "IP:127.0.0.1", signed: Bool = true) throws -> Int {
        let authority = signed ? ["-CA", "authority.pem", "-CAkey", "authority.key"] : []
        let made = try spawn(
            [
                "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", "-subj",
                "/CN=\(name)", "-addext",
                "subjectAltName=\(subject)", "-addext", "basicConstraints=critical,CA:FALSE", "-keyout", "\(name).key", "-out",
                "\(name).pem",
            ]
                + authority)
        var status: Int32 = 0
        waitpid(made, &status, 0)
        try #require(status == 0)
        // A port that was free a moment ago.
        let port = ScriptedServer([:]).port
        servers.append(
            try spawn([
                "s_server", "-quiet", "-accept", "127.0.0.1:\(port)", "-cert", "\(name).pem", "-key", "\(name).key", "-HTTP",
            ]))
        for _ in 0..<500 {
            let probe = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            defer { close(probe) }
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_port = UInt16(port).bigEndian
            address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
            let result = withUnsafePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    connect(probe, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
                }
            }
            if result == 0 { return port }
            usleep(20_000)
        }
        throw TransferError(.connectFailed, "openssl s_server does not listen")
    }

    func page(_ name: String, _ response: String) throws {
        let file = try #require(fopen(folder + "/" + name, "w"))
        fputs(response, file)
        fclose(file)
    }
}

@Suite(.serialized) struct TLSTests {
    private func code(_ url: String, authority: String?, pin: String? = nil, milliseconds: Int = 10_000) -> TransferError.Code? {
        var request = HTTPRequest(WebURL(url)!)
        // openssl serves one connection after the other.
        request.needsFreshConnection = true
        request.requiredPin = pin
        do throws(TransferError) {
            _ = try HTTPClient(link: loopback(), policy: .testing(authorities: authority)).send(
                request, in: Scope(deadline: .after(milliseconds: milliseconds)))
            return nil
        } catch {
            return error.code
        }
    }

    @Test func checksCertificatesAndPins() throws {
        let authority = try Authority()
        try authority.page("index", http(200, "hello"))
        let port = try authority.serve("good")
        let url = "https://127.0.0.1:\(port)/index"
        let client = HTTPClient(link: loopback(), policy: .testing(authorities: authority.file))
        var request = HTTPRequest(WebURL(url)!)
        request.needsFreshConnection = true
        let response = try client.send(request, in: Scope(deadline: .after(milliseconds: 10_000)))
        #expect(response.body == octets("hello"))
        let pin = try #require(response.pin)
        #expect(pin.utf8.count == 44)
        #expect(code(url, authority: authority.file, pin: pin) == nil)
        #expect(code(url, authority: authority.file, pin: "A" + pin.dropFirst() + "x") == .keyChanged)
        // Nobody of the system's authorities has signed it.
        #expect(code(url, authority: nil) == .tlsFailed)
        let other = try authority.serve("other", subject: "DNS:somebody.else")
        #expect(code("https://127.0.0.1:\(other)/index", authority: authority.file) == .tlsFailed)
        let own = try authority.serve("own", signed: false)
        #expect(code("https://127.0.0.1:\(own)/index", authority: authority.file) == .tlsFailed)
    }

    @Test func namesHandshakesWithPlainServers() {
        let server = ScriptedServer { _ in .send([]) }
        let plain = code("https://127.0.0.1:\(server.port)/", authority: nil, milliseconds: 500)
        // The server waits for a request that never comes, so that the deadline ends it.
        #expect(plain == .timeout || plain == .tlsFailed)
    }

    @Test func asksThePortalAPI() throws {
        let authority = try Authority()
        let body = #"{"captive":true,"user-portal-url":"http://portal.test/welcome"}"#
        try authority.page("api", http(200, body, "Content-Type: application/captive+json"))
        let port = try authority.serve("api-server")
        // The probe alone would find the network open; the API knows better.
        let open = ScriptedServer { _ in .hold([]) }
        let link = loopback(probe: open.url + "/", api: "https://127.0.0.1:\(port)/api")
        let policy = NetworkPolicy.testing(authorities: authority.file)
        let store = AttemptStore()
        let scope = Scope(deadline: .after(milliseconds: 10_000))
        let result = try #require(store.probe(link, policy: policy, in: scope))
        #expect(result.verdict == .captive)
        #expect(result.portalURL?.text == "http://portal.test/welcome")
        #expect(result.evidence.map(\.body) == ["captive"])
        #expect(store.apiDocument(link, policy: policy, in: scope)?.captive == true)
        // With a certificate that nobody vouches for, it is as if there were no API.
        var stranger = link
        stranger.attempt += "x"
        #expect(store.apiDocument(stranger, policy: .testing(), in: scope) == nil)
    }
}
