import ControlAPI
import HotspotCore

extension DoctorFacts {
    /// Returns the state of a layer: from its problems, otherwise from the facts about it.
    func layer(_ name: LayerName) -> Layer {
        let problems = (status?.problems ?? []) + (reply?.problems ?? []) + helpers.flatMap(named)
        let own = problems.filter { $0.code.layer == name && !(name == .radio && isWired) }
        if let problem = own.first(where: { ProblemCode.fatal.contains($0.code) }) ?? own.first {
            let isFatal = ProblemCode.fatal.contains(problem.code) && !isOnline
            return Layer(
                name: name, state: isFatal ? .broken : .attention, sentence: problem.message, command: problem.hint.map(ours))
        }
        var layer = known(name)
        if layer.state == .broken, isOnline { layer.state = .attention }
        return layer
    }

    /// The problems of a helper, each with the helper's name.
    private func named(_ helper: HelperStatus) -> [Problem] {
        helper.problems.map { problem in
            let isNamed = problem.message.hasPrefix(helper.name) || problem.message.hasPrefix(helper.displayName)
            return isNamed ? problem : Problem(problem.code, "\(helper.name): \(problem.message)", hint: problem.hint)
        }
    }

    private func known(_ name: LayerName) -> Layer {
        switch name {
        case .radio: radio
        case .rfkill: radioSwitch
        case .association: association
        case .address: address
        case .gateway: gateway
        case .resolvers: resolver
        case .names: names
        case .vpn: vpn
        case .firewall: firewall
        case .daemon: daemonLayer
        case .probe: probe
        case .portal: portal
        case .helper: helper
        case .sandbox: sandbox
        case .login: login
        case .internet: internet
        case .desktop: desktopLayer
        }
    }

    private var radio: Layer {
        if link?.kind == .wireless { return Layer(.radio, .ok, "\(name) is a Wi-Fi interface.") }
        if isWired { return Layer(.radio, .ok, "\(name) is wired: no radio is needed.") }
        if status != nil { return Layer(.radio, .unknown, "hotspotctl cannot see \(name).") }
        if link != nil { return Layer(.radio, .unknown, "hotspotd does not watch \(name).", "hotspotctl") }
        if subject != nil { return Layer(.radio, .broken, "There is no interface \(name).", "ip link") }
        return Layer(
            .radio, .broken, "This computer has no network interface, or no driver for it.", "sudo dmesg | grep -i firmware")
    }

    /// Whether neither this computer nor the daemon has an interface.
    private var isAbsent: Bool { link == nil && status == nil }

    private var radioSwitch: Layer {
        if isAbsent { return Layer(.rfkill, .unknown, "There is no radio.") }
        if isWired { return Layer(.rfkill, .ok, "No radio is needed.") }
        if switches.contains(.offByKey) {
            return Layer(
                .rfkill, link?.isUp == true ? .attention : .broken, "A key or switch of this computer turned the radio off.",
                "rfkill list")
        }
        if switches.contains(.offByProgram) {
            return Layer(
                .rfkill, link?.isUp == true ? .attention : .broken, "The radio is switched off (airplane mode).",
                "rfkill unblock wlan")
        }
        return Layer(.rfkill, .ok, "The radio is on.")
    }

    private var association: Layer {
        if isAbsent { return Layer(.association, .unknown, "No interface can join a network.") }
        let manager = status?.manager.map { ", managed by \(Renderer.safe($0, limit: 64))" } ?? ""
        if let ssid = status?.ssid, !isWired {
            return Layer(.association, .ok, "\(name) is in \(renderer.quoted(ssid))\(manager).")
        }
        if link?.isUp == true || status?.ssid != nil {
            return Layer(
                .association, .ok,
                isWired ? "The cable of \(name) is plugged in\(manager)." : "\(name) is in a network\(manager).")
        }
        if isWired {
            return Layer(
                .association, .broken, "\(name) has no cable plugged in, or is switched off.", "ip link show dev \(name)")
        }
        let (place, option) = wanted == nil ? ("", "") : (" \(name)", " --interface \(name)")
        return Layer(
            .association, .broken, "\(name) is not in a network\(manager): join one.",
            "hotspotctl list\(place), then hotspotctl join\(option) SSID")
    }

