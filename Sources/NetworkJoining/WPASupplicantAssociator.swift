import EventLoop
import ForeignText
import Glibc
import HotspotCore

/// wpa_supplicant (2.10), through its control socket, which the group `netdev` may use on Debian.
@LoopActor final class WPASupplicantAssociator: Associator {
    let name = "wpa_supplicant"

    /// A line of `LIST_NETWORKS`.
    struct Entry: Equatable {
        let id: String
        /// The name with wpa_supplicant's escapes.
        let ssid: String
        let isCurrent: Bool
        let isDisabled: Bool
    }

    /// A join under way.
    private final class JoinAttempt {
        let control: WPAControl
        let request: JoinRequest
        let done: (AssociationError?) -> Void
        /// The networks that were enabled before the join: selecting a network disables all others.
        var enabled: [String] = []
        var id = ""
        /// Whether the network was made for this join.
        var isNew = false
        var misses = 0
        var pulse: EventSource?

        init(_ control: WPAControl, _ request: JoinRequest, _ done: @escaping (AssociationError?) -> Void) {
            (self.control, self.request, self.done) = (control, request, done)
        }
    }

    /// The time without an answer after which wpa_supplicant counts as ended.
    private static let pulse = Duration.seconds(1)
    private let sockets: String
    private let radio: RadioAssociator
    private var joins: [Int: JoinAttempt] = [:]
    /// The network that is removed when the interface leaves it.
    private var onceOnly: [Int: (interface: ManagedInterface, id: String)] = [:]
    /// The networks that were enabled until hotspotd disabled them.
    private var kept: [(interface: ManagedInterface, ssid: SSID, id: String)] = []

    init(sockets: String, radio: RadioAssociator) {
        (self.sockets, self.radio) = (sockets, radio)
    }

    private func connect(_ interface: ManagedInterface) throws(AssociationError) -> WPAControl {
        do {
            return try WPAControl(path: "\(sockets)/\(interface.name)")
        } catch {
            guard error.code == EACCES || error.code == EPERM else { throw .managerGone(name) }
            throw .notPermitted(
                manager: name,
                missing:
                    "the user hotspotd is not in the group of its control socket (netdev), or hotspotd was not restarted after it was added"
            )
        }
    }

    func manages(_ interface: ManagedInterface, _ done: @escaping (Bool) -> Void) {
        do throws(AssociationError) {
            _ = try connect(interface)
            done(true)
        } catch {
            if case .notPermitted = error { done(true) } else { done(false) }
        }
    }

    // MARK: JoinAttempt

    func join(_ request: JoinRequest, _ done: @escaping (AssociationError?) -> Void) {
        let joining: JoinAttempt
        do throws(AssociationError) { joining = JoinAttempt(try connect(request.interface), request, done) } catch {
            return done(error)
        }
        joins[request.interface.index] = joining
        joining.control.ask("LIST_NETWORKS") { [weak self, weak joining] answer in
            guard let self, let joining else { return }
            guard let answer else { return finish(joining, .managerGone(name)) }
            let entries = Self.entries(answer)
            joining.enabled = entries.filter { !$0.isDisabled }.map(\.id)
            let known = entries.filter { $0.ssid == Self.escaped(request.ssid) }
            if request.password == nil, let entry = known.first(where: \.isCurrent) ?? known.first {
                joining.id = entry.id
                return select(joining)
            }
            guard request.password != nil || !request.security.isSecured else { return finish(joining, .passwordNeeded) }
            add(joining)
        }
    }

    private func add(_ joining: JoinAttempt) {
        guard Self.settings(for: joining.request, id: "0") != nil else {
            return finish(joining, .unsupported(joining.request.security))
        }
        joining.control.ask("ADD_NETWORK") { [weak self, weak joining] id in
            guard let self, let joining else { return }
            guard let id, Int(id) != nil, let settings = Self.settings(for: joining.request, id: id) else {
                return finish(joining, id == nil ? .managerGone(name) : .refused(manager: name, words: ""))
            }
            (joining.id, joining.isNew) = (id, true)
            joining.control.order(settings[...]) { [weak self, weak joining] refusal in
                guard let self, let joining else { return }
                if let refusal { return finish(joining, error(refusal)) }
                select(joining)
            }
        }
    }

