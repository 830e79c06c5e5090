import ArgumentParser
import Glibc
import HotspotCore

/// Writes a working helper to begin with.
struct HelpersNew: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "new", abstract: "Write a working helper to begin with: a program and its .helper file.")

    @Argument(help: "Its name: letters, digits, dots, hyphens and underscores.")
    var name: String

    @Option(help: "python, shell or swift.")
    var language = HelperTemplate.Language.python

    @Option(help: ArgumentHelp("Where its folder is made.", valueName: "path"))
    var directory = "."

    private static let nameLimit = 48

    func validate() throws {
        guard Self.isName(name) else {
            throw ValidationError(
                "«\(Printable.text(name, limit: 64))» is no name: 1 to \(Self.nameLimit) letters, digits, dots, hyphens or underscores, beginning with a letter or digit."
            )
        }
        guard name != "probe" else { throw ValidationError("«probe» is the name of the prober's socket.") }
    }

    func run() throws {
        guard let parent = realpath(directory, nil) else { throw Self.failure(directory) }
        defer { free(parent) }
        let folder = String(cString: parent) + "/" + name
        guard mkdir(folder, 0o755) == 0 else { throw Self.failure(folder) }
        let template = HelperTemplate(name: name, language: language, folder: folder)
        for file in template.files { try Self.write(file, in: folder) }
        let shown = directory == "." ? name : "\(directory)/\(name)"
        var lines = template.files.map { "Written: \(Printable.text("\(shown)/\($0.path)"))" }
        lines += ["", "Now:"]
        if template.needsBuild { lines.append("  swift build -c release --package-path \(Printable.text(shown))") }
        lines += [
            "  hotspotctl helpers test \(Printable.text("\(shown)/\(name).helper"))     plays all commands against it",
            "",
            "When it does what you want, give program and file to root, put the program's place into Exec=, and copy the file:",
            "  sudo install -m 644 \(Printable.text("\(shown)/\(name).helper")) /etc/hotspotd/helpers/",
        ]
        Output.print(lines)
    }

    private static func write(_ file: HelperTemplate.File, in folder: String) throws(Failure) {
        let path = folder + "/" + file.path
        var parent = folder
        for part in file.path.split(separator: "/").dropLast() {
            parent += "/" + part
            guard mkdir(parent, 0o755) == 0 || errno == EEXIST else { throw failure(parent) }
        }
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, file.isExecutable ? 0o755 : 0o644)
        guard descriptor >= 0 else { throw failure(path) }
        defer { close(descriptor) }
        var rest = Array(file.text.utf8)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            guard count > 0 else { throw failure(path) }
            rest = rest.dropFirst(count)
        }
    }

    private static func failure(_ path: String) -> Failure {
        Failure(.failed, "\(Printable.text(path)): \(String(cString: strerror(errno)))")
    }

    private static func isName(_ text: String) -> Bool {
        guard let first = text.utf8.first, text.utf8.count <= nameLimit else { return false }
        func isAlphanumeric(_ octet: UInt8) -> Bool {
            (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(octet)
                || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(octet | 0x20)
        }
        return isAlphanumeric(first) && text.utf8.allSatisfy { isAlphanumeric($0) || Array("._-".utf8).contains($0) }
    }
}