    private var address: Layer {
        guard let link else { return Layer(.address, .unknown, "hotspotctl cannot see \(name).") }
        guard let first = link.addresses.first else {
            return Layer(
                .address, .broken, "\(name) has no address.",
                desktop == nil ? "ip address show dev \(name)" : "nmcli device reapply \(name)")
        }
        let rest = link.addresses.count > 1 ? ", and \(link.addresses.count - 1) more" : ""
        return Layer(.address, .ok, "\(name) has \(first)\(rest).")
    }

    private var gateway: Layer {
        guard let link else { return Layer(.gateway, .unknown, "hotspotctl cannot see \(name).") }
        if link.hasDefaultRoute { return Layer(.gateway, .ok, "\(name) has a default route.") }
        // If the probe got an answer, the layer is not broken: some programs keep the default route in their own routing tables.
        let state: Layer.State = isOnline || isCaptive ? .attention : .broken
        return Layer(.gateway, state, "There is no default route through \(name).", "ip route show table all dev \(name)")
    }

    private var resolver: Layer {
        guard let first = resolvers.first else {
            return Layer(
                .resolvers, .attention, "/etc/resolv.conf names no resolver for other programs.", "ls -l /etc/resolv.conf")
        }
        if first == "127.0.0.53" { return Layer(.resolvers, .ok, "Other programs use systemd-resolved.") }
        let rest = resolvers.count > 1 ? ", and \(resolvers.count - 1) more" : ""
        return Layer(.resolvers, .ok, "Other programs send their DNS questions to \(Renderer.safe(first, limit: 64))\(rest).")
    }

    /// The outcomes of the probe's requests: for each, a status or the code of an error.
    private var outcomes: [Substring] {
        (check?.requests ?? []).compactMap(Self.outcome)
    }

    /// Whether the probe sent requests that this user may not see.
    var isHidden: Bool {
        check?.requests == nil && ["online", "captive", "limited"].contains(check?.verdict)
    }

    private static let hidden = "Only these users may see the probe's requests: \(Renderer.permitted)."

    /// Whether a server or a portal answered.
    private var isAnswered: Bool { outcomes.contains { Int($0) != nil } }

    private static func outcome(_ line: String) -> Substring? {
        line.firstRange(of: "→ ").map { line[$0.upperBound...].prefix { $0 != ":" && $0 != " " } }
    }

    /// Returns the outcome of a request that needed a nameserver; `nil` for a request to an address, even to an address that the daemon remembers.
    private static func outcomeByName(_ line: String) -> Substring? {
        guard let scheme = line.firstRange(of: "://"), let arrow = line.firstRange(of: " → "),
            scheme.upperBound <= arrow.lowerBound
        else { return nil }
        let place = line[scheme.upperBound..<arrow.lowerBound]
        let host = place.prefix { $0 != "/" }
        guard !place.contains(" "), !host.hasPrefix("["), host.contains(where: \.isLetter) else { return nil }
        return outcome(line)
    }

    private static func isFailureOfNames(_ outcome: Substring) -> Bool { outcome.hasPrefix("dns") || outcome == "noNameserver" }

    private var names: Layer {
        let asked = (check?.requests ?? []).compactMap(Self.outcomeByName)
        // Requests that were cut off at the end of the probe's time have no line; then the reply's `detail` describes the first host.
        let failures = (asked + (check?.detail.map { [$0[...]] } ?? [])).filter(Self.isFailureOfNames)
        let source = nameservers.map { " from \($0.source)" } ?? ""
        guard !failures.isEmpty else {
            // A check resolves a server's name before it connects, so each of these outcomes shows that the name was resolved.
            let behind = ["certificate", "connectFailed", "reset", "tlsFailed", "clockWrong", "emptyAnswer", "timeout"]
            if asked.contains(where: { Int($0) != nil || behind.contains(String($0)) }) {
                return Layer(.names, .ok, "Names resolve\(source.isEmpty ? "" : " (resolvers\(source))").")
            }
            if isHidden { return Layer(.names, .unknown, Self.hidden) }
            let hasAsked = ["online", "captive", "limited"].contains(check?.verdict)
            return Layer(
                .names, .unknown,
                hasAsked ? "The probe could not test name resolution." : "Unknown until the probe has run.")
        }
        let isPartial = asked.contains { !Self.isFailureOfNames($0) }
        let isSilent = failures.contains("dnsTimeout")
        let lack = isPartial ? isSilent ? "answer every question" : "know every name" : isSilent ? "answer" : "know the names"
        let list = nameservers.map { ": \($0.list)" } ?? ""
        let sentence = "The resolvers\(source) do not \(lack)\(list)."
        return Layer(.names, isPartial ? .attention : .broken, sentence, ours("hotspotctl check --verbose"))
    }

