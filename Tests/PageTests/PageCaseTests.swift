import Foundation
import Testing

@testable import page_judge

/// The decisions of the helpers on the pages of `Tests/Pages/cases`.
@Suite struct PageCaseTests {
    private static let folder = "/" + #filePath.split(separator: "/").dropLast(2).joined(separator: "/") + "/Pages/cases"

    /// The cases' names.
    static let names = ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []).sorted()

    @Test(arguments: names) func decides(_ name: String) throws {
        let page = try PageCase(folder: "\(Self.folder)/\(name)")
        #expect(page.judge([]).difference == [])
    }

    @Test func thereAreCases() { #expect(Self.names.count >= 150) }
}
