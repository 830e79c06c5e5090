import HotspotCore
import Testing

@testable import ControlAPI
@testable import hotspotctl

/// From facts to layers, as a table.
@Suite struct DiagnosisTests {
    /// A laptop behind a portal that waits for an answer.
    private static func captive(_ change: (inout InterfaceStatus) -> Void = { _ in }) -> DoctorFacts {
        var status = InterfaceStatus(interface: "wlan0", state: .presentingUI, since: 0)
        status.ssid = "Cafe Aroma"
        status.portal = "https://portal.aroma.example"
        status.captive = true
        status.helper = "form"
        status.prompt = "p1"
        change(&status)
        return facts(status, "captive")
    }

    private static func online(_ change: (inout InterfaceStatus) -> Void = { _ in }) -> DoctorFacts {
        var status = InterfaceStatus(interface: "wlan0", state: .authenticated, since: 0)
        status.ssid = "Cafe Aroma"
        status.captive = false
        status.helper = "form"
        change(&status)
        return facts(status, "online")
    }

    private static func facts(_ status: InterfaceStatus, _ verdict: String) -> DoctorFacts {
        var check = CheckReply(verdict: verdict, interface: "wlan0")
        check.requests = ["GET http://connectivitycheck.gstatic.com/generate_204 → 204 in 12 ms"]
        var helper = HelperStatus(
            name: "form", displayName: "Portal form", enabled: true, priority: 0, ssids: [], activation: "stdio", running: true,
            strikes: 0, quarantined: false, file: "/f")
        helper.containment = ["sandboxed"]
        return DoctorFacts(
            interfaces: [
                .init(name: "wlan0", kind: .wireless, isUp: true, addresses: ["10.21.1.7"], hasDefaultRoute: true),
                .init(name: "eth0", kind: .wired, isUp: false),
            ], switches: [.on], resolvers: ["127.0.0.53"],
            daemon: .answers(
                StatusReply(interfaces: [status], version: hotspotdVersion), helpers: [helper], check: check), desktop: .portal)
    }

    private static func changed(_ facts: DoctorFacts, _ change: (inout DoctorFacts) -> Void) -> DoctorFacts {
        var facts = facts
        change(&facts)
        return facts
    }

    private static func with(_ facts: DoctorFacts, requests: [String]) -> DoctorFacts {
        guard case .answers(let status, let helpers, var check) = facts.daemon else { return facts }
        check?.requests = requests
        return changed(facts) { $0.daemon = .answers(status, helpers: helpers, check: check) }
    }

    /// The portal became silent while its question waits: its earlier answers say nothing about the present.
    @Test func aPortalThatIsSilentNowIsNotSaidToBeThere() {
        var status = InterfaceStatus(interface: "wlan0", state: .presentingUI, since: 0)
        (status.ssid, status.portal, status.captive, status.prompt) = ("Cafe Aroma", "https://portal.aroma.example", true, "p1")
        let silent =
            "GET http://connectivitycheck.gstatic.com/generate_204 → timeout: The server did not answer in time. in 3000 ms"
        let layers = Diagnosis(Self.with(Self.facts(status, "limited"), requests: [silent])).layers
        func sentence(_ name: LayerName) -> String? { layers.first { $0.name == name }?.sentence }
        #expect(sentence(.portal) == "Unknown: the probe got no clear answer.")
        // The check resolved the name before it waited for the server.
        #expect(sentence(.names) == "Names resolve.")
    }

    @Test func theInterfaceThatTheDaemonCheckedIsLookedAt() {
        var (online, asks) = (
            InterfaceStatus(interface: "net0", state: .authenticated, since: 0),
            InterfaceStatus(interface: "net1", state: .presentingUI, since: 0)
        )
        (online.ssid, asks.ssid) = ("wired", "Cafe")
        let check = CheckReply(verdict: "captive", interface: "net1")
        let facts = Self.changed(Self.online()) {
            $0.daemon = .answers(StatusReply(interfaces: [online, asks], version: hotspotdVersion), helpers: [], check: check)
        }
        #expect(facts.subject == "net1" && Diagnosis(facts).needsAttention)
        #expect(Self.changed(facts) { $0.wanted = "net0" }.subject == "net0")
    }

