import HotspotCore

/// A helper, as its author writes it: one blocking function for each command. Each call has its own thread.
///
/// If a function throws ``NotImplemented``, as the defaults do, the reply is MethodNotImplemented, which the daemon treats as `commandNotRecognized`.
/// Any other error becomes a failure of the helper.
public protocol Helper: Sendable {
    /// The value of `Name=` in the helper's `.helper` file.
    var name: String { get }
    /// The name that people read, at most 15 characters.
    var displayName: String { get }

    /// Loads the data for the first command while the network is being joined: on a separate thread, before that command or at the same time.
    func prepare()
    /// Returns the networks in sight to which the helper would log in. This command has no network access.
    func filterScanList(_ networks: [Network]) throws -> [Annotation]
    /// Decides whether the network is captive, and whether the helper can log in to it.
    func evaluate(_ command: HelperCommand) throws -> Evaluation
    /// Logs in, or asks the user the questions that the login needs.
    func authenticate(_ command: HelperCommand) throws -> Reply
    /// Continues the login with the user's answers.
    func presentUI(_ command: HelperCommand) throws -> Reply
    /// Decides whether the session is still valid.
    func maintain(_ command: HelperCommand) throws -> Reply
    /// Ends the session at the portal.
    func logoff(_ command: HelperCommand) throws -> Reply
}

/// The error of a command that a helper does not implement.
public struct NotImplemented: Error {
    /// Makes the error.
    public init() {}
}

extension Helper {
    /// Does nothing.
    public func prepare() {}
    /// Claims no network.
    public func filterScanList(_ networks: [Network]) throws -> [Annotation] { [] }
    /// Throws ``NotImplemented``.
    public func evaluate(_ command: HelperCommand) throws -> Evaluation { throw NotImplemented() }
    /// Throws ``NotImplemented``.
    public func authenticate(_ command: HelperCommand) throws -> Reply { throw NotImplemented() }
    /// Throws ``NotImplemented``.
    public func presentUI(_ command: HelperCommand) throws -> Reply { throw NotImplemented() }
    /// Throws ``NotImplemented``.
    public func maintain(_ command: HelperCommand) throws -> Reply { throw NotImplemented() }
    /// Throws ``NotImplemented``.
    public func logoff(_ command: HelperCommand) throws -> Reply { throw NotImplemented() }
}
