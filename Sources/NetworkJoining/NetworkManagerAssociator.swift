import EventLoop
import Glibc
import HotspotCore

/// NetworkManager (introspection of 1.42). An unprivileged user needs `network-control` to join known networks and to leave
/// networks, and `settings.modify.own` to make hotspotd's own profile (measured).
@LoopActor final class NetworkManagerAssociator: Associator {
    let name = "NetworkManager"
    private static let service = "org.freedesktop.NetworkManager"
    private static let manager = SystemBus.Object(service, "/org/freedesktop/NetworkManager", service)
    private static let refusal =
        "polkit's rule is missing (60-hotspotd.rules, from the package), or the administrator's own rules forbid it"

    /// A join under way on a device.
    @LoopActor private final class Activation {
        let done: (AssociationError?) -> Void
        /// Whether hotspotd has asked NetworkManager for this join.
        var isAsked = false
        /// Whether the device has left the earlier network, and is joining the requested network.
        var isOurs = false
        /// The profile that was made for this join.
        var profile: String?
        var hasFailed = false
        /// Whether the network has a password that this join could get wrong.
        let isSecured: Bool

        init(isSecured: Bool, _ done: @escaping (AssociationError?) -> Void) { (self.isSecured, self.done) = (isSecured, done) }
    }

    private let address: String?
    private var bus: SystemBus?
    private var devices: [Int: String] = [:]
    private var activations: [String: Activation] = [:]

    init(address: String?) { self.address = address }

    func manages(_ interface: ManagedInterface, _ done: @escaping (Bool) -> Void) {
        devices[interface.index] = nil
        guard let bus = connected() else { return done(false) }
        bus.call("GetDeviceByIpIface", of: Self.manager, [.text(interface.name)]) { [self] found in
            guard let path = found?.first?.text else { return done(false) }
            bus.properties(of: Self.device(path)) { [self] properties in
                let manages = properties?["Managed"]?.boolean == true
                if manages { devices[interface.index] = path }
                done(manages)
            }
        }
    }

    // MARK: Joining

    func join(_ request: JoinRequest, _ done: @escaping (AssociationError?) -> Void) {
        guard let bus, let path = devices[request.interface.index] else { return done(.managerGone(name)) }
        let activation = Activation(isSecured: request.security.isSecured, done)
        activations[path] = activation
        guard request.password == nil else { return add(request, path, activation) }
        // Looks among the profiles of networks in sight; the list does not contain other users' profiles.
        bus.properties(of: Self.device(path)) { [self] properties in
            guard let properties else { return finish(path, activation, .managerGone(name)) }
            let profiles = (properties["AvailableConnections"]?.list ?? []).compactMap(\.text)
            pick(profiles[...], of: request, over: bus) { [self] profile in
                if let profile { return activate(profile, path, activation) }
                guard !request.security.isSecured else { return finish(path, activation, .passwordNeeded) }
                add(request, path, activation)
            }
        }
    }

    /// Finds the first profile of this network.
    private func pick(
        _ profiles: ArraySlice<String>, of request: JoinRequest, over bus: SystemBus, _ done: @escaping (String?) -> Void
    ) {
        guard let path = profiles.first else { return done(nil) }
        let profile = SystemBus.Object(Self.service, path, "\(Self.service).Settings.Connection")
        bus.call("GetSettings", of: profile) { [self] found in
            if Self.fits(found?.first?.table ?? [:], request) { return done(path) }
            pick(profiles.dropFirst(), of: request, over: bus, done)
        }
    }

    nonisolated static func fits(_ settings: [String: BusValue], _ request: JoinRequest) -> Bool {
        settings["802-11-wireless"]?.table["ssid"]?.octets == request.ssid.octets
            && (settings["802-11-wireless-security"] != nil) == (request.security != .open)
    }

    private func activate(_ profile: String, _ path: String, _ activation: Activation) {
        start("ActivateConnection", [.path(profile), .path(path), .path("/")], path, activation)
    }

    private func add(_ request: JoinRequest, _ path: String, _ activation: Activation) {
        guard let settings = Self.profile(for: request, user: Self.user) else {
            return finish(path, activation, .unsupported(request.security))
        }
        // NetworkManager removes a volatile profile when the connection ends.
        let options: [String: SystemBus.Argument] = ["persist": .text(request.once ? "volatile" : "disk")]
        start("AddAndActivateConnection2", [.tables(settings), .path(path), .path("/"), .table(options)], path, activation)
    }

    /// Returns the settings of a profile that only `user` may use, or that all users may use if `user` is `nil`. Returns `nil` if the network needs
    /// more than a password.
    nonisolated static func profile(for request: JoinRequest, user: String?) -> [String: [String: SystemBus.Argument]]? {
        var connection: [String: SystemBus.Argument] = [
            "id": .text(request.ssid.description), "type": .text("802-11-wireless"),
        ]
        // A profile made by root is for all users; a profile made by another user must be for that user.
        if let user { connection["permissions"] = .texts(["user:\(user):"]) }
        var settings = ["connection": connection, "802-11-wireless": ["ssid": .octets(request.ssid.octets)]]
        switch request.security {
        case .open: break
        case .owe: settings["802-11-wireless-security"] = ["key-mgmt": .text("owe")]
        case .psk, .sae:
            guard let password = request.password else { return nil }
            settings["802-11-wireless-security"] = [
                "key-mgmt": .text(request.security == .psk ? "wpa-psk" : "sae"), "psk": .text(password),
            ]
        case .wep, .enterprise, .wired, .unknown: return nil
        }
        return settings
    }

    private static let user: String? = geteuid() == 0 ? nil : getpwuid(geteuid()).map { String(cString: $0.pointee.pw_name) }