    @Test(arguments: [
        (LayerName.names, "limited", ["GET http://a.example/ → dnsTimeout: It does not answer. in 5000 ms"]),
        (.internet, "none", []),
    ]) func theNextCommandIsForTheSameInterface(layer: LayerName, verdict: String, requests: [String]) {
        let all = ["net0", "net1"].map { name in
            var status = InterfaceStatus(interface: name, state: .authenticated, since: 0)
            status.ssid = "Cafe"
            return status
        }
        var check = CheckReply(verdict: verdict, interface: "net1")
        check.requests = requests
        let facts = Self.changed(Self.online()) {
            $0.daemon = .answers(StatusReply(interfaces: all, version: hotspotdVersion), helpers: [], check: check)
        }
        let seen = Diagnosis(facts).layers.first { $0.name == layer }
        #expect(seen?.state == .broken && seen?.command == "hotspotctl check --verbose net1")
    }

    @Test func anInterfaceThatIsNamedIsJoinedByItsName() {
        let facts = Self.changed(Self.online()) {
            ($0.wanted, $0.daemon) = ("wlan0", .fails(Self.silent))
            $0.interfaces[0].isUp = false
        }
        let seen = Diagnosis(facts).layers.first { $0.name == .association }
        #expect(seen?.command == "hotspotctl list wlan0, then hotspotctl join --interface wlan0 SSID")
    }

    @Test(arguments: [
        ([], "1 of 1 helpers are switched on."),
        ([SwitchedOff(helper: "form", ssid: "Cafe Aroma")], "0 of 1 helpers are switched on."),
        ([SwitchedOff(helper: nil, ssid: "Cafe Aroma")], "All helpers are switched off for this network."),
        ([SwitchedOff(helper: nil, ssid: "Home")], "1 of 1 helpers are switched on."),
    ]) func helpersThatAreOffForThisNetworkAreNotCounted(off: [SwitchedOff], sentence: String) {
        let facts = Self.changed(Self.online { $0.helper = nil }) {
            guard case .answers(var status, let helpers, let check) = $0.daemon else { return }
            status.off = off
            $0.daemon = .answers(status, helpers: helpers, check: check)
        }
        #expect(Diagnosis(facts).layers.first { $0.name == .helper }?.sentence == sentence)
    }

    @Test(arguments: [
        ("/usr/bin/chromium", "form logs in here. Pages that need scripts: /usr/bin/chromium."),
        ("", "form logs in here. No browser is installed for pages that need scripts (apt install chromium)."),
        (nil, "form logs in here."),
    ]) func theBrowserOfPagesIsNamed(path: String?, sentence: String) {
        let facts = Self.changed(Self.online()) {
            guard case .answers(let status, var helpers, let check) = $0.daemon else { return }
            helpers[0].browser = path
            $0.daemon = .answers(status, helpers: helpers, check: check)
        }
        #expect(Diagnosis(facts).layers.first { $0.name == .helper }?.sentence == sentence)
    }

