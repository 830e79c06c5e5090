import HotspotCore

/// The sequences of three octets that occur in some texts, each as a number of 16 bits. Without reading the texts again, they often show that a
/// sought text is missing.
struct Trigrams {
    private var bits = [UInt64](repeating: 0, count: 1024)

    /// Contains only the number 0, which stands for no trigram in a demand.
    init() { bits[0] = 1 }

    mutating func insert(_ text: [UInt8]) {
        guard text.count > 2 else { return }
        for index in 0..<text.count - 2 {
            let number = Self.number(text[index], text[index + 1], text[index + 2])
            bits[Int(number >> 6)] |= 1 << UInt64(number & 63)
        }
    }

    /// Returns whether all demanded trigrams may occur; `false` if at least one is certainly missing.
    func mayHold(_ demand: SIMD4<UInt16>) -> Bool {
        func holds(_ number: UInt16) -> Bool { bits[Int(number >> 6)] & (1 << UInt64(number & 63)) != 0 }
        return holds(demand.x) && holds(demand.y) && holds(demand.z) && holds(demand.w)
    }

    static func number(_ first: UInt8, _ second: UInt8, _ third: UInt8) -> UInt16 {
        let all = UInt32(first) << 16 | UInt32(second) << 8 | UInt32(third)
        return UInt16(truncatingIfNeeded: (all &* 0x9E37_79B1) >> 16)
    }

    /// Returns four trigrams from different parts of a text. In a short text, they may be equal; in a text of fewer than three octets, all are 0.
    static func demand(_ text: [UInt8]) -> SIMD4<UInt16> {
        guard text.count > 2 else { return .zero }
        let last = text.count - 3
        func number(at index: Int) -> UInt16 { Self.number(text[index], text[index + 1], text[index + 2]) }
        return SIMD4(number(at: 0), number(at: last / 3), number(at: last * 2 / 3), number(at: last))
    }
}

extension PortalFile.Match {
    /// Returns trigrams of the longest text that an address, a query or a page must contain for this section to match.
    func demanded() -> SIMD4<UInt16> {
        // If a line has several patterns, any of them is enough, so none of their trigrams is demanded.
        let globs = (hosts + paths + bodies).filter { $0.count == 1 }.map(\.[0].longestLiteral)
        let names = queries.filter { $0.count == 1 }.map { Array($0[0].name.utf8) }
        return Trigrams.demand((globs + names).max { $0.count < $1.count } ?? [])
    }
}
