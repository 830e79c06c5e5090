import HotspotCore

/// What is remembered of one network, as far as a list of networks shows it.
public struct NetworkMemory: Hashable, Sendable {
    /// The helper that won here before.
    public var helper: String?
    /// What holds it back.
    public var hold: StoredHold?
    /// How the last visit ended.
    public var outcome: StoredOutcome?
    /// The helpers for which something sealed is kept here.
    public var credentials: Set<String> = []

    /// Nothing.
    public init() {}
}

/// What is remembered of all networks at one moment.
public struct NetworkMemories: Sendable {
    fileprivate var byKey: [String: NetworkMemory] = [:]

    /// What is remembered of this one; of an anonymous or unknown one nothing.
    public subscript(network: NetworkID) -> NetworkMemory {
        guard !byKey.isEmpty, let key = network.key else { return NetworkMemory() }
        return byKey[key] ?? NetworkMemory()
    }
}

extension Store {
    /// What is remembered of all networks, in four statements however long the list is that wants it. `now` is Unix time in
    /// milliseconds.
    public func memories(now: Int) -> NetworkMemories {
        var memories = NetworkMemories()
        func collect(_ sql: String, _ values: [Value] = [], _ take: (Row, inout NetworkMemory) -> Bool) {
            _ = read(sql, values) { row -> Void? in
                guard let key = row.text(0), take(row, &memories.byKey[key, default: NetworkMemory()]) else { return nil }
                return ()
            }
        }
        collect("SELECT network, helper FROM choices WHERE expires > ?", [.integer(now)]) { row, memory in
            memory.helper = row.text(1)
            return memory.helper != nil
        }
        collect(
            "SELECT network, reason, until, helper, sentence FROM holds WHERE until IS NULL OR until > ?", [.integer(now)]
        ) { row, memory in
            guard let reason = row.text(1).flatMap(StoredHold.Reason.init), let sentence = row.text(4) else { return false }
            memory.hold = StoredHold(reason: reason, until: row.integer(2), helper: row.text(3), sentence: sentence)
            return true
        }
        collect("SELECT network, word, time FROM outcomes") { row, memory in
            guard let word = row.text(1), let time = row.integer(2) else { return false }
            memory.outcome = StoredOutcome(word: word, time: time)
            return true
        }
        collect("SELECT DISTINCT network, helper FROM credentials") { row, memory in
            guard let helper = row.text(1) else { return false }
            memory.credentials.insert(helper)
            return true
        }
        return memories
    }
}
