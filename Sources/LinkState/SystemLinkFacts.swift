import EventLoop

/// The facts of links from the records that the machine's own DHCP clients and resolvers keep.
@LoopActor public final class SystemLinkFacts: LinkFactsSource {
    /// - Parameters:
    ///   - root: the folder in which `run`, `var` and `etc` are looked for.
    ///   - extraLeaseFiles: further lease files of dhclient.
    public init(root: String = "/", extraLeaseFiles: [String] = []) {}

    public func facts(for link: LinkSnapshot) -> LinkFacts? { nil }
}
