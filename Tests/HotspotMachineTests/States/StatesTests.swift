import Glibc
import HotspotCore
import Testing

@testable import HotspotMachine

/// The machine's states, explored; `make states` searches for a minute.
@Suite struct StatesTests {
    /// `HOTSPOTD_STATES` is the number of seconds to search; without it the search ends after a number of states.
    static let seconds = getenv("HOTSPOTD_STATES").flatMap { Int(String(cString: $0)) }

    @Test("All that can happen in a state", arguments: Policy.Rules.allCases) func explore(rules: Policy.Rules) {
        var explorer = StateExplorer(policy: Policy(rules: rules))
        let begin = ContinuousClock.now
        explorer.explore { explorer in
            if let seconds = Self.seconds { return ContinuousClock.now - begin < .seconds(seconds) }
            return explorer.visited.values.reduce(0, +) < 600
        }
        for fault in explorer.faults { Issue.record("\(fault)") }
        #expect(Set(explorer.visited.keys) == Set(StateName.allCases), "a search that misses a state proves nothing of it")
        if Self.seconds != nil {
            let visited = explorer.visited.values.reduce(0, +)
            let scope = explorer.isComplete ? "these are all" : "the longest way has \(explorer.depth) steps"
            print("states, \(rules) rules: \(explorer.states) found, \(visited) visited by \(explorer.edges) edges; \(scope)")
            for name in StateName.allCases { print("  \(name): \(explorer.visited[name] ?? 0)") }
        }
    }
}
