/// Everything in flight has a number of its own, used once in a machine's life: an answer that carries an old one is late and dropped.
public protocol OperationID: Hashable, Sendable {
    /// The number.
    var number: UInt64 { get }
    /// A number as this kind.
    init(number: UInt64)
}

/// One command to one helper.
public struct CommandID: OperationID {
    /// The number.
    public let number: UInt64
    /// A number as this kind.
    public init(number: UInt64) { self.number = number }
}

/// One timer.
public struct TimerID: OperationID {
    /// The number.
    public let number: UInt64
    /// A number as this kind.
    public init(number: UInt64) { self.number = number }
}

/// One question to the prober.
public struct ProbeID: OperationID {
    /// The number.
    public let number: UInt64
    /// A number as this kind.
    public init(number: UInt64) { self.number = number }
}

/// One question to the user.
public struct PromptID: OperationID {
    /// The number.
    public let number: UInt64
    /// A number as this kind.
    public init(number: UInt64) { self.number = number }
}

/// One attempt: from an entry to evaluating, maintaining, or authenticating from maintaining, to its outcome.
public struct AttemptID: OperationID {
    /// The number.
    public let number: UInt64
    /// A number as this kind.
    public init(number: UInt64) { self.number = number }
}
