/// A SOCKS5 client's messages before its connection (RFC 1928): a greeting, then one request. Supports CONNECT without
/// authentication.
///
/// Takes octets as they come, in pieces of any size; ``next()`` says what to do next.
struct SocksHandshake {
    enum Step: Equatable {
        /// Wait for more octets.
        case wait
        /// Send this answer, then call ``next()`` again.
        case answer([UInt8])
        /// Send this answer, then close.
        case refuse([UInt8])
        /// Connect to this host, a name or an address.
        case connect(host: String, port: Int)
    }

    /// The replies to a request (section 6).
    enum Outcome: UInt8 {
        case connected = 0
        case failed = 1
        case refusedByRule = 2
        case hostUnreachable = 4
        case connectionRefused = 5
        case unknownCommand = 7
        case unknownAddressType = 8

        /// The reply's octets. The bound address is all zeros, since the browser has no use for it.
        var reply: [UInt8] { [5, rawValue, 0, 1, 0, 0, 0, 0, 0, 0] }
    }

    private var octets: [UInt8] = []
    private var isGreeted = false

    /// The largest number of octets that wait. The longest request has 262: four, a length, a name of 255, a port.
    static let limit = 512

    mutating func add(_ more: some Sequence<UInt8>) { octets += more }

    mutating func next() -> Step {
        if octets.count > Self.limit { return .refuse(Outcome.failed.reply) }
        return isGreeted ? readRequest() : readGreeting()
    }

    /// Reads version, number of methods, methods (section 3).
    private mutating func readGreeting() -> Step {
        if let version = octets.first, version != 5 { return .refuse([]) }
        guard octets.count >= 2, octets.count >= 2 + Int(octets[1]) else { return .wait }
        let methods = octets[2..<(2 + Int(octets[1]))]
        guard methods.contains(0) else { return .refuse([5, 0xFF]) }
        octets.removeFirst(2 + methods.count)
        isGreeted = true
        return .answer([5, 0])
    }

    /// Reads version, command, zero, type of address, address and port (section 4).
    private func readRequest() -> Step {
        if let version = octets.first, version != 5 { return .refuse([]) }
        guard octets.count >= 5 else { return .wait }
        guard octets[1] == 1 else { return .refuse(Outcome.unknownCommand.reply) }
        let address: Range<Int>
        switch octets[3] {
        case 1: address = 4..<8
        case 3: address = 5..<(5 + Int(octets[4]))
        case 4: address = 4..<20
        default: return .refuse(Outcome.unknownAddressType.reply)
        }
        let end = address.upperBound + 2
        guard octets.count >= end else { return .wait }
        // Refuses a client that sends more octets before the answer: this violates the protocol.
        guard octets.count == end, let host = Self.host(octets[address], type: octets[3]) else {
            return .refuse(Outcome.failed.reply)
        }
        let port = Int(octets[end - 2]) << 8 | Int(octets[end - 1])
        return port == 0 ? .refuse(Outcome.failed.reply) : .connect(host: host, port: port)
    }

    private static func host(_ octets: ArraySlice<UInt8>, type: UInt8) -> String? {
        guard type == 3 else { return InternetAddress(octets: Array(octets))?.description }
        guard !octets.isEmpty, octets.count <= 253, octets.allSatisfy(isOfName) else { return nil }
        return String(decoding: octets, as: UTF8.self)
    }

    /// Returns whether an octet may be part of a host name or of an address as text. Names in other scripts come in ASCII (RFC
    /// 5891).
    private static func isOfName(_ octet: UInt8) -> Bool {
        switch octet {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: Array("-_.:".utf8).contains(octet)
        }
    }
}
