import HotspotCore
import Varlink

/// Makes and reads one message of each kind before a network is joined. Coding a type for the first time takes several times as long, which would
/// delay a login.
enum Rehearsal {
    /// Whether all answers were read; the first access runs the rehearsal.
    static let isComplete: Bool = {
        let link = Link(attempt: "", association: "", interface: "", index: 0)
        let network = Network(ssid: .empty, interface: "", security: .open)
        let portal = Portal(origin: "http://portal.invalid", kind: "form")
        let evidence = ProbeEvidence(request: "GET /", status: 302, headers: ["location": "/"], milliseconds: 1)
        let values = [
            Coding.value(ProbeRequest(link: link, fresh: false)), Coding.value(network),
            Coding.value(ProbeAnswer(verdict: .captive, portalURL: "http://portal.invalid/", evidence: [evidence])),
        ]
        _ = try? Coding.decode(ProbeAnswer.self, from: values[2])
        let evaluation = Evaluation(.low, portal: portal, needs: ["room"], session: Session(memory: [:]), reason: "")
        let reply = Reply(.success, prompt: nil, portal: portal, session: Session(memory: [:]), reason: "", trace: [""])
        let answers: [(JSONValue, Command?)] = [
            (values[2], nil), (Coding.value(evaluation), .evaluate), (["reply": Coding.value(reply)], .authenticate),
        ]
        return answers.allSatisfy { parameters, command in
            let message = Coding.encode(Answer(parameters: parameters))
            if case .failed = AnswerReader.outcome(of: message, to: command) { return false }
            return true
        }
    }()
}