    private func start(_ method: String, _ arguments: [SystemBus.Argument], _ path: String, _ activation: Activation) {
        // Does nothing after the deadline: NetworkManager may answer the earlier requests late.
        guard activations[path] === activation else { return }
        activation.isAsked = true
        bus?.ask(method, of: Self.manager, arguments) { [weak self] result in
            guard let self else { return }
            switch result {
            case .failure(let failure): finish(path, activation, error(failure))
            case .success(let values):
                // The answer contains the profile, the connection and more; for a known profile, only the connection.
                if values.count > 1 { activation.profile = values.first?.text }
                // Deletes the profile now if the join failed before this answer came.
                if activation.hasFailed { dropProfile(of: activation) }
            }
        }
    }

    /// Follows a device's states: enum NMDeviceState of libnm-core.
    private func stateChanged(_ path: String, _ values: [Int64]) {
        guard values.count == 3, let activation = activations[path], activation.isAsked else { return }
        let (state, reason) = (values[0], values[2])
        switch state {
        case 40...60: activation.isOurs = true
        // When the device is getting an address, it is associated and its keys are right.
        case 70...100: if activation.isOurs { finish(path, activation, nil) }
        case 120: finish(path, activation, failure(reason, of: activation))
        case 10, 20: finish(path, activation, .refused(manager: name, words: "the device is no longer available"))
        // The device is deactivating or disconnected. Before it joins our network, only the earlier network has ended;
        // afterwards, the user has intervened.
        default: if activation.isOurs { finish(path, activation, failure(reason, of: activation)) }
        }
    }

    /// Returns the error for a reason: enum NMDeviceStateReason of libnm-core.
    private func failure(_ reason: Int64, of activation: Activation) -> AssociationError {
        switch reason {
        case 7 where activation.isSecured: .wrongPassword
        case 8: .refused(manager: name, words: "the access point ended the connection")
        case 53: .notInSight
        case 11: .timeout(manager: name)
        case 60: .busy
        default: .refused(manager: name, words: "reason \(reason)")
        }
    }

    private func finish(_ path: String, _ activation: Activation, _ error: AssociationError?) {
        guard activations[path] === activation else { return }
        activations[path] = nil
        if error != nil { dropProfile(of: activation) }
        activation.done(error)
    }

    /// Deletes the profile of a failed join: NetworkManager would otherwise try a wrong password again and again.
    private func dropProfile(of activation: Activation) {
        activation.hasFailed = true
        guard let profile = activation.profile else { return }
        activation.profile = nil
        bus?.call("Delete", of: SystemBus.Object(Self.service, profile, "\(Self.service).Settings.Connection")) { _ in }
    }

    func abandon(_ interface: ManagedInterface) {
        guard let path = devices[interface.index], let activation = activations.removeValue(forKey: path) else { return }
        dropProfile(of: activation)
    }

    // MARK: Leaving

    /// Leaves the network. `Disconnect` turns the device's `Autoconnect` off, and NetworkManager leaves this profile alone until it is activated
    /// again (measured). So if only this network must not be joined, this restores `Autoconnect` at once, and NetworkManager joins other
    /// networks as before.
    func end(_ interface: ManagedInterface, _ ending: Ending, _ done: @escaping (AssociationError?) -> Void) {
        guard let bus, let path = devices[interface.index] else { return done(.managerGone(name)) }
        bus.properties(of: Self.device(path)) { [self] before in
            guard let before else { return done(.managerGone(name)) }
            if ending == .mayReturn { return activateAgain(before, path, done) }
            bus.ask("Disconnect", of: Self.device(path), within: .seconds(20)) { [self] result in
                if case .failure(let failure) = result { return done(error(failure)) }
                guard ending != .byUser, before["Autoconnect"]?.boolean == true else { return done(nil) }
                bus.setProperty("Autoconnect", of: Self.device(path), to: .truth(true)) { [self] in done($0.map(error)) }
            }
        }
    }

    /// Joins the same network again, because NetworkManager does not join it by itself after a `Disconnect`.
    private func activateAgain(
        _ device: [String: BusValue], _ path: String, _ done: @escaping (AssociationError?) -> Void
    ) {
        let active = SystemBus.Object(
            Self.service, device["ActiveConnection"]?.text ?? "/", "\(Self.service).Connection.Active")
        bus?.properties(of: active) { [self] properties in
            guard let profile = properties?["Connection"]?.text else { return done(.notInNetwork) }
            bus?.ask("ActivateConnection", of: Self.manager, [.path(profile), .path(path), .path("/")]) { [self] result in
                if case .failure(let failure) = result { done(error(failure)) } else { done(nil) }
            }
        }
    }

    func left(_ interface: ManagedInterface) {}
    func release(_ ssid: SSID?) {}

    // MARK: The bus

    private static func device(_ path: String) -> SystemBus.Object { SystemBus.Object(service, path, "\(service).Device") }

    private func error(_ failure: SystemBus.CallFailure) -> AssociationError {
        AssociationError(failure, of: name, missing: Self.refusal, idle: "\(Self.service).Device.NotActive")
    }

    private func connected() -> SystemBus? {
        if let bus, bus.isOpen { return bus }
        bus = nil
        do throws(LoopError) {
            let bus = try SystemBus(address: address) { _ in }
            try bus.watch("StateChanged", of: "\(Self.service).Device", from: Self.service) { [weak self] path, values in
                self?.stateChanged(path, values.compactMap(\.number))
            }
            try bus.watch("NameOwnerChanged", of: "org.freedesktop.DBus", from: "org.freedesktop.DBus") { [weak self] _, values in
                guard let self, values.first?.text == Self.service, values.last?.text == "" else { return }
                for (path, activation) in activations { finish(path, activation, .managerGone(name)) }
            }
            self.bus = bus
        } catch {
            return nil
        }
        return bus
    }
}
