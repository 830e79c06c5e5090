import EventLoop
import HotspotCore

/// The skeleton of the host: its surface, not yet its work.
@LoopActor public final class HelperHost {
    public nonisolated static let proberName = "probe"
    public let configuration: HostConfiguration
    public private(set) var helpers: [HelperEntry] = []
    public var onChange: () -> Void = {}
    public init(configuration: HostConfiguration) { self.configuration = configuration }
    public func setHelpers(_ entries: [HelperEntry]) { helpers = entries }
    public func setProber(exec: [String]?) {}
    public func prepare(_ names: [String]) {}
    public func standDown() {}
    @discardableResult public func send(
        _ command: Command, to helper: String, parameters: JSONValue, completion: @escaping (HelperOutcome) -> Void
    ) -> HelperCall { HelperCall(completion: completion) }
    @discardableResult public func probe(
        parameters: JSONValue, completion: @escaping (HelperOutcome) -> Void
    ) -> HelperCall { HelperCall(completion: completion) }
    public func helperName(forToken token: String) -> String? { nil }
    public func isRunning(_ name: String) -> Bool { false }
    public func containment(of name: String) -> [String] { [] }
    public func shutDown(_ completion: @escaping () -> Void) {}
}
