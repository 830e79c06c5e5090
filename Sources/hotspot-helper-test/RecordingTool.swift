import ForeignText
import Glibc
import HelperKit
import HotspotCore
import PortalCatalogue

/// `hotspotctl portals record`: logs in, asks on the terminal, and writes the fixture.
enum RecordingTool {
    static func record(_ file: String, interface: String?) -> Bool {
        // Before the login, which the user may have only once.
        guard access(file, F_OK) != 0 else {
            print("\(Printable.text(file)) exists already; name another file.")
            return false
        }
        guard let probe = WebURL(Link.usualProbe.url), let link = LocalLink.link(interface, probe: probe) else { return false }
        var name = [UInt8](repeating: 0, count: 256)
        gethostname(&name, name.count - 1)
        let machine = String(decoding: name.prefix { $0 != 0 && $0 != UInt8(ascii: ".") }, as: UTF8.self)
        do throws(LoginRecording.NotRecorded) {
            let recording = LoginRecording(link: link, portals: PortalCatalogue().read().portals, machine: machine)
            let (exchange, way) = try recording.run(asking: ask)
            guard write(exchange.text, to: file) else {
                print("\(Printable.text(file)): \(String(cString: strerror(errno)))")
                return false
            }
            print(
                """
                \(Printable.text(file)) has \(exchange.count) requests, \(way), and ends with \(exchange.result.rawValue).
                Your answers, this machine's addresses and tokens were replaced. Read the file before you hand it in.
                """)
            return exchange.result == .success
        } catch {
            print(Printable.text(error.description, limit: 2000))
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

    /// Asks all fields of a prompt; `nil` if the input ended.
    private static func ask(_ prompt: Prompt) -> [String: String]? {
        print("| \(Printable.text(prompt.title, limit: 120))")
        for text in [prompt.message, prompt.terms, prompt.termsURL] {
            if let text { print("| \(Printable.text(text, limit: 2000))") }
        }
        var answers: [String: String] = [:]
        for field in prompt.fields {
            guard let answer = ask(field) else { return nil }
            answers[field.name] = answer.isEmpty ? nil : answer
        }
        return answers
    }

    private static func ask(_ field: Field) -> String? {
        let choices = (field.choices ?? []).joined(separator: ", ")
        let hint = field.kind == .checkbox ? " (yes, no)" : choices.isEmpty ? "" : " (\(choices))"
        let preset = field.kind.isSecret || field.kind == .checkbox ? "" : field.value ?? ""
        let words = Printable.text(field.label + hint + (preset.isEmpty ? "" : " [\(preset)]"), limit: 400)
        let question = "| \(words) {\(Printable.text(field.name, limit: 120))}: "
        guard field.kind.isSecret else {
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