    /// The nameservers that the daemon uses on this link, and their source.
    private var nameservers: (list: String, source: String)? {
        guard let known = status?.link, !known.nameservers.isEmpty else { return nil }
        let source = known.nameserversFrom == "settings" ? "the settings" : Renderer.safe(known.nameserversFrom, limit: 64)
        return (known.nameservers.prefix(8).map { Renderer.safe($0, limit: 64) }.joined(separator: ", "), source)
    }

    private var vpn: Layer {
        let tunnels = interfaces.filter { $0.kind == .tunnel && $0.isUp }.map { Renderer.safe($0.name, limit: 32) }
        if tunnels.isEmpty { return Layer(.vpn, .ok, "No tunnel is up.") }
        return Layer(.vpn, .ok, "\(tunnels.joined(separator: ", ")) is up; the probe and the helpers bypass it.")
    }

    private var firewall: Layer {
        if outcomes.contains("refusedHere") {
            return Layer(
                .firewall, isAnswered ? .attention : .broken, "A firewall rule on this computer blocks the probe's packets.",
                "sudo nft list ruleset")
        }
        if isAnswered { return Layer(.firewall, .ok, "The firewall lets the probe's packets through.") }
        if outcomes.contains(where: { $0 == "bindFailed" || $0 == "system" }) {
            return Layer(
                .firewall, .broken, "This computer could not send the probe's requests.", ours("hotspotctl check --verbose"))
        }
        return Layer(.firewall, .unknown, isHidden ? Self.hidden : "Unknown: no answer arrived.")
    }

    private var daemonLayer: Layer {
        switch daemon {
        case .fails(let failure): return Layer(.daemon, .broken, failure.message, failure.hint)
        case .answers(let reply, _, _):
            if let version = reply.version, version != hotspotdVersion {
                let shown = Renderer.safe(version, limit: 32)
                return Layer(
                    .daemon, .attention, "hotspotd \(shown) is running, but this is hotspotctl \(hotspotdVersion).",
                    "sudo systemctl restart hotspotd")
            }
            if status == nil {
                return Layer(
                    .daemon, .broken, "hotspotd is running, but does not watch \(name).",
                    "see Match= and ManageEthernet= in \(Renderer.safe(settings))")
            }
            return Layer(.daemon, .ok, "hotspotd \(hotspotdVersion) is running.")
        }
    }

    private var probe: Layer {
        switch check?.verdict {
        case "online", "captive", "limited":
            if outcomes.isEmpty {
                return Layer(
                    .probe, .ok, check?.verdict == "limited" ? "Nothing answered the probe." : "The Internet was probed.")
            }
            return Layer(
                .probe, .ok, "The Internet was probed (\(outcomes.count == 1 ? "one host" : "\(outcomes.count) hosts")).")
        case nil, _?: return Layer(.probe, .unknown, check?.detail.map { Renderer.safe($0) } ?? "The probe has no result.")
        }
    }

    private var portal: Layer {
        let origin = status?.portal.map { " at \(renderer.origin($0))" } ?? ""
        if isCaptive { return Layer(.portal, .ok, "A portal\(origin) wants a login.") }
        guard isOpen else { return Layer(.portal, .unknown, "Unknown: the probe got no clear answer.") }
        let none =
            reply?.withheld == true ? "No portal is in the way." : "There is no portal, or you are logged in to it."
        return Layer(.portal, .ok, status?.portal == nil ? none : "The portal\(origin) lets this computer through.")
    }

    private var helper: Layer {
        if reply == nil { return Layer(.helper, .unknown, "hotspotd does not answer.") }
        if helpers.isEmpty { return Layer(.helper, .attention, "No helper is installed.", "hotspotctl helpers") }
        if let name = status?.helper { return Layer(.helper, .ok, "\(Renderer.safe(name, limit: 64)) logs in here.\(pages)") }
        let off = (reply?.off ?? []).filter { $0.ssid == nil || $0.ssid == status?.ssid }
        if off.contains(where: { $0.helper == nil }) {
            return Layer(.helper, .ok, "All helpers are switched off for this network.")
        }
        let count = helpers.count { helper in helper.enabled && !off.contains { $0.helper == helper.name } }
        return Layer(.helper, .ok, "\(count) of \(helpers.count) helpers are switched on.\(pages)")
    }

