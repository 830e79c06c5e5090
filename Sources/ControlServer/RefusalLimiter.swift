import Glibc

/// Decides which refused calls are logged: the first one of each user and method. Further calls are only counted, so that a thousand refusals in a
/// second cause two lines in the log. The memory is bounded, whatever the callers do.
struct RefusalLimiter {
    struct Caller: Hashable {
        let user: uid_t
        let method: String
    }

    /// The largest number of callers that are counted separately; all further callers are counted together.
    static let limit = 64

    /// For each caller, the number of calls that were refused after the logged one.
    private var further: [Caller: Int] = [:]
    private var others = 0

    /// Whether no call was refused since the last ``drain()``.
    var isEmpty: Bool { further.isEmpty }

    /// Counts a refused call; returns `true` if it should be logged.
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

    /// Returns the counts since the last call of this method, the largest first, and starts counting again; `nil` stands for all callers that are not
    /// counted separately.
    mutating func drain() -> [(caller: Caller?, count: Int)] {
        var counts: [(Caller?, Int)] = further.filter { $0.value > 0 }.sorted {
            ($1.value, $0.key.method) < ($0.value, $1.key.method)
        }
        .map { ($0.key, $0.value) }
        if others > 0 { counts.append((nil, others)) }
        self = RefusalLimiter()
        return counts
    }
}
