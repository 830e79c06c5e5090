import HotspotCore

/// A helper, as its author writes it: one function for each command, blocking, on a thread of its own. What is not implemented is
/// answered with MethodNotImplemented, which the daemon counts as «not mine».
public protocol Helper: Sendable {
    /// The name of its `.helper` file.
    var name: String { get }
    /// What people read, at most 15 characters.
    var displayName: String { get }

    /// Which of the networks in sight it would take. No network access here.
    func filterScanList(_ networks: [Network]) throws -> [Annotation]
    /// Is this network captive, and its own?
    func evaluate(_ visit: Visit) throws -> Evaluation
    /// Free the network.
    func authenticate(_ visit: Visit) throws -> Reply
    /// The user answered.
    func presentUI(_ visit: Visit) throws -> Reply
    /// Is the session still good?
    func maintain(_ visit: Visit) throws -> Reply
    /// End the session at the portal.
    func logoff(_ visit: Visit) throws -> Reply
}

/// A helper does not know a command.
public struct NotImplemented: Error {
    /// The only one there is.
    public init() {}
}

extension Helper {
    /// Claims nothing.
    public func filterScanList(_ networks: [Network]) throws -> [Annotation] { [] }
    /// Not implemented.
    public func evaluate(_ visit: Visit) throws -> Evaluation { throw NotImplemented() }
    /// Not implemented.
    public func authenticate(_ visit: Visit) throws -> Reply { throw NotImplemented() }
    /// Not implemented.
    public func presentUI(_ visit: Visit) throws -> Reply { throw NotImplemented() }
    /// Not implemented.
    public func maintain(_ visit: Visit) throws -> Reply { throw NotImplemented() }
    /// Not implemented.
    public func logoff(_ visit: Visit) throws -> Reply { throw NotImplemented() }
}
