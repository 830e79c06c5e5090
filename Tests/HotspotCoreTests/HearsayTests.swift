import HotspotCore
import Testing

@Suite struct HearsayTests {
    @Test(arguments: ["Unknown room.", "", "a\nb"]) func wordsAreKeptApart(_ words: String) {
        let (sentence, said) = QuotedProblem.split(QuotedProblem.join("The login failed.", words))
        #expect(sentence == "The login failed." && said == words.replacing("\n", with: ": "))
    }

    @Test func wordsOfWordsAreOneLine() {
        let fault = QuotedProblem.join("it answered with an error", "Broken.\n\nNow.")
        #expect(
            QuotedProblem.split(QuotedProblem.join("It failed.", fault)) == (
                "It failed.", "it answered with an error: Broken.  Now."
            ))
    }

    @Test func aSentenceAloneHasNone() {
        #expect(QuotedProblem.join("It failed.", nil) == "It failed.")
        #expect(QuotedProblem.split("It failed.") == ("It failed.", nil))
        #expect(QuotedProblem.line("It failed.\nUnknown room.") == "It failed. Unknown room.")
    }
}
