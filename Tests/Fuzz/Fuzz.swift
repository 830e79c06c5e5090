import CFuzzer
import Glibc

/// `fuzz PARSER [options and folders of libFuzzer]`
@main struct Fuzz {
    /// A global, because libFuzzer's callback has no context. It is set once, before libFuzzer begins, on the only thread.
    nonisolated(unsafe) private static var parse: Parsers.Parser = { _ in [:] }

    static func main() {
        var arguments = CommandLine.arguments
        guard arguments.count > 1, let parser = Parsers.all[arguments[1]] else {
            for name in Parsers.all.keys.sorted() { print(name) }
            exit(arguments.count > 1 ? 2 : 0)
        }
        parse = parser
        arguments.remove(at: 1)
        var count = Int32(arguments.count)
        var pointers: [UnsafeMutablePointer<CChar>?] = arguments.map { strdup($0) } + [nil]
        let code = pointers.withUnsafeMutableBufferPointer { buffer in
            var start = buffer.baseAddress
            return LLVMFuzzerRunDriver(&count, &start) { data, size in
                _ = Fuzz.parse([UInt8](UnsafeBufferPointer(start: data, count: size)))
                return 0
            }
        }
        exit(code)
    }
}
