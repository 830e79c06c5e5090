/// Makes names different by numbering those that are alike, the second one with 2.
struct DistinctNames {
    private var taken: Set<String>
    private var counts: [String: Int] = [:]

    init(besides taken: some Sequence<String> = []) { self.taken = Set(taken) }

    /// - Parameter number: adds a number to the name.
    mutating func add(_ name: String, _ number: (Int) -> String) -> String {
        var distinct = name
        repeat {
            let count = counts[name, default: 0] + 1
            counts[name] = count
            distinct = count == 1 ? name : name + number(count)
        } while !taken.insert(distinct).inserted
        return distinct
    }
}
