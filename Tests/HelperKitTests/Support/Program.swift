import Glibc
import Testing
import Varlink

/// One finished run of a program.
struct Program {
    let status: Int32
    /// Standard output and standard error.
    let output: String

    /// The folder of the built programs and of the test bundle.
    static let built: String = {
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = readlink("/proc/self/exe", &buffer, buffer.count)
        let path = String(decoding: buffer.prefix(max(0, count)), as: UTF8.self)
        return String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)])
    }()

    /// The words that begin the command lines of `hotspotctl helpers test` and `hotspotctl portals`.
    static let authorTools = [built + "/hotspot-helpers", "--author"]

    static let checkout = "/" + #filePath.split(separator: "/").dropLast(4).joined(separator: "/")

    /// Whether these programs are installed; always `true` in CI, where a missing program is a failure.
    static func runs(_ paths: String...) -> Bool {
        getenv("CI").map { String(cString: $0) } == "true" || paths.allSatisfy { access($0, F_OK) == 0 }
    }

    static func run(_ words: [String], environment: [String] = ["PATH=/usr/bin:/bin", "LANG=C.UTF-8"]) throws -> Program {
        // Sockets rather than a pipe: they are close-on-exec from the start, so no other test's child inherits them.
        let ends = try Socket.pair()
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_adddup2(&actions, ends.1, 1)
        posix_spawn_file_actions_adddup2(&actions, ends.1, 2)
        var arguments: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) } + [nil]
        var variables: [UnsafeMutablePointer<CChar>?] = environment.map { strdup($0) } + [nil]
        defer { for text in arguments + variables { free(text) } }
        var process: pid_t = 0
        let code = posix_spawn(&process, words[0], &actions, nil, &arguments, &variables)
        close(ends.1)
        defer { close(ends.0) }
        try #require(code == 0, "\(words[0]): \(String(cString: strerror(code)))")
        var octets: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = read(ends.0, &chunk, chunk.count)
            guard count > 0 else { break }
            octets += chunk[..<count]
        }
        var status: Int32 = 0
        waitpid(process, &status, 0)
        return Program(
            status: status & 0x7F == 0 ? status >> 8 & 0xFF : 128 + status & 0x7F, output: String(decoding: octets, as: UTF8.self)
        )
    }
}

enum Text {
    static func read(_ path: String) throws -> String {
        let file = try #require(fopen(path, "r"), "\(path)")
        defer { fclose(file) }
        var octets = [UInt8](repeating: 0, count: 1 << 18)
        return String(decoding: octets[..<fread(&octets, 1, octets.count, file)], as: UTF8.self)
    }
}
