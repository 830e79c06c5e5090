import EventLoop
import Glibc
import HelperHost
import HotspotCore
import HotspotMachine
import LinkState
import Logging
import Store
import Testing
import Varlink
import Vault

@testable import hotspotd

/// A filter cycle over a list that the test writes, with helpers that are real processes. ``close()`` removes everything.
@LoopActor final class FilterBench: DaemonEvents {
    nonisolated let folder: String
    let services: Services
    private(set) var cycle: FilterCycle!
    /// The networks in sight.
    var scan: [ScannedBSS] = []
    /// How often labels changed, or a tick passed.
    var changes = 0
    /// The helpers that labelled "Cafe" when it was last announced.
    var announced: [String] = []
    /// The journal's content: each helper that received networks, and their names.
    var disclosed: [(helper: String, names: [String])] = []
    var ignored: [String: Int] = [:]
    /// Called with each change of the status.
    var onStatus: () -> Void = {}
    /// All steps of all interfaces.
    var steps: [Step] = []
    private var entries: [HelperEntry] = []

    init(
        interval: Duration = .milliseconds(50), timeout: Duration = .seconds(45),
        _ adjust: (inout HostConfiguration) -> Void = { _ in }
    ) throws {
        var template = Array("/tmp/hotspotd-filter-XXXXXX".utf8CString)
        try #require(mkdtemp(&template) != nil)
        folder = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        for name in ["run", "notes", "programs"] { mkdir("\(folder)/\(name)", 0o755) }
        var settings = Settings(environment: ["STATE_DIRECTORY": folder + "/state", "RUNTIME_DIRECTORY": folder + "/run"])
        settings.filterInterval = interval
        settings.policy.commandTimeout = timeout
        var configuration = HostConfiguration(runtimeDirectory: folder + "/run", hiddenPaths: [folder + "/state"])
        adjust(&configuration)
        let store = try Store(directory: folder + "/state")
        let vault = try Vault(keyFile: folder + "/state/vault.key", hasSealedRows: false)
        var log = Logger(label: "filter") { _ in SwiftLogNoOpLogHandler() }
        log.logLevel = .critical
        services = Services(
            settings: settings, store: store, vault: vault, host: HelperHost(configuration: configuration), log: log)
        cycle = FilterCycle(services: services) { [weak self] in ScanClaims.groups(self?.scan ?? []) }
        services.events = self
        cycle.onChange = { [weak self] in
            self?.changes += 1
            self?.announced = self?.labellers("Cafe") ?? []
        }
        cycle.onIgnored = { [weak self] helper, count in self?.ignored[helper, default: 0] += count }
    }

    // MARK: Events of the daemon

    func stepTaken(_ step: Step, on interface: String) { steps.append(step) }
    func scanListDisclosed(_ networks: [Network], to helper: String) {
        disclosed.append((helper, networks.map(\.ssid).sorted()))
    }
    func attemptBegan() {}
    func statusChanged() { onStatus() }
    func promptsChanged() {}
    func networkListChanged() {}
    func strikesChanged() {}
    func linksChanged() {}
    func giveUp(because reason: String) {}
    func gateChanged() {}
    func loginProven(on index: Int) {}
    func facts(for link: LinkSnapshot) -> LinkFacts? { nil }
    func disassociate(_ index: Int, keepingAway ssid: SSID?, for duration: Duration?) -> Bool { false }
    func holdReleased(_ ssid: SSID) {}

