import HotspotCore
import Testing

@testable import Rendering

/// The answers of `page.js`, as a browser that a page has compromised may write them.
@Suite struct ReadingTests {
    private func reading(_ counters: [Int]) throws -> RenderedPage.Reading {
        try RenderedPage.Reading(
            [
                "markup": "", "address": "https://portal.example/", "isComplete": .bool(true), "isIdle": .bool(true),
                "counters": .array(counters.map(JSONValue.integer)),
            ], context: 1)
    }

    @Test func aPageCountsDown() throws {
        #expect(try reading([5, 8]).countsDown(since: reading([5, 9])))
        #expect(try !reading([5, 9]).countsDown(since: reading([5, 8])))
    }

    @Test(arguments: [Int.min, .max]) func numbersOfAnySizeAreCompared(_ far: Int) throws {
        #expect(try !reading([5, far]).countsDown(since: reading([5, 9])))
        #expect(try !reading([5, 9]).countsDown(since: reading([5, far])))
    }
}
