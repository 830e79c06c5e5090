import Glibc

/// Which refused calls are told at once, and which are counted only: of each user and method the first in a while. Whoever is refused a
/// thousand times in a second is worth two lines of the log, not a thousand. Its memory is bounded, whoever calls.
struct RefusalTally {
    /// Who called what.
    struct Caller: Hashable {
        let user: uid_t
        let method: String
    }

    /// So many users and methods are told apart; all others are one.
    static let limit = 64

    /// Further calls, after the one that was told.
    private var further: [Caller: Int] = [:]
    private var others = 0

    /// Nothing was refused since the last ``drain()``.
    var isEmpty: Bool { further.isEmpty }

    /// Notes a refused call; `true` if it is to be told.
    mutating func note(_ caller: Caller) -> Bool {
        if let count = further[caller] {
            further[caller] = count + 1
        } else if further.count < Self.limit {
            further[caller] = 0
            return true
        } else {
            others += 1
        }
        return false
    }

    /// What was only counted, those who called most first; `nil` stands for all that were not told apart. Begins anew.
    mutating func drain() -> [(caller: Caller?, count: Int)] {
        var counts: [(Caller?, Int)] = further.filter { $0.value > 0 }.sorted {
            ($1.value, $0.key.method) < ($0.value, $1.key.method)
        }
        .map { ($0.key, $0.value) }
        if others > 0 { counts.append((nil, others)) }
        self = RefusalTally()
        return counts
    }
}