    /// A helper. It writes down each command, waits as long as the file `NAME.hold` (or `NAME.METHOD.hold`, for one method) exists, and answers
    /// FilterScanList with the content of `NAME.answer`, Evaluate with `NAME.evaluation` or high, and everything else with `NAME.METHOD.reply` or
    /// success.
    nonisolated private static func program(_ folder: String, _ name: String) -> String {
        """
        #!/usr/bin/python3 -IS
        import json, os, sys, time
        data = b""
        while not data.endswith(b"\\0"):
            chunk = os.read(0, 65536)
            if not chunk: sys.exit(0)
            data += chunk
        call = json.loads(data[:-1])
        method = call["method"].rsplit(".", 1)[1]
        notes = "\(folder)/notes/"
        me = notes + "\(name)."
        part = f"{notes}part.{time.monotonic_ns()}.{os.getpid()}"
        with open(part, "w") as file: json.dump(call["parameters"], file)
        os.rename(part, f"{me}{method}.{time.monotonic_ns():020}.told")
        while os.path.exists(me + "hold") or os.path.exists(f"{me}{method}.hold"): time.sleep(0.002)
        if os.path.exists(me + "late"): sys.stdin.buffer.read()
        if method == "FilterScanList":
            try: answer = open(me + "answer").read()
            except FileNotFoundError: answer = "{}"
        elif method == "Evaluate":
            try: answer = open(me + "evaluation").read()
            except FileNotFoundError: answer = '{"confidence": "high"}'
        else:
            try: answer = open(f"{me}{method}.reply").read()
            except FileNotFoundError: answer = '{"reply": {"result": "%s"}}' % ("failure" if os.path.exists(me + "refuses") else "success")
        os.write(1, b'{"parameters":' + answer.encode() + b"}\\0")
        """
    }

    func add(
        _ name: String, ssids: String = "", security: Set<Security> = [], scanList: Bool = true
    ) throws {
        let path = "\(folder)/programs/\(name)"
        write(path, Self.program(folder, name), mode: 0o755)
        let spec = HelperSpec(
            name: name, displayName: "The \(name)", activation: .stdio(exec: [path]), ssids: try SSIDPattern.list(ssids),
            security: security, scanList: scanList, readWritePaths: [folder + "/notes"])
        entries.removeAll { $0.spec.name == name }
        entries.append(HelperEntry(spec: spec, file: "\(folder)/\(name).helper"))
        load()
    }

    /// A prober that always gives this answer; it replaces the earlier prober.
    func addProber(_ answer: String, _ name: String = "prober") {
        let path = "\(folder)/programs/\(name)"
        let program = """
            #!/usr/bin/python3 -IS
            import socket
            listener = socket.socket(fileno=3)
            while True:
                connection, _ = listener.accept()
                while not connection.recv(65536).endswith(b"\\0"): pass
                connection.sendall(b'{"parameters":\(answer)}\\0')
                connection.close()
            """
        write(path, program, mode: 0o755)
        services.host.setProber(exec: [path])
    }

    func remove(_ name: String) {
        entries.removeAll { $0.spec.name == name }
        load()
    }

    private func load() {
        services.host.setHelpers(entries)
        cycle.helpersChanged()
    }

    func `switch`(helper: String?, ssid: SSID?, on: Bool) throws {
        try services.store.setEnabled(helper: helper, ssid: ssid?.hex, enabled: on)
        cycle.helpersChanged()
    }

    // MARK: Behaviour of helpers

    /// A helper's answer to FilterScanList: the members of `parameters`.
    func answers(_ name: String, _ json: String) { write("\(folder)/notes/\(name).answer", json) }

    /// A helper's answer to Evaluate: the whole of `parameters`.
    func evaluates(_ name: String, _ json: String) { write("\(folder)/notes/\(name).evaluation", json) }

