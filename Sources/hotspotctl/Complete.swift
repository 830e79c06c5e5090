import ArgumentParser
import ControlAPI
import Glibc
import HotspotCore
import Varlink

/// Names from the running daemon for the shell's completion; without a daemon, none.
///
/// Some names come from networks nearby. The completion scripts do not quote names, and bash's `compgen -W` expands them, so only names that are a
/// plain word in every shell are offered.
enum Complete {
    static let networks = CompletionKind.custom { _, _, _ in
        names("List", ListParameters(interface: nil, all: true)) { (reply: ListReply) in reply.networks.map(\.ssid) }
    }
    static let helpers = CompletionKind.custom { _, _, _ in
        names("Helpers") { (reply: HelpersReply) in reply.helpers.filter { !$0.isRefused }.map(\.name) }
    }
    static let interfaces = CompletionKind.custom { _, _, _ in
        names("Status") { (reply: StatusReply) in reply.interfaces.map(\.interface) }
    }
    static let prompts = CompletionKind.custom { _, _, _ in
        names("Prompts") { (reply: PromptsReply) in reply.prompts.map(\.id) }
    }

    private static func names<T: Decodable>(
        _ method: String, _ parameters: some Encodable = JSONValue.object([:]), _ read: (T) -> [String]
    ) -> [String] {
        let path = getenv("HOTSPOTD_SOCKET").map { String(cString: $0) } ?? CommonOptions.defaultSocket
        guard let reply = try? ControlClient(path: path).call(method, Coding.value(parameters), as: T.self) else { return [] }
        return Set(read(reply)).filter(isPlain).sorted()
    }

    /// Returns whether a name contains only letters and digits of any script and, after its first character, dots, hyphens and underscores. Such a
    /// name is a plain word to every shell, and cannot be an option.
    static func isPlain(_ name: String) -> Bool {
        func isVisible(_ scalar: Unicode.Scalar, _ categories: Set<Unicode.GeneralCategory>) -> Bool {
            // Rejects the letters that are invisible fillers.
            !scalar.properties.isDefaultIgnorableCodePoint && categories.contains(scalar.properties.generalCategory)
        }
        guard let first = name.unicodeScalars.first, isVisible(first, letters) else { return false }
        return name.unicodeScalars.allSatisfy { "._-".unicodeScalars.contains($0) || isVisible($0, letters.union(marks)) }
    }

    private static let letters: Set<Unicode.GeneralCategory> = [
        .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter, .decimalNumber,
    ]
    /// Marks that many scripts write above or below letters.
    private static let marks: Set<Unicode.GeneralCategory> = [.nonspacingMark, .spacingMark]
}
