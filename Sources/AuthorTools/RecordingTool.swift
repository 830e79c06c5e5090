import ForeignText
import Glibc
import HelperKit
import HotspotCore
import PortalCatalogue

/// `hotspotctl portals record`: logs in, asks on the terminal, and writes the fixture.
enum RecordingTool {
    static func record(_ file: String, interface: String?) -> Bool {
        // Checks the file before the login, because the user may be able to log in only once.
        guard access(file, F_OK) != 0 else {
            print("\(Printable.text(file)) exists already; name another file.")
            return false
        }
        let folder = file.lastIndex(of: "/").map { String(file[...$0]) } ?? "."
        guard access(folder, W_OK) == 0 else {
            print("\(Printable.text(folder)): \(String(cString: strerror(errno)))")
            return false
        }
        guard let probe = WebURL(Link.usualProbe.url), let link = LocalLink.link(interface, probe: probe) else { return false }
        var name = [UInt8](repeating: 0, count: 256)
        gethostname(&name, name.count - 1)
        let machine = String(decoding: name.prefix { $0 != 0 && $0 != UInt8(ascii: ".") }, as: UTF8.self)
        do {
            // Uses only the portal file to which the fixture belongs; without such a file, all portal files, of which the best
            // match logs in.
            let own = try Replay.portal(of: file).flatMap { path in try PortalCatalogue.read(path) }
            let recording = LoginRecording(
                link: link, portals: own.map { [$0] } ?? PortalCatalogue().read().portals, isNamed: own != nil, machine: machine)
            let recorded = try recording.run(asking: ask)
            guard write(recorded.exchange.text, to: file) else {
                print("\(Printable.text(file)): \(String(cString: strerror(errno)))")
                return false
            }
            print(recorded.summary(of: file))
            return recorded.isWanted
        } catch {
            print("\(error)".split(separator: "\n").map { Printable.text(String($0), limit: 2000) }.joined(separator: "\n"))
            return false
        }
    }

    private static func write(_ text: String, to file: String) -> Bool {
        let descriptor = open(file, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        var octets = Array(text.utf8)[...]
        while !octets.isEmpty {
            let count = octets.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            guard count > 0 else { return false }
            octets = octets.dropFirst(count)
        }
        return true
    }

    // MARK: - Questions

    /// Asks the user for all fields of a prompt; `nil` if the input ends or, after a refusal, the user leaves an answer empty.
    private static func ask(_ prompt: Prompt, isRefused: Bool) -> [String: String]? {
        print("| \(Printable.text(prompt.title, limit: 400))")
        for text in [prompt.message, prompt.terms, prompt.termsURL] {
            if let text { print("| \(Printable.text(text, limit: 2000))") }
        }
        if isRefused { print("| Leave an answer empty to stop and record the refusal.") }
        var answers: [String: String] = [:]
        for field in prompt.fields {
            var field = field
            if isRefused { field.value = nil }
            guard let answer = ask(field), !isRefused || !answer.isEmpty || !field.required else { return nil }
            answers[field.name] = answer.isEmpty ? nil : answer
        }
        return answers
    }

    private static func ask(_ field: Field) -> String? {
        let choices = (field.choices ?? []).joined(separator: ", ")
        let hint = field.kind == .checkbox ? " (yes, no)" : choices.isEmpty ? "" : " (\(choices))"
        let preset = field.kind.isSecret || field.kind == .checkbox ? "" : field.value ?? ""
        let words = Printable.text(field.label + hint + (preset.isEmpty ? "" : " [\(preset)]"), limit: 400)
        let hidden = field.kind.isHidden ? " (not shown)" : ""
        let question = "| \(words) {\(Printable.text(field.name, limit: 120))}\(hidden): "
        guard field.kind.isHidden else {
            print(question, terminator: "")
            fflush(nil)
            return readLine().map { $0.isEmpty ? preset : $0 }
        }
        fflush(nil)
        return getpass(question).map { answer in
            defer { explicit_bzero(answer, strlen(answer)) }
            return String(cString: answer)
        }
    }
}
