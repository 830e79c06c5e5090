import Testing

@testable import ControlServer

@Suite struct RefusalTallyTests {
    private func caller(_ user: UInt32, _ method: String) -> RefusalLimiter.Caller { .init(user: user, method: method) }

    @Test func theFirstRefusalIsLoggedAndTheOthersAreCounted() {
        var tally = RefusalLimiter()
        let firsts = (0..<1000).count { _ in tally.note(caller(1000, "Forget")) }
        #expect(firsts == 1)
        let others = [tally.note(caller(1001, "Forget")), tally.note(caller(1000, "Login"))]
        #expect(others == [true, true], "another user, another method")
        let counts = tally.drain()
        #expect(counts.map(\.count) == [999] && counts.first?.caller == caller(1000, "Forget"))
        #expect(tally.isEmpty)
        let again = tally.note(caller(1000, "Forget"))
        #expect(again, "it begins again")
    }

    @Test func itsMemoryIsBounded() {
        var tally = RefusalLimiter()
        let logged = (0..<100_000).count { tally.note(caller(UInt32($0), "Forget")) }
        #expect(logged == RefusalLimiter.limit)
        let counts = tally.drain()
        #expect(counts.count == 1 && counts.first?.caller == nil && counts.first?.count == 100_000 - RefusalLimiter.limit)
    }
}
