import EventLoop
import HotspotCore

/// iwd (2.3). On Debian, its service admits the group `netdev`.
@LoopActor final class IwdAssociator: Associator {
    let name = "iwd"
    private static let service = "net.connman.iwd"
    private static let agent = "/org/hotspotd/agent"
    /// The time-out of a connection, longer than iwd's own tries.
    private static let patience = Duration.seconds(60)

    /// A network as iwd lists it.
    struct Entry: Equatable {
        let path: String
        /// The object with iwd's stored record of the network.
        let known: String?
        let joinsByItself: Bool
    }

    private let address: String?
    private var bus: SystemBus?
    private var stations: [Int: String] = [:]
    /// The password that iwd may request, and iwd's unique name.
    private var answer: (password: String, to: String)?
    /// The networks that iwd must forget when the interface leaves them.
    private var onceOnly: [Int: SSID] = [:]
    /// The networks that iwd joined automatically until hotspotd switched that off.
    private var kept: [(ssid: SSID, known: String)] = []

    init(address: String?) { self.address = address }

    func manages(_ interface: ManagedInterface, _ done: @escaping (Bool) -> Void) {
        readObjects { [self] objects in
            stations[interface.index] =
                objects.first { _, interfaces in
                    interfaces.table["\(Self.service).Device"]?.table["Name"]?.text == interface.name
                        && interfaces.table["\(Self.service).Station"] != nil
                }?.key
            done(stations[interface.index] != nil)
        }
    }

    private func readObjects(_ done: @escaping ([String: BusValue]) -> Void) {
        guard let bus = connected() else { return done([:]) }
        let manager = SystemBus.Object(Self.service, "/", "org.freedesktop.DBus.ObjectManager")
        bus.call("GetManagedObjects", of: manager) { done($0?.first?.table ?? [:]) }
    }

    /// Returns a network that a station can join.
    nonisolated static func entry(
        of ssid: SSID, _ security: Security?, at station: String, in objects: [String: BusValue]
    ) -> Entry? {
        // iwd counts WPA3 as a kind of psk, and encryption without a password as a kind of open.
        let type: String? = security.map { $0.isSecured ? "psk" : "open" }
        for (path, interfaces) in objects {
            guard let network = interfaces.table["net.connman.iwd.Network"]?.table, network["Device"]?.text == station,
                network["Name"]?.text.map({ Array($0.utf8) }) == ssid.octets,
                type.map({ network["Type"]?.text == $0 }) ?? (network["Connected"]?.boolean == true)
            else { continue }
            let known = network["KnownNetwork"]?.text
            let record = known.flatMap { objects[$0]?.table["net.connman.iwd.KnownNetwork"]?.table }
            return Entry(path: path, known: known, joinsByItself: record?["AutoConnect"]?.boolean == true)
        }
        return nil
    }

    // MARK: Joining

    func join(_ request: JoinRequest, _ done: @escaping (AssociationError?) -> Void) {
        guard let station = stations[request.interface.index] else { return done(.managerGone(name)) }
        guard [.open, .owe, .psk, .sae].contains(request.security) else { return done(.unsupported(request.security)) }
        find(request, at: station) { [self] entry in
            guard let entry else { return done(.notInSight) }
            guard let password = request.password else {
                if entry.known == nil, request.security.isSecured { return done(.passwordNeeded) }
                return connect(entry, request, done)
            }
            offer(password) { [self] error in
                if let error { return done(error) }
                let end = { [self] (error: AssociationError?) in
                    answer = nil
                    bus?.call("UnregisterAgent", of: Self.agents, [.path(Self.agent)]) { _ in }
                    done(error)
                }
                connect(entry, request) { [self] error in
                    // iwd first tries the password that it has stored, and asks for another one only after that has failed.
                    guard error == .wrongPassword, entry.known != nil else { return end(error) }
                    connect(entry, request, end)
                }
            }
        }
    }

    /// Finds a network, with a scan if iwd does not list it.
    private func find(_ request: JoinRequest, at station: String, tries: Int = 20, _ done: @escaping (Entry?) -> Void) {
        readObjects { [self] objects in
            if let entry = Self.entry(of: request.ssid, request.security, at: station, in: objects) { return done(entry) }
            guard tries > 0 else { return done(nil) }
            // Ignores the reply, because iwd refuses a scan while another scan is running.
            bus?.call("Scan", of: object(station, "Station")) { _ in }
            EventLoop.shared.later(.milliseconds(500)) { [self] in find(request, at: station, tries: tries - 1, done) }
        }
    }

