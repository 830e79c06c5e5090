import EventLoop
import ForeignText
import Glibc
import HotspotCore

/// Explains why the kernel does not execute an existing program. The kernel's own "No such file or directory" names the program even if only its
/// interpreter is missing (execve(2)).
public enum StartFailure {
    /// Returns one sentence about the program, without its full stop.
    ///
    /// - Parameter code: the error number of execve(2).
    public static func words(program: String, code: Int32) -> String {
        let shown = Printable.text(program, limit: 256)
        let usual = "\(shown): \(String(cString: strerror(code)))"
        guard [ENOENT, ENOEXEC, EACCES, ENOTDIR].contains(code), let start = beginning(of: program) else { return usual }
        if start.starts(with: elf) {
            return code == ENOEXEC
                ? "\(shown) is a program for another kind of processor"
                : code == ENOENT ? "\(shown) needs a dynamic loader that this system lacks" : usual
        }
        if start.starts(with: [0xEF, 0xBB, 0xBF]) {
            return "\(shown) begins with a byte order mark (BOM) before its #!; save it as UTF-8 without one"
        }
        guard start.starts(with: Array("#!".utf8)) else {
            return code == ENOEXEC ? "\(shown) has no first line that names its interpreter, such as #!/usr/bin/python3" : usual
        }
        if let sentence = windowsLineEnds(of: program) { return sentence }
        let line = start.dropFirst(2).prefix { $0 != 0x0A }
        guard let word = line.split(whereSeparator: { $0 == 0x20 || $0 == 0x09 }).first else {
            return "\(shown) names no interpreter after #! in its first line"
        }
        let interpreter = String(decoding: word, as: UTF8.self)
        let name = Printable.text(interpreter, limit: 128)
        guard interpreter.hasPrefix("/") else { return "\(shown) names its interpreter \(name) without an absolute path" }
        if access(interpreter, F_OK) != 0 { return "\(shown) needs the interpreter \(name), which does not exist" }
        if access(interpreter, X_OK) != 0 { return "\(shown) needs the interpreter \(name), which cannot be executed" }
        // The interpreter exists, but the sandbox does not show it.
        return code == ENOENT ? "\(usual): its sandbox does not show \(name); add that file's folder to ReadPaths=" : usual
    }

    /// Returns one sentence, without its full stop, about a script whose first line ends as on Windows, so that no interpreter is found;
    /// `nil` for any other program.
    public static func windowsLineEnds(of program: String) -> String? {
        guard let start = beginning(of: program), start.starts(with: Array("#!".utf8)),
            start.dropFirst(2).prefix(while: { $0 != 0x0A }).last == 0x0D
        else { return nil }
        let mend = ShellWord.quoted(program).map { #"; to fix it: sed -i 's/\r$//' "# + $0 } ?? ""
        let shown = Printable.text(program, limit: 256)
        return "\(shown) has Windows line ends, so its interpreter's name ends with a carriage return\(mend)"
    }

    private static let elf = [0x7F] + Array("ELF".utf8)

    /// Returns why the kernel will not execute a program that can be read; `nil` if the kernel may execute it.
    static func beforeStart(program: String) -> String? {
        guard let start = beginning(of: program), !start.starts(with: Array("#!".utf8)) else { return nil }
        let isELF = start.starts(with: elf)
        // e_machine (elf(5)): the program's kind of processor, and this process's own.
        let own = beginning(of: "/proc/self/exe")?.dropFirst(18).prefix(2)
        guard !isELF || start.dropFirst(18).prefix(2) != own else { return nil }
        return words(program: program, code: ENOEXEC)
    }

    /// Returns the octets that the kernel inspects (BINPRM_BUF_SIZE of linux/binfmts.h); `nil` if the program cannot be read.
    private static func beginning(of program: String) -> [UInt8]? { FilePath.octets(of: program, limit: 256) }
}