    /// Returns the commands that describe a network; `nil` if the network needs more than a password.
    nonisolated static func settings(for request: JoinRequest, id: String) -> [String]? {
        var settings: [(String, String)] = [("ssid", request.ssid.hex)]
        switch request.security {
        case .open: settings.append(("key_mgmt", "NONE"))
        case .owe: settings += [("key_mgmt", "OWE"), ("ieee80211w", "2")]
        case .psk, .sae:
            guard let password = request.password else { return nil }
            // A password of 64 octets is the key itself, in hexadecimal.
            let key = password.utf8.count == 64 ? password : "\"\(password)\""
            settings += [("psk", key), ("key_mgmt", request.security == .psk ? "WPA-PSK" : "SAE")]
            if request.security == .sae { settings.append(("ieee80211w", "2")) }
        case .wep, .enterprise, .wired, .unknown: return nil
        }
        return settings.map { "SET_NETWORK \(id) \($0) \($1)" }
    }

    private func select(_ joining: JoinAttempt) {
        joining.control.onEvent = { [weak self, weak joining] event in
            guard let self, let joining, let outcome = Self.outcome(event, of: joining.id, misses: &joining.misses) else {
                return
            }
            finish(joining, outcome)
        }
        joining.control.order(["ATTACH", "SELECT_NETWORK \(joining.id)"]) { [weak self, weak joining] refusal in
            guard let self, let joining else { return }
            if let refusal { return finish(joining, error(refusal)) }
            watch(joining)
        }
    }

    /// Checks regularly whether wpa_supplicant was killed, because no event reports this.
    private func watch(_ joining: JoinAttempt) {
        joining.pulse = try? EventLoop.shared.schedule(after: Self.pulse) { [weak self, weak joining] in
            joining?.control.ask("PING") { [weak self, weak joining] answer in
                guard let self, let joining, joins[joining.request.interface.index] === joining else { return }
                if answer == nil { finish(joining, .managerGone(name)) } else { watch(joining) }
            }
        }
    }

    /// Returns the result of a join after an event (wpa_ctrl.h); `nil` if the join continues.
    ///
    /// - Parameter misses: the number of scans that did not find the network.
    nonisolated static func outcome(_ event: String, of id: String, misses: inout Int) -> AssociationError?? {
        let words = event.split(separator: " ")
        func has(_ word: String) -> Bool { words.contains { $0 == word || $0 == "[\(word)" } }
        switch words.first {
        case "CTRL-EVENT-CONNECTED": return has("id=\(id)") ? .some(nil) : nil
        case "CTRL-EVENT-SSID-TEMP-DISABLED":
            guard has("id=\(id)") else { return nil }
            return has("reason=WRONG_KEY") ? .wrongPassword : .refused(manager: "wpa_supplicant", words: event)
        case "CTRL-EVENT-NETWORK-NOT-FOUND":
            misses += 1
            return misses > 2 ? .notInSight : nil
        case "CTRL-EVENT-TERMINATING": return .managerGone("wpa_supplicant")
        default: return nil
        }
    }

    /// Ends a join: restores every setting except the joined network.
    private func finish(_ joining: JoinAttempt, _ error: AssociationError?) {
        let interface = joining.request.interface
        guard joins[interface.index] === joining else { return }
        joins[interface.index] = nil
        joining.pulse?.cancel()
        joining.control.onEvent = { _ in }
        var commands = ["DETACH"]
        if error != nil, joining.isNew { commands.append("REMOVE_NETWORK \(joining.id)") }
        if !joining.id.isEmpty {
            commands += joining.enabled.filter { $0 != joining.id }.map {
                "ENABLE_NETWORK \($0)\(error == nil ? " no-connect" : "")"
            }
        }
        if error == nil {
            kept.removeAll { $0.interface == interface && $0.id == joining.id }
            if joining.isNew {
                if joining.request.once {
                    onceOnly[interface.index] = (interface, joining.id)
                } else {
                    commands.append("SAVE_CONFIG")
                }
            }
        }
        // Ignores the answers: wpa_supplicant refuses SAVE_CONFIG, for example, without update_config=1.
        for command in commands { joining.control.ask(command) { _ in _ = joining } }
        joining.done(error)
    }

