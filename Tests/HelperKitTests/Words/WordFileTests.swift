import Foundation
import Testing

@testable import PortalPages

/// The word files: a line below a section that no code reads would be ignored silently.
@Suite struct WordFileTests {
    private static let folder = "\(Program.checkout)/Sources/PortalPages/Words"

    static let files = ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []).filter { $0.hasSuffix(".words") }
        .sorted()

    @Test(arguments: files) func everySectionIsKnown(_ file: String) throws {
        let sections =
            file == "money.words" ? Currencies.Section.allCases.map(\.rawValue) : PhraseBook.Purpose.allCases.map { "\($0)" }
        var isBelowSection = false
        for (index, line) in try Text.read("\(Self.folder)/\(file)").split(separator: "\n", omittingEmptySubsequences: false)
            .enumerated()
        {
            let place = "\(file), line \(index + 1)"
            if line.hasPrefix("[") {
                isBelowSection = true
                let name = String(line.dropFirst().dropLast())
                #expect(
                    line.hasSuffix("]") && sections.contains(name),
                    "\(place): \(line) is not a section; there are \(sections.sorted().joined(separator: ", "))")
            } else if !line.isEmpty, !line.hasPrefix("#") {
                #expect(isBelowSection, "\(place): \(line) stands above the first section")
            }
        }
    }

    @Test func thereAreFiles() { #expect(Self.files.count > 30) }
}
