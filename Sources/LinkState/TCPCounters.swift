/// What the kernel counted of this network namespace's TCP connections (proc_net(5), RFC 4022), at one moment.
public struct TCPCounters: Hashable, Sendable {
    /// Segments that were sent.
    let sent: UInt64
    /// Attempts that failed, connections that were reset, and segments that were sent again.
    let troubled: UInt64

    /// Reads the counters of now; `nil` if the kernel does not show them.
    public static var now: TCPCounters? {
        RecordFile.read("/proc/net/snmp").flatMap { TCPCounters(text: String(decoding: $0.octets, as: UTF8.self)) }
    }

    /// Reads two lines that begin with `Tcp:`, the names and the numbers.
    init?(text: String) {
        let lines = text.split(separator: "\n").map { $0.split(separator: " ") }.filter { $0.first == "Tcp:" }
        guard lines.count == 2, lines[0].count == lines[1].count else { return nil }
        func number(_ name: Substring) -> UInt64? { lines[0].firstIndex(of: name).flatMap { UInt64(lines[1][$0]) } }
        guard let sent = number("OutSegs"), let failed = number("AttemptFails"), let reset = number("EstabResets"),
            let again = number("RetransSegs")
        else { return nil }
        self.sent = sent
        troubled = failed &+ reset &+ again
    }

    /// Returns whether connections had trouble since then, beside traffic.
    public func showsTrouble(since before: TCPCounters) -> Bool { troubled > before.troubled && sent > before.sent }
}
