import Glibc
import TestSupport
import Testing
import Varlink

@testable import BoundHTTP
@testable import HelperKit

/// A certificate authority with servers, made with the openssl command in a folder that is removed with it.
final class Authority {
    private let ownFolder = TemporaryFolder()
    var folder: String { ownFolder.path }
    var file: String { folder + "/authority.pem" }
    private var servers: [pid_t] = []

    init() throws {
        try certify("authority", issuer: nil, isAuthority: true)
    }

    deinit {
        for server in servers {
            kill(server, SIGKILL)
            waitpid(server, nil, 0)
        }
    }

    private func spawn(_ words: [String], output: Int32? = nil) throws -> pid_t {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        for target in [1, 2] as [Int32] { posix_spawn_file_actions_addopen(&actions, target, "/dev/null", O_WRONLY, 0) }
        if let output { posix_spawn_file_actions_adddup2(&actions, output, 1) }
        var arguments: [UnsafeMutablePointer<CChar>?] =
            (["sh", "-c", "cd \"$0\" && exec \"$@\"", folder] + words).map { strdup($0) } + [nil]
        defer { for argument in arguments { free(argument) } }
        var process: pid_t = 0
        try #require(posix_spawn(&process, "/bin/sh", &actions, nil, &arguments, environ) == 0)
        return process
    }

    private func openssl(_ words: [String]) throws {
        var status: Int32 = 0
        waitpid(try spawn(["openssl"] + words), &status, 0)
        try #require(status == 0, "openssl \(words.joined(separator: " "))")
    }

    /// Makes a key and a certificate for it, signed by `issuer`, or by itself.
    func certify(_ name: String, subject: String = "IP:127.0.0.1", issuer: String? = "authority", isAuthority: Bool = false)
        throws
    {
        let signer = issuer.map { ["-CA", "\($0).pem", "-CAkey", "\($0).key"] } ?? []
        try openssl(
            ["req", "-x509", "-days", "2", "-addext", "basicConstraints=critical,CA:\(isAuthority ? "TRUE" : "FALSE")"] + signer
                + request(name, subject))
    }

    /// Makes a key and a certificate for it that is valid from one time to another (YYYYMMDDHHMMSSZ).
    func certify(_ name: String, from: String, to: String) throws {
        try openssl(["req"] + request(name, "IP:127.0.0.1").map { $0 == "\(name).pem" ? "\(name).csr" : $0 })
        try write("index.txt", "")
        try write("serial", "01")
        try write(
            "ca.cnf",
            """
            [ca]
            default_ca=own
            [own]
            database=index.txt
            serial=serial
            new_certs_dir=.
            default_md=sha256
            policy=policy
            copy_extensions=copy
            [policy]
            commonName=supplied

            """)
        try openssl([
            "ca", "-batch", "-config", "ca.cnf", "-cert", "authority.pem", "-keyfile", "authority.key", "-notext",
            "-in", "\(name).csr", "-out", "\(name).pem", "-startdate", from, "-enddate", to,
        ])
    }

    /// Appends certificates to the certificate of a server, which then sends them as well.
    func append(_ others: [String], to name: String) throws {
        let texts = try ([name] + others).map { try Text.read("\(folder)/\($0).pem") }
        try write("\(name).pem", texts.joined())
    }

    private func request(_ name: String, _ subject: String) -> [String] {
        [
            "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-subj", "/CN=\(name)", "-addext",
            "subjectAltName=\(subject)", "-keyout", "\(name).key", "-out", "\(name).pem",
        ]
    }

