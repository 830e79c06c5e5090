import TestSupport
import Testing

@testable import HelperKit
@testable import PageLogin

@Suite struct MaskTests {
    @Test func hidesValuesInAnyCase() {
        let mask = Mask(["Brandt", "Brandt-Meier", "van  Dyk", "ÄÖÜ", "42", ""])
        #expect(mask.apply("Surname 'BRANDT' unknown in room 42") == "Surname '…' unknown in room 42")
        #expect(mask.apply("brandt-meierbrandt") == "……")
        #expect(mask.apply("Mr van Dyk, äöü") == "Mr …, …")
        #expect(mask.apply("Brand") == "Brand")
    }

    @Test func keepsOtherText() {
        #expect(Mask([]).apply("Unknown room.") == "Unknown room.")
        #expect(Mask(["214"]).apply("") == "")
    }

    /// Found by `make fuzz PARSERS=masking`: an answer with equal parts, on a page of the same parts.
    @Test func equalPartsTakeLinearTime() {
        let growth = ProcessorTime.growth(from: 2048) { count in
            let mask = Mask((0..<4).map { String(repeating: "a", count: count / 4 - $0) + "b" })
            #expect(mask.apply(String(repeating: "a", count: count)).count == count)
        }
        #expect(growth < 8)
    }
}
