import ArgumentParser
import Glibc
import HotspotCore

/// Names from the running daemon for the shell's completion. Without a daemon there are none.
enum Complete {
    static let networks = CompletionKind.custom { _, _, _ in
        names("List") { (reply: ListReply) in reply.networks.map(\.ssid) }
    }
    static let helpers = CompletionKind.custom { _, _, _ in
        names("Helpers") { (reply: HelpersReply) in reply.helpers.map(\.name) }
    }
    static let interfaces = CompletionKind.custom { _, _, _ in
        names("Status") { (reply: StatusReply) in reply.interfaces.map(\.interface) }
    }
    static let prompts = CompletionKind.custom { _, _, _ in
        names("Prompts") { (reply: PromptsReply) in reply.prompts.map(\.id) }
    }

    private static func names<T: Decodable>(_ method: String, _ read: (T) -> [String]) -> [String] {
        let path = getenv("HOTSPOTD_SOCKET").map { String(cString: $0) } ?? CommonOptions.defaultSocket
        guard let reply = try? Daemon(path: path).call(method, as: T.self) else { return [] }
        return Set(read(reply)).filter { !$0.isEmpty && Printable.octets(of: $0).map { Printable.text(of: $0) } == $0 }.sorted()
    }
}
