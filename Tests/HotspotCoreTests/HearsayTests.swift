import HotspotCore
import Testing

@Suite struct HearsayTests {
    @Test(arguments: ["Unknown room.", "", "a\nb"]) func wordsAreKeptApart(_ words: String) {
        let (sentence, said) = Hearsay.split(Hearsay.join("The login failed.", words))
        #expect(sentence == "The login failed." && said == words.replacing("\n", with: ": "))
    }

    @Test func wordsOfWordsAreOneLine() {
        let fault = Hearsay.join("it answered with an error", "Broken.\n\nNow.")
        #expect(Hearsay.split(Hearsay.join("It failed.", fault)) == ("It failed.", "it answered with an error: Broken.  Now."))
    }

    @Test func aSentenceAloneHasNone() {
        #expect(Hearsay.join("It failed.", nil) == "It failed.")
        #expect(Hearsay.split("It failed.") == ("It failed.", nil))
        #expect(Hearsay.line("It failed.\nUnknown room.") == "It failed. Unknown room.")
    }
}
