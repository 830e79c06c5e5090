import Glibc
import Testing
import Varlink

@testable import HelperKit

/// A certificate authority with servers, made with the openssl command in a folder that is removed with it.
final class Authority {
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

    private func run(_ words: String...) throws {
        var status: Int32 = 0
        waitpid(try spawn(["openssl"] + words), &status, 0)
        try #require(status == 0)
    }

    /// Makes a key and a certificate for it.
    private func certificate(_ name: String, subject: String, signed: Bool) throws {
        let authority = signed ? ["-CA", "authority.pem", "-CAkey", "authority.key"] : []
        let made = try spawn(
            [
                "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
                "-subj",
                "/CN=\(name)", "-addext",
                "subjectAltName=\(subject)", "-addext", "basicConstraints=critical,CA:FALSE", "-keyout", "\(name).key", "-out",
                "\(name).pem",
            ]
                + authority)
        var status: Int32 = 0
        waitpid(made, &status, 0)
        try #require(status == 0)
    }

    /// Starts a server that answers every path with the file of that name in the folder; returns its port.
    func serve(_ name: String, subject: String = "IP:127.0.0.1", signed: Bool = true) throws -> Int {
        try certificate(name, subject: subject, signed: signed)
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

    /// Starts a server that puts TLS in front of a plain one, with a certificate of this authority; returns its port.
    func front(_ server: ScriptedServer, name: String = "front") throws -> Int {
        try certificate(name, subject: "IP:127.0.0.1", signed: true)
        try write("front.py", Self.frontProgram)
        // Sockets rather than a pipe: they are close-on-exec from the start, so no other test's child inherits them.
        let ends = try Socket.pair()
        defer { close(ends.0) }
        servers.append(
            try spawn(["/usr/bin/python3", "-IS", "front.py", "\(name).pem", "\(name).key", "\(server.port)"], output: ends.1))
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
