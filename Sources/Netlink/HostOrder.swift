extension ArraySlice<UInt8> {
    /// The integer of that type at `offset` from the slice's start, in the byte order of the machine, as netlink has it; `nil`
    /// if the slice ends before the integer does.
    public func host<Integer: FixedWidthInteger>(_ type: Integer.Type = Integer.self, at offset: Int = 0) -> Integer? {
        let size = MemoryLayout<Integer>.size
        guard offset >= 0, count >= size, offset <= count - size else { return nil }
        var value: Integer = 0
        Swift.withUnsafeMutableBytes(of: &value) { $0.copyBytes(from: self[startIndex + offset..<startIndex + offset + size]) }
        return value
    }

    /// The slice without its first octets; `nil` if it has fewer.
    public func after(_ length: Int) -> ArraySlice<UInt8>? {
        length <= count ? self[(startIndex + length)...] : nil
    }
}

extension [UInt8] {
    /// Appends an integer in the byte order of the machine.
    public mutating func appendHost(_ value: some FixedWidthInteger) {
        Swift.withUnsafeBytes(of: value) { append(contentsOf: $0) }
    }
}