    func abandon(_ interface: ManagedInterface) {
        if let joining = joins[interface.index] { finish(joining, .timeout(manager: name)) }
    }

    // MARK: Leaving

    func end(_ interface: ManagedInterface, _ ending: Ending, _ done: @escaping (AssociationError?) -> Void) {
        // Lets the kernel end the association: wpa_supplicant then makes a new association.
        if ending == .mayReturn { return radio.end(interface, ending, done) }
        let control: WPAControl
        do throws(AssociationError) { control = try connect(interface) } catch { return done(error) }
        control.ask("LIST_NETWORKS") { [weak self] answer in
            guard let self else { return }
            guard let answer else { return done(.managerGone(name)) }
            guard let current = Self.entries(answer).first(where: \.isCurrent) else { return done(.notInNetwork) }
            var command = "DISCONNECT"
            if case .staysAway(let ssid, let duration) = ending {
                // Disables only this network, so that wpa_supplicant may join other networks meanwhile.
                command = "DISABLE_NETWORK \(current.id)"
                kept.append((interface, ssid, current.id))
                if let duration { EventLoop.shared.later(duration) { [weak self] in self?.release(ssid) } }
            }
            control.order([command]) { [weak self] refusal in
                guard let self else { return }
                done(refusal.map { self.error($0) } ?? nil)
                _ = control
            }
        }
    }

    func left(_ interface: ManagedInterface) {
        guard let (interface, id) = onceOnly.removeValue(forKey: interface.index) else { return }
        send("REMOVE_NETWORK \(id)", to: interface)
    }

    func release(_ ssid: SSID?) {
        for (interface, _, id) in kept.filter({ ssid == nil || $0.ssid == ssid }) { send("ENABLE_NETWORK \(id)", to: interface) }
        kept.removeAll { ssid == nil || $0.ssid == ssid }
    }

    private func send(_ command: String, to interface: ManagedInterface) {
        guard let control = try? connect(interface) else { return }
        control.ask(command) { _ in _ = control }
    }

    // MARK: Answers

    private func error(_ refusal: String?) -> AssociationError {
        refusal == nil ? .managerGone(name) : .refused(manager: name, words: refusal == "FAIL" ? "" : refusal!)
    }

    /// Reads `LIST_NETWORKS`: below a heading, number, name, address and flags, separated by tabulators.
    nonisolated static func entries(_ answer: String) -> [Entry] {
        answer.split(separator: "\n").dropFirst().compactMap { line in
            let fields = line.split(separator: "\t", omittingEmptySubsequences: false)
            guard fields.count >= 4, Int(fields[0]) != nil else { return nil }
            let flags = fields[3].split { $0 == "[" || $0 == "]" }
            return Entry(
                id: String(fields[0]), ssid: String(fields[1]), isCurrent: flags.contains { $0 == "CURRENT" },
                isDisabled: flags.contains { $0 == "DISABLED" })
        }
    }

    /// Returns a name as wpa_supplicant writes it (printf_encode of utils/common.c).
    nonisolated static func escaped(_ ssid: SSID) -> String {
        ssid.octets.map { octet in
            switch octet {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"): "\\" + String(UnicodeScalar(octet))
            case 0x1B: "\\e"
            case 0x0A: "\\n"
            case 0x0D: "\\r"
            case 0x09: "\\t"
            case 0x20...0x7E: String(UnicodeScalar(octet))
            default: "\\x" + Hex.encode([octet])
            }
        }.joined()
    }
}