    private func connect(_ entry: Entry, _ request: JoinRequest, _ done: @escaping (AssociationError?) -> Void) {
        bus?.ask("Connect", of: object(entry.path, "Network"), within: Self.patience) { [self] result in
            guard case .failure(let failure) = result else {
                if request.once, entry.known == nil { onceOnly[request.interface.index] = request.ssid }
                return done(nil)
            }
            // iwd does not report why a handshake failed: assumes that a given password was wrong.
            let isHandshake = ["Failed", "InvalidFormat"].contains { failure.name == "\(Self.service).\($0)" }
            done(isHandshake && request.password != nil ? .wrongPassword : error(failure))
        }
    }

    private static let agents = SystemBus.Object(service, "/net/connman/iwd", "\(service).AgentManager")

    /// Registers an agent that gives the password to iwd, and to no other program.
    private func offer(_ password: String, _ done: @escaping (AssociationError?) -> Void) {
        let dbus = SystemBus.Object("org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus")
        bus?.call("GetNameOwner", of: dbus, [.text(Self.service)]) { [self] owner in
            guard let owner = owner?.first?.text else { return done(.managerGone(name)) }
            answer = (password, owner)
            bus?.ask("RegisterAgent", of: Self.agents, [.path(Self.agent)]) { [self] result in
                if case .failure(let failure) = result { done(error(failure)) } else { done(nil) }
            }
        }
    }

    private func asked(by sender: String, _ method: String) -> [SystemBus.Argument]? {
        guard let answer, sender == answer.to else { return nil }
        return switch method {
        case "RequestPassphrase": [.text(answer.password)]
        case "Release", "Cancel": []
        default: nil
        }
    }

    private func forget(_ known: String?) {
        guard let known else { return }
        bus?.call("Forget", of: object(known, "KnownNetwork")) { _ in }
    }

    func abandon(_ interface: ManagedInterface) {
        if let station = stations[interface.index] { bus?.call("Disconnect", of: object(station, "Station")) { _ in } }
    }

    // MARK: Leaving

    func end(_ interface: ManagedInterface, _ ending: Ending, _ done: @escaping (AssociationError?) -> Void) {
        guard let bus, let station = stations[interface.index] else { return done(.managerGone(name)) }
        bus.properties(of: object(station, "Station")) { [self] properties in
            guard let properties else { return done(.managerGone(name)) }
            guard let network = properties["ConnectedNetwork"]?.text else { return done(.notInNetwork) }
            keepAway(ending, station) { [self] in
                bus.ask("Disconnect", of: object(station, "Station")) { [self] result in
                    if case .failure(let failure) = result { return done(error(failure)) }
                    // Joins again, because iwd does not join a network by itself after `Disconnect`.
                    if ending == .mayReturn { bus.call("Connect", of: object(network, "Network")) { _ in } }
                    done(nil)
                }
            }
        }
    }

    private func keepAway(_ ending: Ending, _ station: String, _ done: @escaping () -> Void) {
        guard case .staysAway(let ssid, let duration) = ending else { return done() }
        readObjects { [self] objects in
            guard let entry = Self.entry(of: ssid, nil, at: station, in: objects), let known = entry.known, entry.joinsByItself
            else { return done() }
            kept.append((ssid, known))
            if let duration { EventLoop.shared.later(duration) { [weak self] in self?.release(ssid) } }
            bus?.setProperty("AutoConnect", of: object(known, "KnownNetwork"), to: .truth(false)) { _ in done() }
        }
    }

    func left(_ interface: ManagedInterface) {
        guard let ssid = onceOnly.removeValue(forKey: interface.index), let station = stations[interface.index] else { return }
        readObjects { [self] objects in
            for security in [Security.open, .psk] {
                forget(Self.entry(of: ssid, security, at: station, in: objects)?.known)
            }
        }
    }

    func release(_ ssid: SSID?) {
        for (name, known) in kept where ssid == nil || name == ssid {
            bus?.setProperty("AutoConnect", of: object(known, "KnownNetwork"), to: .truth(true)) { _ in }
        }
        kept.removeAll { ssid == nil || $0.ssid == ssid }
    }

    // MARK: The bus

    private func object(_ path: String, _ interface: String) -> SystemBus.Object {
        SystemBus.Object(Self.service, path, "\(Self.service).\(interface)")
    }

    private func error(_ failure: SystemBus.CallFailure) -> AssociationError {
        AssociationError(
            failure, of: name, missing: "the user hotspotd is not in the group netdev", idle: "\(Self.service).NotConnected")
    }

    private func connected() -> SystemBus? {
        if let bus, bus.isOpen { return bus }
        bus = try? SystemBus(address: address) { _ in }
        try? bus?.serve(Self.agent) { [weak self] sender, method in self?.asked(by: sender, method) }
        return bus
    }
}
