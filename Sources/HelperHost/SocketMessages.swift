import Glibc

/// What is said to the kernel about the sockets of a control group, and what it answers (sock_diag(7), linux/inet_diag.h).
enum SocketMessages {
    /// A TCP socket by the kernel's own name for it.
    struct Found: Hashable {
        let family: UInt8
        /// Ports, addresses, interface and cookie (`inet_diag_sockid`), as they came.
        let identity: [UInt8]
    }

    /// What one datagram of an answer holds.
    struct Answer: Hashable {
        var found: [Found] = []
        /// Nothing follows: 0, or an errno.
        var end: Int32?
    }

    private static let listing: UInt16 = 20, destroying: UInt16 = 21
    private static let error: UInt16 = 2, done: UInt16 = 3
    private static let request: UInt16 = 0x1, acknowledged: UInt16 = 0x4, dump: UInt16 = 0x300
    private static let header = 16, identityRange = 4..<52, messageLength = 72
    /// INET_DIAG_REQ_BYTECODE, INET_DIAG_BC_CGROUP_COND (Linux 5.9), INET_DIAG_CGROUP_ID.
    private static let condition: UInt16 = 1, isOfGroup: UInt8 = 13, group: UInt16 = 21
    /// By TCP's numbers: ESTABLISHED, SYN_SENT, FIN_WAIT1, FIN_WAIT2, CLOSE_WAIT, LAST_ACK and CLOSING.
    private static let states: UInt32 = [1, 2, 4, 5, 8, 9, 11].reduce(0) { $0 | 1 << $1 }

    /// Asks for the sockets of a group, but for those that listen: they are gone with who listened.
    static func list(_ family: Int32, ofGroup number: UInt64) -> [UInt8] {
        // A condition is its code, how far to go on if it holds, which is the end, and how far if not, which is beyond it.
        let program = [isOfGroup, 12] + octets(UInt16(16)) + octets(number)
        return message(
            listing, request | dump,
            body(UInt8(family), identity: Array(repeating: 0, count: identityRange.count)) + octets(UInt16(4 + program.count))
                + octets(condition) + program)
    }

    /// Has the kernel end a socket at once; the answer is one acknowledgement.
    static func destroy(_ socket: Found) -> [UInt8] {
        message(destroying, request | acknowledged, body(socket.family, identity: socket.identity))
    }

    private static func body(_ family: UInt8, identity: [UInt8]) -> [UInt8] {
        [family, UInt8(IPPROTO_TCP), 0, 0] + octets(states) + identity
    }

    private static func message(_ type: UInt16, _ flags: UInt16, _ body: [UInt8]) -> [UInt8] {
        octets(UInt32(header + body.count)) + octets(type) + octets(flags) + octets(UInt32(1)) + octets(UInt32(0)) + body
    }

    private static func octets<T: FixedWidthInteger>(_ value: T) -> [UInt8] { withUnsafeBytes(of: value) { Array($0) } }

    /// Reads one datagram. A socket counts only if it says itself that it is of the group; what is malformed ends the answer.
    static func read(_ datagram: some Collection<UInt8>, ofGroup number: UInt64) -> Answer {
        let octets = Array(datagram)
        var answer = Answer()
        var start = 0
        while start < octets.count {
            guard let length = integer(UInt32.self, octets, start), let type = integer(UInt16.self, octets, start + 4),
                length >= header, length <= octets.count - start
            else {
                answer.end = EBADMSG
                return answer
            }
            let body = Array(octets[start + header..<start + Int(length)])
            switch type {
            case done:
                answer.end = 0
                return answer
            case error:
                answer.end = integer(Int32.self, body, 0).map { $0 == .min ? EBADMSG : -$0 } ?? EBADMSG
                return answer
            case listing:
                if body.count >= messageLength, groupNumber(body) == number {
                    answer.found.append(Found(family: body[0], identity: Array(body[identityRange])))
                }
            default: break
            }
            start += aligned(Int(length))
        }
        return answer
    }

    private static func groupNumber(_ body: [UInt8]) -> UInt64? {
        var start = messageLength
        while let length = integer(UInt16.self, body, start), let type = integer(UInt16.self, body, start + 2) {
            guard length >= 4, Int(length) <= body.count - start else { return nil }
            if type == group { return length == 12 ? integer(UInt64.self, body, start + 4) : nil }
            start += aligned(Int(length))
        }
        return nil
    }

    private static func aligned(_ length: Int) -> Int { (length + 3) & ~3 }

    /// In the machine's order.
    private static func integer<T: FixedWidthInteger>(_ type: T.Type, _ octets: [UInt8], _ start: Int) -> T? {
        let size = MemoryLayout<T>.size
        guard start >= 0, start <= octets.count - size else { return nil }
        return octets.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: start, as: T.self) }
    }
}
