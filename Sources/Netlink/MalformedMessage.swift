/// A message whose lengths contradict each other; the whole message is dropped, never half of it believed.
public struct MalformedMessage: Error, Hashable, Sendable, CustomStringConvertible {
    /// What did not fit, for the debug log; holds no octets of the message.
    public let description: String

    /// What did not fit.
    public init(_ description: String) { self.description = description }
}
