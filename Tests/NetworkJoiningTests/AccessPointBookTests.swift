import HotspotCore
import Testing

@testable import NetworkJoining
@testable import Wireless

@Suite struct AccessPointBookTests {
    private func bssid(_ number: Int) -> BSSID {
        HardwareAddress(octets: [2, 0, 0, 0, UInt8(number >> 8), UInt8(number & 255)])!
    }

    private let start = Instant(nanoseconds: 1_000_000_000)

    private func answer(_ domain: String) -> ANQPAnswer {
        var answer = ANQPAnswer()
        answer.read(.domains, [UInt8(domain.utf8.count)] + Array(domain.utf8))
        return answer
    }

    @Test func eachAccessPointIsAskedOnceAnHour() {
        var book = AccessPointBook()
        #expect(book.due([bssid(1), bssid(2), bssid(1)], at: start) == [bssid(1), bssid(2)])
        #expect(book.due([bssid(1), bssid(3)], at: start + .seconds(1)) == [bssid(3)])
        book.note(.answered(answer("a.example")), of: bssid(1))
        book.note(.silent, of: bssid(2))
        #expect(book.answer(of: bssid(1), at: start + .seconds(3599))?.domains == ["a.example"])
        #expect(book.answer(of: bssid(2), at: start) == nil)
        #expect(book.due([bssid(1), bssid(2)], at: start + .seconds(3599)).isEmpty)
        #expect(book.answer(of: bssid(1), at: start + .seconds(3600)) == nil)
        #expect(book.due([bssid(1), bssid(2), bssid(3)], at: start + .seconds(3600)) == [bssid(1), bssid(2)])
        // The old answer does not come back with the new question.
        #expect(book.answer(of: bssid(1), at: start + .seconds(3601)) == nil)
    }

    @Test func aQuestionThatWasNotSentDoesNotCount() {
        var book = AccessPointBook()
        #expect(book.due([bssid(1)], at: start) == [bssid(1)])
        book.note(.notSent, of: bssid(1))
        #expect(book.due([bssid(1)], at: start) == [bssid(1)])
    }

    @Test func anyNumberOfAccessPointsGetsFewQuestions() {
        var book = AccessPointBook()
        var asked = 0
        for look in 0..<100 {
            let due = book.due((0..<100).map { bssid(100 * look + $0) }, at: start + .seconds(5 * look))
            #expect(due.count <= 8)
            asked += due.count
        }
        #expect(asked == 64)
        #expect(book.due([bssid(20000)], at: start + .seconds(3600)) == [bssid(20000)])
    }

    // MARK: The words of wpa_supplicant 2.10

    @Test func theQuestionNamesWhatIsShown() {
        #expect(AccessPointQuery.question(bssid(1), hasHotspot20: false) == "ANQP_GET 02:00:00:00:00:01 258,260,261,263,268,277")
        #expect(AccessPointQuery.question(bssid(1), hasHotspot20: true).hasSuffix("277,hs20:3"))
        #expect(AccessPointQuery.ends("ANQP-QUERY-DONE addr=02:00:00:00:00:01 result=SUCCESS", bssid(1)))
        #expect(!AccessPointQuery.ends("ANQP-QUERY-DONE addr=02:00:00:00:00:02 result=SUCCESS", bssid(1)))
        #expect(!AccessPointQuery.ends("RX-ANQP 02:00:00:00:00:01 Venue Name", bssid(1)))
    }

    @Test func answersAreReadUntilTheyAreCut() {
        let known = AccessPointQuery.answer(
            """
            bssid=02:00:00:00:00:01
            anqp_venue_name=000007656e674361666501
            anqp_network_auth_type=021200\(Array("https://a.example/".utf8).map { String($0, radix: 16) }.joined())
            hs20_operator_friendly_name=07656e6743616665
            anqp_domain_name=0161ff
            anqp[277]=0
            anqp[999]=00
            anqp_nai_realm
            """)
        #expect(known.venueNames == ["Cafe"] && known.loginURL?.origin == "https://a.example" && known.steps == [.redirection])
        #expect(known.operators == ["Cafe"] && known.domains == ["a"] && known.venueURL == nil)
        #expect(AccessPointQuery.answer("FAIL").isEmpty && AccessPointQuery.answer("").isEmpty)
        #expect(AccessPointQuery.answer("anqp_domain_name=zz").isEmpty)
    }
}
