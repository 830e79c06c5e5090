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
}