    /// A helper's reply to another command.
    func replies(_ name: String, to method: String, _ json: String) {
        write("\(folder)/notes/\(name).\(method).reply", #"{"reply": \#(json)}"#)
    }

    func labels(_ name: String, _ annotations: [(String, String)]) {
        let entries = annotations.map { #"{"ssidHex": "\#(SSID(printable: $0.0)!.hex)", \#($0.1)}"# }
        answers(name, #"{"annotations": [\#(entries.joined(separator: ", "))]}"#)
    }

    /// Makes a helper answer failure to all commands except Evaluate.
    func refuses(_ name: String) { write("\(folder)/notes/\(name).refuses", "") }

    func hold(_ name: String) { write("\(folder)/notes/\(name).hold", "") }
    func letGo(_ name: String) { unlink("\(folder)/notes/\(name).hold") }
    func answerAfterTheEnd(_ name: String) { write("\(folder)/notes/\(name).late", "") }

    /// The parameters of a helper's calls of one method, in order.
    func told(_ name: String, _ method: String = "FilterScanList") -> [JSONValue] {
        names(in: folder + "/notes").filter { $0.hasPrefix("\(name).\(method).") && $0.hasSuffix(".told") }.sorted()
            .compactMap { try? Coding.decode(JSONValue.self, from: read("\(folder)/notes/\($0)")) }
    }

    /// The names of the networks in one question.
    func asked(_ question: JSONValue?) -> [String] {
        (question?["networks"]?.array ?? []).compactMap { $0["ssid"]?.string }.sorted()
    }

    // MARK: The user's view

    func see(_ names: (String, Security)...) {
        scan = names.enumerated().map { number, name in
            ScannedBSS(
                ssid: SSID(printable: name.0)!, bssid: BSSID(octets: [2, 0, 0, 0, 0, UInt8(number)])!, frequency: 2412,
                signal: -50 - number, security: name.1, lastSeen: 0, interface: "wlan0")
        }
    }

    /// The list as it is shown: the networks in their order, with the helpers that label them by an answer.
    var shown: [(name: String, security: Security, labels: [ScanClaims.NetworkClaim])] {
        let groups = ScanClaims.groups(scan)
        cycle.cover(groups)
        let switches = services.store.switches
        return groups.map { group in
            let claims = cycle.coverage.claims(
                for: group, labels: cycle.labels, remembered: nil, credentials: [],
                isDisabled: { switches.isOff(helper: $0, group.network) })
            return (group.ssid.description, group.security, claims.filter { $0.source == .filter })
        }
    }

    func labellers(_ name: String, _ security: Security = .open) -> [String] {
        shown.first { $0.name == name && $0.security == security }?.labels.map(\.helper) ?? []
    }

    /// Checks every few milliseconds; the time is only an upper limit.
    func eventually(_ condition: () -> Bool) async -> Bool {
        for _ in 0..<6000 {
            if condition() { return true }
            await pause(.milliseconds(5))
        }
        return condition()
    }

    func pause(_ duration: Duration) async {
        var source: EventSource?
        await withCheckedContinuation { continuation in
            source = try! EventLoop.shared.schedule(after: duration) { continuation.resume() }
        }
        source?.cancel()
    }

    func once() async {
        await withCheckedContinuation { continuation in cycle.once { continuation.resume() } }
    }

    /// Ends the helpers, checks that none is left, and removes the folder.
    func close() async {
        cycle.watch(0)
        await withCheckedContinuation { continuation in services.host.shutDown { continuation.resume() } }
        #expect(services.host.processCount == 0)
        remove(tree: folder)
    }

    // MARK: Files

    func write(_ path: String, _ text: String, mode: mode_t = 0o644) {
        let part = path + ".new"
        let descriptor = open(part, O_CREAT | O_WRONLY | O_TRUNC | O_CLOEXEC, mode)
        let octets = Array(text.utf8)
        #expect(Glibc.write(descriptor, octets, octets.count) == octets.count)
        Glibc.close(descriptor)
        rename(part, path)
    }

    private func read(_ path: String) -> [UInt8] {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return [] }
        defer { Glibc.close(descriptor) }
        var octets: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 64 * 1024)
        while case let count = Glibc.read(descriptor, &chunk, chunk.count), count > 0 { octets += chunk[..<count] }
        return octets
    }

    private func names(in folder: String) -> [String] {
        guard let stream = opendir(folder) else { return [] }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
            if name != ".", name != ".." { names.append(name) }
        }
        return names
    }

    private func remove(tree path: String) {
        for name in names(in: path) where unlink("\(path)/\(name)") != 0 { remove(tree: "\(path)/\(name)") }
        rmdir(path)
    }
}
