import EventLoop
import ForeignText
import HelperHost
import HotspotCore
import HotspotMachine
import Varlink

/// Questions to the prober about this link.
extension InterfaceController {
    func probe(_ id: ProbeID, fresh: Bool) {
        askProber(fresh: fresh) { [weak self] call in
            self?.probes[id] = call
        } answer: { [weak self] answer in
            guard let self, probes.removeValue(forKey: id) != nil else { return }
            feed(.verdictReached(id, answer?.verdict, secondsRemaining: answer?.secondsRemaining))
        }
    }

    /// Asks for a verdict on this link; `nil` if there is no prober, or it died.
    func askProber(fresh: Bool, started: (HelperCall) -> Void, answer: @escaping (ProbeAnswer?) -> Void) {
        guard let link = link() else { return answer(nil) }
        let association = link.association
        let parameters = ProbeRequest(
            link: link, endpoints: link.probeURL.map { [.init(url: $0, expect: link.probeExpect ?? "204")] } ?? [],
            httpsURL: services.settings.probeHTTPSURL, fresh: fresh)
        started(
            services.host.probe(parameters: Coding.value(parameters)) { [weak self] outcome in
                // What was asked in the former network says nothing of this one.
                guard let self, joined?.association == association else { return answer(nil) }
                var verdict: ProbeAnswer?
                switch outcome {
                case .value(let value):
                    do {
                        verdict = try Coding.decode(ProbeAnswer.self, from: value)
                    } catch {
                        record("problem", "The prober's answer is malformed: \(error)")
                    }
                case .failed(let fault): record("problem", "The prober: \(fault.sentence)")
                case .evaluation, .reply, .annotations, .notRecognized: record("problem", "The prober does not know Probe.")
                }
                if let verdict { record(verdict) }
                answer(verdict)
            })
    }

    private func record(_ answer: ProbeAnswer) {
        let problem = answer.problem.map { " (\(Printable.text($0, limit: 100)))" } ?? ""
        let origin = answer.origin.map { ", portal \($0)" } ?? ""
        record("verdict", answer.verdict.rawValue + origin + problem)
        for evidence in answer.evidence.prefix(8) { recordTrace(evidence.line) }
        if portal == nil, answer.verdict == .captive, let origin = answer.origin {
            portal = Portal(origin: origin, kind: "unknown")
        }
    }

    func link() -> Link? {
        guard let joined else { return nil }
        let settings = services.settings
        return Link(
            attempt: attempt?.id ?? joined.association, association: joined.association, interface: name, index: index,
            addresses: joined.snapshot.addresses, gateways: joined.snapshot.gateways,
            nameservers: settings.probeNameservers.isEmpty ? joined.facts.nameservers : settings.probeNameservers,
            portalAPI: joined.facts.portalAPI, probeURL: settings.probeURL,
            probeExpect: settings.probeURL == nil ? nil : settings.probeExpect)
    }
}
