import Companion

/// Replaces a radio that this program cannot use: it never finds a laptop.
public final class MissingTransport: CompanionTransport {
    public var onEvent: (Companion.Event) -> Void = { _ in }
    public var onStateChange: (CompanionTransportState) -> Void = { _ in }

    public init() {}

    public func perform(_ action: Companion.Action) {}

    public func stop() {}
}
