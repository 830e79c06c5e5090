/// Ends sessions when the user is away (LogoffOn=).
struct LogoffOn: Hashable, Sendable {
    var sleep = false
    var lid = false
    var lock = false
    /// How long the computer must have been idle.
    var idle: Duration?

    var isEmpty: Bool { self == LogoffOn() }
}
