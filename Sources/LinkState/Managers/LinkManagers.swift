import EventLoop

/// The facts about links from the programs that manage them, over D-Bus. A signal from a program only causes a new request; until the program
/// answers, its last answer counts. A request starts no program, and without a bus there are no answers.
@LoopActor public final class LinkManagers {
    /// The progress of the answers about a link.
    public enum Progress: Hashable, Sendable {
        /// No answer has arrived yet.
        case asking
        /// A program manages the link, and is still configuring it.
        case busy
        /// A program has configured the link.
        case complete
        /// None of the asked programs manages the link.
        case none
    }

    private struct Known {
        /// The addresses that the link had when the programs were asked; with other addresses, the programs are asked again.
        var addresses: [String]
        var answers: [ManagerAnswer]
    }

    private struct Question {
        let number: Int
        let addresses: [String]
    }

    // The clients, the most important first. At most one of the first three manages a link; systemd-resolved knows the resolvers of all links.
    private static let clients: [any LinkManagerClient.Type] = [
        NetworkManagerClient.self, NetworkdClient.self, ConnManClient.self, ResolvedClient.self,
    ]

    /// Called when answers about a link have arrived.
    public var onAnswer: (_ index: Int) -> Void = { _ in }
    /// Called when a program reports a change without naming the link.
    public var onHint: () -> Void = {}

    private let address: String?
    private var bus: SystemBus?
    private var known: [Int: Known] = [:]
    /// The running requests; another request about the same link waits until the running one has ended.
    private var asking: [Int: Question] = [:]
    private var count = 0
    private var waiting: [Int: LinkSnapshot] = [:]

    /// - Parameter address: the address of a bus other than the system's.
    public init(address: String? = nil) { self.address = address }

    /// Asks all programs about a link, unless the answers are known; with `again`, in any case. ``onAnswer`` reports when the answers have arrived.
    public func ask(about link: LinkSnapshot, again: Bool = false) {
        if let question = asking[link.index] {
            if again || question.addresses != link.addresses { waiting[link.index] = link }
            return
        }
        guard again || progress(of: link) == .asking else { return }
        guard let bus = connected() else {
            known[link.index] = Known(addresses: link.addresses, answers: [])
            return
        }
        count += 1
        let number = count
        asking[link.index] = Question(number: number, addresses: link.addresses)
        var answers: [Int: ManagerAnswer] = [:]
        for (place, client) in Self.clients.enumerated() {
            client.ask(about: link, over: bus) { [weak self] answer in
                answers[place] = answer
                // If the request was forgotten meanwhile, its answers belong to the earlier network.
                guard let self, answers.count == Self.clients.count, asking[link.index]?.number == number else { return }
                answered(link, Self.clients.indices.compactMap { answers[$0] })
            }
        }
    }

    private func answered(_ link: LinkSnapshot, _ answers: [ManagerAnswer]) {
        asking[link.index] = nil
        known[link.index] = Known(addresses: link.addresses, answers: answers)
        if let next = waiting.removeValue(forKey: link.index) { ask(about: next, again: true) }
        onAnswer(link.index)
    }

    public func forget(_ index: Int) {
        known[index] = nil
        asking[index] = nil
        waiting[index] = nil
    }

    public func progress(of link: LinkSnapshot) -> Progress {
        guard let known = known[link.index], known.addresses == link.addresses else { return .asking }
        if known.answers.contains(.busy) { return .busy }
        return facts(for: link).isEmpty ? .none : .complete
    }

    /// Returns the facts from the programs' last answers, the most important first. Entirely different addresses mean another network.
    public func facts(for link: LinkSnapshot) -> [LinkFacts] {
        guard let known = known[link.index],
            known.addresses == link.addresses || !Set(known.addresses).isDisjoint(with: link.addresses)
        else { return [] }
        return known.answers.compactMap { if case .facts(let facts) = $0 { facts } else { nil } }
    }

    /// Returns NetworkManager's name, if it manages the link.
    private func owner(of index: Int) -> String? {
        guard let first = known[index]?.answers.first, first != .unmanaged else { return nil }
        return NetworkManagerClient.name
    }

    /// Makes NetworkManager, if it manages this link, check now whether the Internet answers.
    public func recheck(_ index: Int, _ done: @escaping (Bool) -> Void) {
        guard owner(of: index) != nil, let bus = connected() else { return }
        NetworkManagerClient.recheck(over: bus, done)
    }

    /// Returns the connection to the bus, and reconnects if it was lost.
    private func connected() -> SystemBus? {
        if let bus, bus.isOpen { return bus }
        do throws(LoopError) {
            let bus = try SystemBus(address: address) { [weak self] _ in self?.onHint() }
            for client in Self.clients {
                for interface in client.watched { try bus.listenToProperties(of: interface, from: client.service) }
            }
            self.bus = bus
        } catch {
            bus = nil
        }
        return bus
    }
}
