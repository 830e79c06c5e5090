import Foundation
import TestSupport
import Testing

/// The parsers of the fuzzers, on their seeds, which reach all outcomes of each parser, and on seeds that are cut and changed. A fixed seed
/// of the random numbers makes the same changes each time.
@Suite struct SeedTests {
    static let checkout = Parsers.checkout
    /// The largest number of seeds for one parser. Of more seeds, evenly spaced ones are taken.
    private static let limit = 60

    @Test(arguments: Parsers.all.keys.sorted()) func seeds(name: String) throws {
        let parse = try #require(Parsers.all[name])
        let seeds = try Self.seeds(of: name)
        #expect(!seeds.isEmpty)
        var random = SeededNumbers(seed: 1)
        var reached: [String: Bool] = [:]
        for seed in seeds {
            reached.merge(parse(seed)) { $0 || $1 }
            for _ in 0..<4 where !seed.isEmpty {
                var changed = Array(seed.prefix(Int.random(in: 1...min(seed.count, 4096), using: &random)))
                for _ in 0..<3 {
                    changed[Int.random(in: 0..<changed.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
                }
                _ = parse(changed)
            }
        }
        let missed = reached.filter { !$0.value }.keys.sorted()
        #expect(!reached.isEmpty && missed.isEmpty, "no seed of \(name) reaches \(missed)")
    }

    /// Returns the octets of the files that `seeds` names for a parser: all files of a folder, or one file of each folder in another (`*`).
    private static func seeds(of name: String) throws -> [[UInt8]] {
        let list = try String(contentsOfFile: "\(checkout)/Tests/Fuzz/seeds", encoding: .utf8)
        let line = list.split(separator: "\n").first { $0.hasPrefix("\(name) ") }
        let files = try (line?.split(separator: " ").dropFirst() ?? []).flatMap { place in
            let parts = "\(checkout)/\(place)".components(separatedBy: "/*/")
            let found = try entries(of: parts[0])
            return parts.count > 1 ? found.map { "\($0)/\(parts[1])" } : found
        }
        let step = files.count / limit + 1
        return stride(from: 0, to: files.count, by: step).compactMap { index in
            FileManager.default.contents(atPath: files[index]).map { [UInt8]($0.prefix(262_144)) }
        }
    }

    private static func entries(of folder: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder).sorted().map { "\(folder)/\($0)" }
    }
}
