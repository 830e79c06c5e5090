import ArgumentParser
import EventLoop
import ForeignText
import Glibc
import HotspotCore

struct HelpersNew: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "new", abstract: "Write a working helper to start from: a program and its .helper file.")

    @Argument(help: "The helper's name: letters, digits, dots, hyphens and underscores.")
    var name: String

    @Option(help: "python, shell or swift.")
    var language = HelperTemplate.Language.python

    @Option(
        help: ArgumentHelp("The networks that it may see: names or globs, separated by ';', as in SSID=.", valueName: "names")
    )
    var ssid = HelperSpec.networkPlaceholder

    @Option(
        help: ArgumentHelp("Swift only: a local checkout of hotspotd to build with.", valueName: "path"), completion: .directory)
    var checkout: String?

    @Option(help: ArgumentHelp("The folder in which the helper's folder is made.", valueName: "path"))
    var directory = "."

    func validate() throws {
        guard HelperSpec.isName(name) else {
            throw ValidationError(
                "'\(Printable.text(name, limit: 64))' is not a valid name: 1 to \(HelperSpec.nameLimit) letters, digits, dots, hyphens or underscores, beginning with a letter or digit."
            )
        }
        guard name != "probe" else { throw ValidationError("'probe' is reserved for the prober's socket.") }
        guard !ssid.isEmpty, !ssid.contains(where: \.isNewline) else {
            throw ValidationError("The names or globs of --ssid must not contain line breaks.")
        }
        do { _ = try SSIDPattern.list(ssid) } catch { throw ValidationError("--ssid \(error.description)") }
        guard checkout == nil || language == .swift else { throw ValidationError("--checkout needs --language=swift.") }
    }

    func run() throws {
        let folder = try Self.absolute(directory) + "/" + name
        let shown = directory == "." ? name : "\(directory)/\(name)"
        let source = try checkout.map(Self.absolute)
        guard mkdir(folder, 0o755) == 0 else {
            throw errno == EEXIST
                ? Failure(
                    .failed, "\(Printable.text(folder)) exists already; hotspotctl does not overwrite it.",
                    hint: ShellWord.quoted(shown).map { "hotspotctl helpers test \($0), or choose another name" }
                        ?? "choose another name")
                : Self.failure(folder)
        }
        let template = HelperTemplate(name: name, language: language, folder: folder, ssid: ssid, checkout: source)
        for file in template.files { try Self.write(file, in: folder) }
        var lines = template.files.map { "Written: \(Printable.text("\(shown)/\($0.path)"))" }
        lines += ["", "Now:"]
        if template.needsBuild { lines.append("  swift build -c release --package-path \(Self.word(shown))") }
        lines.append("  hotspotctl helpers test \(Self.word(shown))     plays all commands against it")
        if ssid == HelperSpec.networkPlaceholder {
            lines.append("  then write your network's name into SSID= of \(Printable.text("\(shown)/\(name).helper"))")
        }
        lines += ["", "When the helper works, install a copy as root:"]
        Output.print(verbatim: lines + Self.installation(of: template, in: shown).map { "  " + $0 })
    }

    /// Returns the commands that install the helper. `install -D` creates the folders; only the installed file gets another Exec=.
    private static func installation(of template: HelperTemplate, in shown: String) -> [String] {
        let target = "\(HelperTemplate.programFolder)/\(template.program.split(separator: "/").last ?? "")"
        let file = "\(template.name).helper"
        return [
            "sudo install -D -m 755 \(word("\(shown)/\(template.program)")) \(target)",
            "sed 's|^Exec=.*|Exec=\(target)|' \(word("\(shown)/\(file)")) | sudo install -D -m 644 /dev/stdin /etc/hotspotd/helpers/\(file)",
            "hotspotctl helpers --verbose",
        ]
    }

    /// Returns the text as a word of a shell's command line; unchanged if it cannot be quoted safely.
    private static func word(_ text: String) -> String { ShellWord.quoted(text) ?? Printable.text(text) }

    private static func write(_ file: HelperTemplate.TemplateFile, in folder: String) throws(Failure) {
        let path = folder + "/" + file.path
        var parent = folder
        for part in file.path.split(separator: "/").dropLast() {
            parent += "/" + part
            guard mkdir(parent, 0o755) == 0 || errno == EEXIST else { throw failure(parent) }
        }
        guard FilePath.create(path, file.text, mode: file.isExecutable ? 0o755 : 0o644) else { throw failure(path) }
    }

    private static func absolute(_ path: String) throws(Failure) -> String {
        guard let pointer = realpath(path, nil) else { throw failure(path) }
        defer { free(pointer) }
        return String(cString: pointer)
    }

    private static func failure(_ path: String) -> Failure {
        Failure(.failed, "\(Printable.text(path)): \(String(cString: strerror(errno)))")
    }
}
