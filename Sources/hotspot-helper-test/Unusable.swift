/// Why there is nothing to try, in one sentence or two.
struct Unusable: Error, Equatable, CustomStringConvertible {
    var description: String

    init(_ description: String) { self.description = description }
}
