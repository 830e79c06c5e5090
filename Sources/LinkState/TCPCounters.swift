/// The kernel's counters of this network namespace's TCP connections (proc_net(5), RFC 4022), at one moment.
public struct TCPCounters: Hashable, Sendable {
    /// Segments that were sent.
    let sent: UInt64
    /// Failed attempts, reset connections, and segments that were sent again.
    let troubled: UInt64

    /// Reads the current counters; `nil` if the kernel does not show them.
    public static var now: TCPCounters? {
        RecordFile.read("/proc/net/snmp").flatMap { TCPCounters(text: String(decoding: $0.octets, as: UTF8.self)) }
    }

    init?(text: String) {
        guard let table = CounterTable("Tcp", in: text), let sent = table["OutSegs"], let failed = table["AttemptFails"],
            let reset = table["EstabResets"], let again = table["RetransSegs"]
        else { return nil }
        self.sent = sent
        troubled = failed &+ reset &+ again
    }

    /// Returns whether connections have had trouble since the earlier reading, while there was traffic.
    public func showsTrouble(since before: TCPCounters) -> Bool { troubled > before.troubled && sent > before.sent }
}
