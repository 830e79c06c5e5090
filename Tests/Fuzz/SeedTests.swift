import FoundationEssentials
import TestSupport
import Testing

/// The parsers of the fuzzers, on their seeds and on seeds that are cut and changed; the same seed of the numbers changes the same way.
@Suite struct SeedTests {
    static let checkout = #filePath.split(separator: "/").dropLast(3).map { "/" + $0 }.joined()

    @Test(arguments: Parsers.all.keys.sorted()) func seeds(name: String) throws {
        let parse = try #require(Parsers.all[name])
        let seeds = try Self.seeds(of: name)
        #expect(!seeds.isEmpty)
        var random = SeededNumbers(seed: 1)
        for seed in seeds {
            parse(seed)
            for _ in 0..<4 where !seed.isEmpty {
                var changed = Array(seed.prefix(Int.random(in: 1...min(seed.count, 4096), using: &random)))
                for _ in 0..<3 {
                    changed[Int.random(in: 0..<changed.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
                }
                parse(changed)
            }
        }
    }

    /// Returns the octets of the files that `seeds` names for a parser: folders, all of whose files count.
    private static func seeds(of name: String) throws -> [[UInt8]] {
        let list = try String(contentsOfFile: "\(checkout)/Tests/Fuzz/seeds", encoding: .utf8)
        let line = list.split(separator: "\n").first { $0.hasPrefix("\(name) ") }
        var seeds: [[UInt8]] = []
        for folder in line?.split(separator: " ").dropFirst() ?? [] {
            let path = "\(checkout)/\(folder)"
            for file in try FileManager.default.contentsOfDirectory(atPath: path).sorted() {
                guard let data = FileManager.default.contents(atPath: "\(path)/\(file)") else { continue }
                seeds.append([UInt8](data.prefix(262_144)))
            }
        }
        return seeds
    }
}
