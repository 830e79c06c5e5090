import EventLoop
import Glibc
import HelperHost
import HotspotCore
import Varlink

/// The commands of the contract, one after the other, with a made-up network on a link that leads nowhere.
@LoopActor final class Rehearsal {
    private let spec: HelperSpec
    private let host: HelperHost
    private let folder: String
    private var failures = 0
    /// A helper that says nothing for as long as this would only be cut off later by the daemon.
    private let patience = Duration.seconds(45)

    init(_ spec: HelperSpec, file: String) {
        self.spec = spec
        var template = Array("/tmp/hotspot-helper-test-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else {
            print("no folder below /tmp: \(String(cString: strerror(errno)))")
            exit(2)
        }
        folder = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        host = HelperHost(
            configuration: HostConfiguration(
                runtimeDirectory: folder + "/run", hiddenDirectories: [], scratchDirectory: folder + "/scratch"))
        host.setHelpers([HelperEntry(spec: spec, file: file)])
    }

    func run() async {
        print("\(spec.name) («\(spec.displayName)»), \(spec.activation.word)")
        await play("Describe") { host.describe(spec.name, completion: $0) }
        let network = self.network
        await play("FilterScanList") {
            host.send(.filterScanList, to: spec.name, parameters: ["networks": [Coding.value(network)]], completion: $0)
        }
        let link = Link(
            attempt: "rehearsal-1", association: "rehearsal", interface: network.interface, index: 1,
            addresses: ["127.0.0.1/8"], gateways: [], nameservers: [])
        await play("Evaluate") {
            host.send(
                .evaluate, to: spec.name, parameters: ["network": Coding.value(network), "link": Coding.value(link)],
                completion: $0)
        }
        let words = host.containment(of: spec.name)
        if !words.isEmpty { print("It ran with: \(words.joined(separator: ", "))") }
        let missing = host.missingContainment(of: spec.name)
        if !missing.isEmpty, !words.isEmpty { print("Not to be had here: \(missing.joined(separator: ", "))") }
        if let ignored = host.ignoredAnswers[spec.name] {
            print("It answered \(ignored) times more than it was asked; only the first answer counts.")
        }
        print(failures == 0 ? "Nothing is wrong so far." : "\(failures) of 3 answers are not as they should be.")
        await withCheckedContinuation { continuation in host.shutDown { continuation.resume() } }
        for path in ["/run/helpers", "/run", "/scratch", ""] { rmdir(folder + path) }
        EventLoop.shared.stop(code: failures == 0 ? 0 : 1)
    }

    /// A network that the helper's file covers, if it names one without wildcards; else one of no particular name.
    private var network: Network {
        let named = spec.ssids.lazy.compactMap { SSID(printable: $0.source) }.first { self.spec.covers($0, self.security) }
        return Network(
            ssid: named ?? SSID(printable: "Rehearsal")!, bssid: HardwareAddress("02:00:00:00:00:01"), interface: "lo",
            signalStrength: 0.8, security: security)
    }

    private var security: Security { spec.security.isEmpty || spec.security.contains(.open) ? .open : spec.security.first! }

    private func play(_ title: String, _ send: (@escaping (HelperOutcome) -> Void) -> HelperCall) async {
        let start = EventLoop.now
        var timer: EventSource?
        let outcome: HelperOutcome? = await withCheckedContinuation { continuation in
            let call = send { continuation.resume(returning: $0) }
            timer = try? EventLoop.shared.schedule(after: patience) {
                guard call.isLive else { return }
                call.cancel()
                continuation.resume(returning: nil)
            }
        }
        timer?.cancel()
        print("\(title): \(tell(outcome)) (\((EventLoop.now - start).milliseconds) ms)")
        if case .failed(let fault)? = outcome, let text = fault.standardError {
            print(text.split(separator: "\n").suffix(20).map { "    | \($0)" }.joined(separator: "\n"))
        }
    }

    private func tell(_ outcome: HelperOutcome?) -> String {
        switch outcome {
        case nil:
            failures += 1
            return "no answer within \(patience); the daemon would have cut it off"
        case .failed(let fault):
            failures += 1
            return fault.sentence
        case .notRecognized: return "not known to it, which is allowed"
        case .annotations(let annotations):
            return annotations.isEmpty
                ? "no claims"
                : annotations.map { "\($0.confidence.rawValue) for \(SSID(hex: $0.ssidHex)?.description ?? $0.ssidHex)" }.joined(
                    separator: ", ")
        case .evaluation(let evaluation):
            return "confidence \(evaluation.confidence.rawValue)" + (evaluation.reason.map { ": " + Printable.text($0) } ?? "")
        case .reply(let reply): return reply.result.rawValue
        case .value(let value): return Printable.text(String(decoding: Coding.encode(value), as: UTF8.self))
        }
    }
}
