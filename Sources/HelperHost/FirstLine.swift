import Glibc
import HotspotCore

/// The beginning of a program, where a script names its interpreter (execve(2), "Interpreter scripts").
struct FirstLine {
    /// The kernel reads no more (BINPRM_BUF_SIZE of linux/binfmts.h).
    static let limit = 256

    /// As many octets as there are, at most ``limit``.
    let octets: [UInt8]

    /// `nil` if the program cannot be read.
    init?(of program: String) {
        // Whatever somebody put there: no waiting at a pipe or device.
        let descriptor = open(program, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var octets = [UInt8](repeating: 0, count: Self.limit)
        let count = read(descriptor, &octets, octets.count)
        guard count > 0 else { return nil }
        self.octets = Array(octets[..<count])
    }

    /// The interpreter and what follows it, which the kernel hands over as one argument; empty if the line names none, `nil` for
    /// what is no script.
    var interpreter: [String]? {
        guard octets.starts(with: Array("#!".utf8)) else { return nil }
        // A NUL ends the line for the kernel as well.
        let line = octets.dropFirst(2).prefix { $0 != 0x0A && $0 != 0 }
        func isBlank(_ octet: UInt8) -> Bool { octet == 0x20 || octet == 0x09 }
        let name = line.drop(while: isBlank).prefix { !isBlank($0) }
        guard !name.isEmpty else { return [] }
        var rest = line[name.endIndex...].drop(while: isBlank)
        while let last = rest.last, isBlank(last) { rest = rest.dropLast() }
        return [name, rest].filter { !$0.isEmpty }.map { String(decoding: $0, as: UTF8.self) }
    }
}
