import Testing

@testable import CompanionService

@Suite struct OptionsTests {
    @Test func argumentsAreRead() throws {
        let options = try ServiceProgram.Options(
            ["--state", "/s", "--runtime", "/r", "--daemon", "/d", "--adapter", "hci1", "--l2cap", "--name", "Ida"])
        #expect(options.stateFolder == "/s" && options.runtimeFolder == "/r" && options.daemon == "/d")
        #expect(options.adapter == "hci1" && options.name == "Ida" && options.usesL2CAP)
        #expect(try !ServiceProgram.Options([]).usesL2CAP)
        #expect(try ServiceProgram.Options([]).daemon == "/run/hotspotd/org.hotspotd.Control")
    }

    @Test(arguments: [["--nope", "x"], ["--state"], ["x"]]) func othersAreRefused(_ words: [String]) {
        #expect(throws: ServiceProgram.UnknownArgument.self) { try ServiceProgram.Options(words) }
    }
}