    /// Starts a server that answers every path with the file of that name in the folder; returns its port.
    func serve(_ name: String, subject: String = "IP:127.0.0.1", signed: Bool = true) throws -> Int {
        try certify(name, subject: subject, issuer: signed ? "authority" : nil)
        // A port that was free a moment ago.
        let port = ScriptedServer([:]).port
        servers.append(
            try spawn([
                "openssl", "s_server", "-quiet", "-accept", "127.0.0.1:\(port)", "-cert", "\(name).pem", "-key", "\(name).key",
                "-HTTP",
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

    /// Starts a server that puts TLS in front of a plain server; returns its port. Makes its certificate if there is none.
    func front(_ server: ScriptedServer, name: String = "front") throws -> Int {
        if access("\(folder)/\(name).pem", F_OK) != 0 { try certify(name) }
        return try start("front.py", Self.frontProgram, "\(name).pem", "\(name).key", "\(server.port)")
    }

    /// Starts a server that ends each connection in this way; returns its port.
    func breakOff(_ way: TLSBreach) throws -> Int {
        if access("\(folder)/breach.pem", F_OK) != 0 { try certify("breach") }
        return try start("breach.py", TLSBreach.program, "breach.pem", "breach.key", way.rawValue)
    }

    /// Starts a server that answers each connection once, and says whether its TLS session was resumed; returns its port. After the
    /// first connection it has another key, if a name is given for that.
    func resume(version: String, then other: String? = nil) throws -> Int {
        for name in ["resume", other].compactMap({ $0 }) { try certify(name) }
        return try start("resume.py", Self.resumeProgram, version, "resume", other ?? "resume")
    }

    private static let resumeProgram = """
        import socket, ssl, sys
        def context(name):
            made = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            made.load_cert_chain(name + ".pem", name + ".key")
            made.maximum_version = getattr(ssl.TLSVersion, sys.argv[1])
            return made
        first = context(sys.argv[2])
        later = first if sys.argv[2] == sys.argv[3] else context(sys.argv[3])
        listener = socket.create_server(("127.0.0.1", 0))
        print(listener.getsockname()[1], flush=True)
        chosen = first
        while True:
            raw = listener.accept()[0]
            try:
                outer = chosen.wrap_socket(raw, server_side=True)
                chosen = later
                if outer.recv(65536):
                    body = b"resumed" if outer.session_reused else b"whole"
                    outer.sendall(b"HTTP/1.1 200 OK\\r\\nConnection: close\\r\\nContent-Length: %d\\r\\n\\r\\n" % len(body) + body)
                    outer.unwrap()
            except OSError:
                pass
            raw.close()

        """

    /// Starts a Python program that prints its port.
    private func start(_ name: String, _ program: String, _ words: String...) throws -> Int {
        try write(name, program)
        // Sockets rather than a pipe: they are close-on-exec from the start, so no other test's child inherits them.
        let ends = try Socket.pair()
        defer { close(ends.0) }
        servers.append(try spawn(["/usr/bin/python3", "-IS", name] + words, output: ends.1))
        close(ends.1)
        var octets = [UInt8](repeating: 0, count: 16)
        let count = read(ends.0, &octets, octets.count)
        return try #require(Int(String(decoding: octets.prefix(max(0, count)).filter { $0 > 0x20 }, as: UTF8.self)))
    }

    /// Removes TLS and passes everything on; prints its port first.
    private static let frontProgram = """
        import select, socket, ssl, sys, threading
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(sys.argv[1], sys.argv[2])
        listener = socket.create_server(("127.0.0.1", 0))
        print(listener.getsockname()[1], flush=True)
        def serve(raw):
            try:
                outer = context.wrap_socket(raw, server_side=True)
                inner = socket.create_connection(("127.0.0.1", int(sys.argv[3])))
                while True:
                    ready = [outer] if outer.pending() else select.select([outer, inner], [], [])[0]
                    for source in ready:
                        data = source.recv(65536)
                        if not data:
                            outer.unwrap()
                            return
                        (inner if source is outer else outer).sendall(data)
            except OSError:
                pass
            finally:
                raw.close()
        while True:
            threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()

        """

    func page(_ name: String, _ response: String) throws { try write(name, response) }

    private func write(_ name: String, _ text: String) throws {
        let file = try #require(fopen(folder + "/" + name, "w"))
        fputs(text, file)
        fclose(file)
    }
}

/// How a server ends a connection with TLS.
enum TLSBreach: String, CaseIterable {
    /// With an alert, with nothing, or with other octets in the handshake.
    case alert, close, garbage
    /// In the middle of the answer, without the end that TLS requires, or with a record that no key fits.
    case truncation, forgery
    /// After an answer without a length, without the end that TLS requires.
    case plainEnd

    fileprivate static let program = """
        import socket, ssl, sys
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(sys.argv[1], sys.argv[2])
        way = sys.argv[3]
        listener = socket.create_server(("127.0.0.1", 0))
        print(listener.getsockname()[1], flush=True)
        while True:
            raw = listener.accept()[0]
            if way in ("alert", "close", "garbage"):
                raw.recv(65536)
                raw.sendall({"alert": bytes([21, 3, 3, 0, 2, 2, 40]), "close": b"", "garbage": bytes(range(256))}[way])
            else:
                outer = context.wrap_socket(raw, server_side=True)
                outer.recv(65536)
                length = b"" if way == "plainEnd" else b"Content-Length: 100\\r\\n"
                outer.sendall(b"HTTP/1.1 200 OK\\r\\n" + length + b"\\r\\n<title>half")
                raw = socket.socket(fileno=outer.detach())
                if way == "forgery":
                    raw.sendall(bytes([23, 3, 3, 0, 32]) + bytes(32))
            raw.close()

        """
}
