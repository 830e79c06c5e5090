/// The kernel's counters of packets that rules of this computer dropped in this network namespace, at one moment.
public struct LossCounters: Hashable, Sendable {
    /// Packets that the reverse-path filter dropped when they arrived.
    let filtered: UInt64
    /// TCP segments that could not be sent again, for example because a firewall drops them.
    let unsent: UInt64
    /// Refusals that this computer sent, also to its own programs: ICMP "unreachable" and TCP resets, for example of a firewall that rejects.
    let refusals: UInt64

    /// The kernel's text at one moment. It is parsed only if a probe gets no answer, which is rare.
    public struct Record: Sendable {
        private let basic: String
        private let more: String

        /// Reads the current text; `nil` if the kernel does not show it.
        public static var now: Record? {
            func text(_ path: String) -> String? { RecordFile.read(path).map { String(decoding: $0.octets, as: UTF8.self) } }
            guard let basic = text("/proc/net/snmp"), let more = text("/proc/net/netstat") else { return nil }
            return Record(basic: basic, more: more)
        }

        /// The counters in the text; `nil` if the text is not as expected.
        public var counters: LossCounters? { LossCounters(basic: basic, more: more) }
    }

    init?(basic: String, more: String) {
        guard let extended = CounterTable("TcpExt", in: more), let filtered = extended["IPReversePathFilter"],
            let unsent = extended["TCPRetransFail"], let resets = CounterTable("Tcp", in: basic)?["OutRsts"],
            let unreachable = CounterTable("Icmp", in: basic)?["OutDestUnreachs"]
        else { return nil }
        self.init(filtered: filtered, unsent: unsent, refusals: resets &+ unreachable)
    }

    init(filtered: UInt64 = 0, unsent: UInt64 = 0, refusals: UInt64 = 0) {
        (self.filtered, self.unsent, self.refusals) = (filtered, unsent, refusals)
    }
}