    /// The browser that renders pages for helpers, as a sentence; empty if the settings want none.
    private var pages: String {
        let browsers = Set(helpers.compactMap(\.browser))
        if let path = browsers.first(where: { !$0.isEmpty }) {
            return " Pages that need scripts: \(Renderer.safe(path, limit: 200))."
        }
        return browsers.isEmpty ? "" : " No browser is installed for pages that need scripts (apt install chromium)."
    }

    private var sandbox: Layer {
        if let bare = helpers.first(where: { $0.missing?.isEmpty == false }) {
            let reasons = (bare.missing ?? []).map { Renderer.safe($0, limit: 200) }.joined(separator: ", ")
            return Layer(
                .sandbox, .attention, "\(Renderer.safe(bare.name, limit: 64)) runs without a sandbox: \(reasons).",
                "hotspotctl helpers --verbose")
        }
        let isSeen = helpers.contains { $0.containment?.isEmpty == false }
        return isSeen ? Layer(.sandbox, .ok, "Helpers run in sandboxes.") : Layer(.sandbox, .unknown, "No helper has run yet.")
    }

    private var login: Layer {
        guard let status, let state = StateName(rawValue: status.state) else {
            return Layer(.login, .unknown, "The state of the login is not known.")
        }
        switch state {
        case .presentingUI where status.prompt != nil:
            if let warning = status.warning {
                return Layer(.login, .attention, Renderer.safe(warning, limit: 600), ours("hotspotctl answer"))
            }
            if status.handsOver == true {
                return Layer(.login, .attention, "This login needs a browser.", ours("hotspotctl browse"))
            }
            return Layer(.login, .attention, "The portal waits for your answer.", ours("hotspotctl answer"))
        case .evaluating, .authenticating, .presentingUI, .maintaining:
            if let moment = status.nextLogin {
                return Layer(.login, .attention, "hotspotd \(renderer.tries(at: moment)).", ours("hotspotctl login"))
            }
            return Layer(
                .login, isOnline ? .ok : .attention, "A login is running.", isOnline ? nil : ours("hotspotctl login --wait"))
        case .loggingOff: return Layer(.login, .attention, "The session is ending.", "hotspotctl monitor")
        case .failure: return Layer(.login, .broken, "The login failed.", ours("hotspotctl explain"))
        case .inactive, .authenticated:
            if isCaptive { return Layer(.login, .attention, "You are not logged in yet.", ours("hotspotctl login --wait")) }
            guard isOpen else {
                let isDone = status.helper != nil
                return Layer(
                    .login, .unknown,
                    isDone
                        ? "You were logged in; hotspotd cannot tell whether you still are."
                        : "Unknown: the probe got no clear answer."
                )
            }
            let left = status.secondsRemaining.map { ", \(renderer.duration(seconds: $0)) left" } ?? ""
            return Layer(.login, .ok, status.helper == nil ? "No login is needed." : "You are logged in\(left).")
        }
    }

    private var internet: Layer {
        switch check?.verdict {
        case "online": Layer(.internet, .ok, "The Internet answers.")
        case "captive": Layer(.internet, .unknown, "Not reachable before the login.")
        case "limited":
            Layer(
                .internet, .broken,
                isOpen
                    ? "Only part of the Internet answers on \(name)."
                    : isAnswered
                        ? "Something answers on \(name), but not the Internet." : "The Internet does not answer on \(name).",
                ours("hotspotctl check --verbose"))
        case "none" where check?.interface != nil:
            Layer(.internet, .broken, "There is no network.", ours("hotspotctl check --verbose"))
        case nil, _?: Layer(.internet, .unknown, "Unknown: the probe gave no result.")
        }
    }

    private var desktopLayer: Layer {
        switch desktop {
        case nil: Layer(.desktop, .ok, "NetworkManager does not run.")
        case .unknown: Layer(.desktop, .ok, "NetworkManager does not check for portals.")
        case .full: Layer(.desktop, .ok, "NetworkManager reports full connectivity.")
        case .offline, .portal, .limited:
            isOnline
                ? Layer(
                    .desktop, .attention, "NetworkManager has not noticed yet that the Internet answers.",
                    "nmcli networking connectivity check")
                : Layer(.desktop, .ok, "NetworkManager also reports no Internet.")
        }
    }
}

extension Layer {
    init(_ name: LayerName, _ state: State, _ sentence: String, _ command: String? = nil) {
        self.init(name: name, state: state, sentence: sentence, command: command)
    }
}
