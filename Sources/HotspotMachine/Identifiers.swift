/// The number of a running operation, used only once by a machine: an event with an old number is late and is dropped.
public protocol OperationID: Hashable, Sendable {
    var number: UInt64 { get }
    init(number: UInt64)
}

public struct CommandID: OperationID {
    public let number: UInt64
    public init(number: UInt64) { self.number = number }
}

public struct TimerID: OperationID {
    public let number: UInt64
    public init(number: UInt64) { self.number = number }
}

public struct ProbeID: OperationID {
    public let number: UInt64
    public init(number: UInt64) { self.number = number }
}

public struct PromptID: OperationID {
    public let number: UInt64
    public init(number: UInt64) { self.number = number }
}

/// An attempt begins when the machine enters evaluating, maintaining or loggingOff, or goes from maintaining to authenticating. It ends with its
/// outcome.
public struct AttemptID: OperationID {
    public let number: UInt64
    public init(number: UInt64) { self.number = number }
}

/// A helper's login, once the helper has reported success. The login may be kept beside another login, restored, or dropped.
public struct LoginID: OperationID {
    public let number: UInt64
    public init(number: UInt64) { self.number = number }
}
