import EventLoop

/// The answer of one program that manages links, about one link.
enum ManagerAnswer: Hashable, Sendable {
    /// The program does not run, or does not manage this link.
    case unmanaged
    /// The program manages the link, and is still configuring it.
    case busy
    case facts(LinkFacts)
}

/// A program that manages links, asked over D-Bus.
protocol LinkManagerClient: Sendable {
    /// The program's name for people.
    static var name: String { get }
    /// The program's name on the bus.
    static var service: String { get }
    /// The interfaces whose changed properties mean that an answer may have changed.
    static var watched: [String] { get }
    @LoopActor static func ask(about link: LinkSnapshot, over bus: SystemBus, _ done: @escaping (ManagerAnswer) -> Void)
}

extension LinkSnapshot {
    /// Returns whether one of these plain addresses belongs to the link. An answer about other addresses is out of date.
    func hasAny(of addresses: [String]) -> Bool {
        self.addresses.contains { own in addresses.contains(String(own.prefix { $0 != "/" })) }
    }
}
