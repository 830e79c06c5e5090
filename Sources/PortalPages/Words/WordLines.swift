/// The lines of a file of words, without empty lines and comments. Works on octets, because a helper reads all files before its first answer,
/// and characters cost 30 times as many instructions.
struct WordLines: Sequence, IteratorProtocol {
    typealias Line = ArraySlice<UInt8>

    private var rest: ArraySlice<UInt8>

    init(_ file: [UInt8]) { rest = file[...] }

    mutating func next() -> Line? {
        while let first = rest.first {
            let line = rest.prefix { $0 != 0x0A }
            rest = rest.dropFirst(line.count + 1)
            if !line.isEmpty, first != UInt8(ascii: "#") { return line }
        }
        return nil
    }
}
