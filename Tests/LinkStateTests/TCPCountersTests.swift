import Testing

@testable import LinkState

@Suite struct TCPCountersTests {
    private func counters(sent: Int = 200, failed: Int = 1, reset: Int = 2, again: Int = 3) -> TCPCounters? {
        TCPCounters(
            text: """
                Ip: Forwarding DefaultTTL
                Ip: 1 64
                Tcp: RtoAlgorithm RtoMin RtoMax MaxConn ActiveOpens PassiveOpens AttemptFails EstabResets CurrEstab InSegs OutSegs RetransSegs InErrs OutRsts InCsumErrors
                Tcp: 1 200 120000 -1 10 20 \(failed) \(reset) 4 100 \(sent) \(again) 0 0 0
                UdpLite: InDatagrams
                UdpLite: 0
                """)
    }

    @Test func aRiseBesideTrafficIsTrouble() throws {
        let before = try #require(counters())
        for (after, isTrouble) in [
            (counters(), false), (counters(sent: 900), false), (counters(again: 9), false), (counters(sent: 201, again: 4), true),
            (counters(sent: 201, failed: 2), true), (counters(sent: 201, reset: 3), true),
        ] { #expect(try #require(after).showsTrouble(since: before) == isTrouble, "\(String(describing: after))") }
    }

    @Test(arguments: [
        "", "Tcp: OutSegs", "Tcp: OutSegs\nTcp: 1", "Tcp: OutSegs AttemptFails EstabResets RetransSegs\nTcp: 1 2 3 x",
    ])
    func whatIsNoTableIsNone(_ text: String) { #expect(TCPCounters(text: text) == nil) }

    @Test func theKernelShowsThem() { #expect(TCPCounters.now != nil) }
}