    @Test func whereNothingAnswersNothingIsCalledOpenOrDone() {
        var status = InterfaceStatus(interface: "wlan0", state: .authenticated, since: 0)
        (status.ssid, status.helper, status.portal) = ("Cafe Aroma", "form", "https://portal.aroma.example")
        let silent = Self.with(Self.facts(status, "limited"), requests: ["GET http://probe.example/ → timeout in 5000 ms"])
        let layers = Diagnosis(silent).layers
        for name in [LayerName.portal, .login] { #expect(layers.first { $0.name == name }?.state == .unknown) }
        #expect(layers.first { $0.name == .internet }?.sentence == "The Internet does not answer on wlan0.")
    }

    /// A probe of an address needs no nameserver, so it proves nothing about them.
    @Test(arguments: [
        ("http://192.0.2.1/generate_204", Layer.State.unknown), ("http://[2001:db8::a]:80/", .unknown),
        ("http://probe.example:8080/", .ok),
    ]) func onlyAServerWithANameTellsOfNames(url: String, state: Layer.State) {
        var check = CheckReply(verdict: "online", interface: "wlan0")
        check.requests = ["GET \(url) → 204 in 3 ms"]
        let facts = Self.changed(Self.online { $0.captive = false }) {
            guard case .answers(let status, let helpers, _) = $0.daemon else { return }
            $0.daemon = .answers(status, helpers: helpers, check: check)
        }
        #expect(Diagnosis(facts).layers.first { $0.name == .names }?.state == state)
    }

    /// The portal answered at the remembered address of the probe's server, and no nameserver answered.
    @Test func anAnswerAtARememberedAddressTellsNothingOfNames() {
        let early = "GET http://probe.example/ at 192.0.2.80 → 302 in 1 ms"
        let online = Diagnosis(Self.with(Self.changed(Self.online()) { $0.desktop = .full }, requests: [early]))
        #expect(online.layers.first { $0.name == .names }?.state == .unknown)
        #expect(online.verdict == "Online; name resolution was not tested.")
        let silent = "GET http://probe.example/ → dnsTimeout: No nameserver answered. in 2400 ms"
        let limited = Diagnosis(Self.with(Self.facts(Self.unsure, "limited"), requests: [silent, early])).layers
        #expect(limited.first { $0.name == .names }?.sentence == "The resolvers do not answer.")
        let unasked = Diagnosis(Self.with(Self.facts(Self.unsure, "limited"), requests: [early])).layers
        #expect(unasked.first { $0.name == .internet }?.sentence == "Something answers on wlan0, but not the Internet.")
    }

    /// An interface in a network about which the prober reports nothing.
    private static var unsure: InterfaceStatus {
        var status = InterfaceStatus(interface: "wlan0", state: .inactive, since: 0)
        status.ssid = "Cafe Aroma"
        return status
    }

    @Test(arguments: [
        ("resolv.conf", "from resolv.conf"), ("settings", "from the settings"), ("NetworkManager", "from NetworkManager"),
    ]) func theResolversThatWereAskedAreNamed(source: String, words: String) {
        var status = Self.unsure
        status.link = LinkDetails(
            addresses: [], gateways: [], nameservers: ["192.0.2.53", "192.0.2.54"], nameserversFrom: source)
        func names(_ requests: [String]) -> String? {
            Diagnosis(Self.with(Self.facts(status, "limited"), requests: requests)).layers.first { $0.name == .names }?.sentence
        }
        let silent = "GET http://a.example/ → dnsTimeout: No nameserver answered. in 2400 ms"
        let good = "GET http://b.example/ → 503 in 9 ms"
        #expect(names([silent]) == "The resolvers \(words) do not answer: 192.0.2.53, 192.0.2.54.")
        #expect(names([silent, good]) == "The resolvers \(words) do not answer every question: 192.0.2.53, 192.0.2.54.")
        #expect(names([good]) == "Names resolve (resolvers \(words)).")
    }

    /// A silent Internet gives no reason to suspect the firewall, and a missing answer is not the DHCP server's fault.
    @Test func whatWasNotSeenIsNotSaid() {
        let silent = "GET http://a.example/ → timeout: The server did not answer in time. in 3000 ms"
        let layers = Diagnosis(Self.with(Self.facts(Self.unsure, "limited"), requests: [silent])).layers
        let firewall = layers.first { $0.name == .firewall }
        #expect(firewall?.state == .unknown && firewall?.command == nil)
        let bare = Diagnosis(Self.changed(Self.captive()) { $0.interfaces[0].addresses = [] })
        #expect(bare.layers.first { $0.name == .address }?.sentence == "wlan0 has no address.")
    }

    /// The probe's time ran out before the requests got an answer.
    @Test(arguments: [
        ("noAnswer", Layer.State.unknown, "The probe could not test name resolution."),
        ("dnsTimeout", .broken, "The resolvers do not answer."),
    ]) func aProbeWithoutAnAnswerHasAsked(detail: String, state: Layer.State, sentence: String) {
        var check = CheckReply(verdict: "limited", interface: "wlan0", detail: detail)
        check.requests = []
        let facts = Self.changed(Self.online { $0.captive = nil }) {
            guard case .answers(let status, let helpers, _) = $0.daemon else { return }
            $0.daemon = .answers(status, helpers: helpers, check: check)
        }
        let layers = Diagnosis(facts).layers
        let names = layers.first { $0.name == .names }
        #expect(names?.state == state && names?.sentence == sentence)
        if state == .unknown { #expect(layers.first { $0.name == .probe }?.sentence == "Nothing answered the probe.") }
    }

    @Test func onlineNeedsNothing() {
        let diagnosis = Diagnosis(Self.changed(Self.online()) { $0.desktop = .full })
        #expect(!diagnosis.needsAttention && diagnosis.command == nil && diagnosis.interface == "wlan0")
        #expect(diagnosis.layers.map(\.name) == LayerName.allCases)
        #expect(diagnosis.layers.allSatisfy { $0.state == .ok }, "\(diagnosis.layers.filter { $0.state != .ok })")
    }

    private static let silent = Failure(.notRunning, "The daemon hotspotd is not running.", hint: "sudo systemctl start hotspotd")

    static let broken: [(DoctorFacts, LayerName, String?)] = [
        (
            changed(captive()) {
                $0.interfaces = []; $0.daemon = .fails(silent)
            }, .radio, "sudo dmesg | grep -i firmware"
        ),
        (changed(captive()) { $0.wanted = "wlan7" }, .radio, "ip link"),
        (
            changed(captive()) {
                $0.switches = [.on, .offByKey]; $0.interfaces[0].isUp = false
            }, .rfkill, "rfkill list"
        ),
        (
            changed(captive()) {
                $0.switches = [.offByProgram]; $0.interfaces[0].isUp = false
            }, .rfkill, "rfkill unblock wlan"
        ),
        (
            changed(captive { $0.ssid = nil }) {
                $0.interfaces[0].isUp = false; $0.desktop = nil
            }, .association,
            "hotspotctl list, then hotspotctl join SSID"
        ),
        (changed(captive()) { $0.interfaces[0].addresses = [] }, .address, "nmcli device reapply wlan0"),
        (captive { $0.problems = [Problem(.noAddress, "Joined, but there is no address yet.")] }, .address, nil),
        (
            changed(captive { $0.captive = nil }) {
                $0.interfaces[0].hasDefaultRoute = false
                $0.daemon = .fails(silent)
            }, .gateway, "ip route show table all dev wlan0"
        ),
        (
            captive {
                $0.problems = [Problem(.addressConflict, "docker0 has it.", hint: "sudo ip address del 10.77.0.1/16 dev docker0")]
            }, .address, "sudo ip address del 10.77.0.1/16 dev docker0"
        ),
        (
            captive { $0.problems = [Problem(.noNameservers, "No resolver.", hint: "set [Probe] Nameservers=")] }, .resolvers,
            "set [Probe] Nameservers="
        ),
        (
            with(captive(), requests: ["GET http://a.example/ → dnsTimeout: It does not answer. in 5000 ms"]), .names,
            "hotspotctl check --verbose"
        ),
        (
            with(captive(), requests: ["GET http://a.example/ → system: The request could not be made. in 0 ms"]), .firewall,
            "hotspotctl check --verbose"
        ),
        (
            with(captive(), requests: ["GET http://a.example/ → refusedHere: A firewall rule refused it. in 0 ms"]), .firewall,
            "sudo nft list ruleset"
        ),
        (changed(captive()) { $0.daemon = .fails(silent) }, .daemon, "sudo systemctl start hotspotd"),
        (captive { $0.problems = [Problem(.proberMissing, "No prober.")] }, .probe, nil),
        (
            captive { $0.problems = [Problem(.unclaimedCaptive, "No helper.", hint: "hotspotctl browse")] }, .helper,
            "hotspotctl browse"
        ),
        (captive { $0.problems = [Problem(.sandboxUnavailable, "No sandbox.")] }, .sandbox, nil),
        (captive { $0.state = "failure" }, .login, "hotspotctl explain"),
    ]

    @Test(arguments: broken.indices) func allLayersAreLookedAtBehindTheOneThatIsBroken(_ index: Int) throws {
        let (facts, name, command) = Self.broken[index]
        let diagnosis = Diagnosis(facts)
        let layer = try #require(diagnosis.layers.first { $0.state == .broken }, "\(diagnosis.layers)")
        #expect(layer.name == name && layer.command == command)
        #expect(diagnosis.verdict == layer.sentence && diagnosis.command == command && diagnosis.needsAttention)
        let place = try #require(LayerName.allCases.firstIndex(of: name))
        #expect(diagnosis.layers.map(\.name) == LayerName.allCases)
        for later in diagnosis.layers[(place + 1)...] { #expect(later == facts.layer(later.name)) }
        for earlier in diagnosis.layers[..<place] { #expect(earlier.state != .broken) }
    }

    /// Two layers are broken: the first is the verdict, and the second is shown with its own command.
    @Test func whatIsBrokenBehindIsShownToo() {
        let facts = Self.with(
            Self.captive { $0.problems = [Problem(.addressConflict, "virbr0 has the gateway's address.")] },
            requests: ["GET http://a.example/ → dnsTimeout: It does not answer. in 5000 ms"])
        let diagnosis = Diagnosis(facts)
        #expect(diagnosis.layers.filter { $0.state == .broken }.map(\.name) == [.address, .names])
        #expect(diagnosis.verdict == "virbr0 has the gateway's address.")
        let overlap = Diagnosis(Self.captive { $0.problems = [Problem(.addressOverlap, "podman0 has the network.")] })
        #expect(overlap.layers.first { $0.name == .address }?.state == .attention)
    }

    /// Without an interface and a daemon no layer claims what it cannot know.
    @Test func whatIsAbsentIsNotJudged() {
        let facts = Self.changed(Self.captive()) { ($0.interfaces, $0.daemon) = ([], .fails(Self.silent)) }
        let layers = Diagnosis(facts).layers
        #expect(layers.filter { $0.state == .broken }.map(\.name) == [.radio, .daemon])
        #expect(layers.first { $0.name == .helper }?.sentence == "hotspotd does not answer.")
    }

    static let attention: [(DoctorFacts, LayerName, String?)] = [
        (captive(), .login, "hotspotctl answer"),
        (captive { $0.handsOver = true }, .login, "hotspotctl browse"),
        (captive { ($0.handsOver, $0.warning) = (true, "This may be an impostor.") }, .login, "hotspotctl answer"),
        (captive { $0.state = "authenticating" }, .login, "hotspotctl login --wait"),
        (captive { $0.state = "loggingOff" }, .login, "hotspotctl monitor"),
        (online(), .desktop, "nmcli networking connectivity check"),
        (
            changed(online()) {
                $0.desktop = .full; $0.resolvers = []
            }, .resolvers, "ls -l /etc/resolv.conf"
        ),
        // No layer is called broken while the Internet answers.
        (
            changed(online()) {
                $0.desktop = .full; $0.interfaces[0].hasDefaultRoute = false
            }, .gateway, "ip route show table all dev wlan0"
        ),
        (changed(online { $0.problems = [Problem(.sandboxUnavailable, "No sandbox.")] }) { $0.desktop = .full }, .sandbox, nil),
    ]

    @Test(arguments: attention.indices) func theVerdictIsWhatWaitsForTheUser(_ index: Int) {
        let (facts, name, command) = Self.attention[index]
        let diagnosis = Diagnosis(facts)
        #expect(diagnosis.layers.filter { $0.state == .attention }.map(\.name) == [name])
        #expect(!diagnosis.layers.contains { $0.state == .broken } && diagnosis.needsAttention && diagnosis.command == command)
    }

    @Test func withoutTheDaemonTheLayersOfThisComputerAreThere() {
        let diagnosis = Diagnosis(Self.changed(Self.captive()) { $0.daemon = .fails(Self.silent) })
        #expect(diagnosis.layers[..<6].allSatisfy { $0.state == .ok }, "\(diagnosis.layers)")
        #expect(diagnosis.verdict == "The daemon hotspotd is not running.")
    }

    @Test func withoutACableTheDaemonIsLookedAtAllTheSame() {
        let diagnosis = Diagnosis(
            Self.changed(Self.captive { $0.ssid = nil }) {
                ($0.interfaces[0].kind, $0.interfaces[0].isUp) = (.wired, false)
            })
        #expect(diagnosis.verdict == "wlan0 has no cable plugged in, or is switched off.")
        for (name, sentence) in [
            (LayerName.daemon, "hotspotd \(hotspotdVersion) is running."), (.helper, "form logs in here."),
            (.sandbox, "Helpers run in sandboxes."), (.login, "The portal waits for your answer."),
        ] { #expect(diagnosis.layers.first { $0.name == name }?.sentence == sentence) }
    }

    @Test func theSettingsAreThoseThatTheDaemonRead() {
        for (told, shown) in [("/srv/h.conf", "/srv/h.conf"), (nil, "/etc/hotspotd/hotspotd.conf")] {
            let facts = Self.changed(Self.captive()) {
                $0.interfaces[0].name = "wlan7"
                $0.wanted = "wlan7"
                $0.daemon = .answers(
                    StatusReply(interfaces: [], version: hotspotdVersion, settings: told), helpers: [], check: nil)
            }
            let layer = Diagnosis(facts).layers.first { $0.name == .daemon }
            #expect(layer?.command == "see Match= and ManageEthernet= in \(shown)")
            var check = CheckReply(verdict: "online")
            check.settings = told
            let lines = Renderer(style: .plain, now: 0).lines(check, verbose: true)
            #expect(lines.last?.hasSuffix(" under [Probe] in \(shown).") == true)
        }
    }

    @Test func aTunnelIsNamedAndIsNoLinkToLogInOn() {
        let facts = Self.changed(Self.captive()) {
            $0.interfaces.insert(.init(name: "wg0", kind: .tunnel, isUp: true, hasDefaultRoute: true), at: 0)
            $0.daemon = .fails(Self.silent)
        }
        let diagnosis = Diagnosis(facts)
        #expect(diagnosis.interface == "wlan0")
        #expect(diagnosis.layers.first { $0.name == .vpn }?.sentence.hasPrefix("wg0 is up") == true)
    }

    @Test func aCableNeedsNoRadio() {
        let diagnosis = Diagnosis(
            Self.changed(Self.online { $0.problems = [Problem(.noWireless, "There is no Wi-Fi.")] }) {
                $0.interfaces[0].kind = .wired
                $0.switches = [.offByKey]
                $0.desktop = .full
            })
        #expect(!diagnosis.needsAttention, "\(diagnosis.layers.filter { $0.state != .ok })")
    }

    @Test func everyCodeHasALayerAndTheFatalOnesStop() {
        for code in ProblemCode.allCases {
            let diagnosis = Diagnosis(Self.captive { $0.problems = [Problem(code, "It is so.")] })
            let layer = diagnosis.layers.first { $0.name == code.layer }
            #expect(layer?.sentence == "It is so.", "\(code)")
            #expect(layer?.state == (ProblemCode.fatal.contains(code) ? .broken : .attention), "\(code)")
        }
    }
}
