import ForeignText
import HotspotCore
import Varlink

extension HelperService {
    private static let service = "org.varlink.service"
    private static let helper = "org.hotspotd.Helper"
    private static let probe = "org.hotspotd.Probe"

    /// Answers one call; blocks until it is done.
    func dispatch(_ call: Call, name: String, _ cancellation: Cancellation) -> Answer {
        let dot = call.method.lastIndex(of: ".") ?? call.method.startIndex
        let interface = String(call.method[..<dot])
        let method = String(call.method[dot...].dropFirst())
        let parameters = call.parameters ?? [:]
        let scope = Scope(cancellation: cancellation)
        do {
            switch interface {
            case Self.service: return introspect(method, parameters)
            case Self.probe:
                guard method == "Probe" else { return Self.error("MethodNotFound", "method", method) }
                return Answer(parameters: Coding.value(try probe(parameters, scope)))
            case Self.helper:
                guard let helper = helpers.first(where: { $0.name == name }) else {
                    return Self.error("InterfaceNotFound", "interface", interface)
                }
                return try command(method, parameters, helper, scope)
            default: return Self.error("InterfaceNotFound", "interface", interface)
            }
        } catch is NotImplemented {
            return Self.error("MethodNotImplemented", "method", method)
        } catch let error as VarlinkError {
            return Self.error("InvalidParameter", "parameter", error.description)
        } catch {
            return Answer(parameters: ["message": "The helper failed."], error: "\(Self.helper).Failed")
        }
    }

    private static func error(_ name: String, _ key: String, _ value: String) -> Answer {
        Answer(parameters: .object([key: .string(Printable.text(value, limit: 200))]), error: "\(service).\(name)")
    }

    private func command(_ method: String, _ parameters: JSONValue, _ helper: any Helper, _ scope: Scope) throws -> Answer {
        switch method {
        case "Describe":
            return Answer(parameters: [
                "name": .string(helper.name), "displayName": .string(helper.displayName), "version": .string(version),
            ])
        case "FilterScanList":
            struct Parameters: Decodable { var networks: [Network] }
            struct Reply: Encodable { var annotations: [Annotation] }
            let networks = try Coding.decode(Parameters.self, from: parameters).networks
            return Answer(parameters: Coding.value(Reply(annotations: try helper.filterScanList(networks))))
        case "Evaluate": return Answer(parameters: Coding.value(try helper.evaluate(visit(parameters, scope))))
        case "Authenticate":
            let visit = try visit(parameters, scope)
            attempts.beginLogin(visit.link)
            return Self.answer(try helper.authenticate(visit))
        case "PresentUI": return Self.answer(try helper.presentUI(visit(parameters, scope)))
        case "Maintain": return Self.answer(try helper.maintain(visit(parameters, scope)))
        case "Logoff": return Self.answer(try helper.logoff(visit(parameters, scope)))
        default: return Self.error("MethodNotFound", "method", method)
        }
    }

    private static func answer(_ reply: Reply) -> Answer { Answer(parameters: ["reply": Coding.value(reply)]) }

    private func visit(_ parameters: JSONValue, _ scope: Scope) throws -> Visit {
        struct Parameters: Decodable {
            var network: Network
            var link: Link
            var portal: Portal?
            var credential: [String: String]?
            var answers: [String: String]?
            var consent: Bool?
            var session: Session?
        }
        let given = try Coding.decode(Parameters.self, from: parameters)
        return Visit(
            network: given.network, link: given.link, portal: given.portal, credential: given.credential,
            answers: given.answers ?? [:],
            consent: given.consent ?? false, session: given.session, scope: scope, attempts: attempts, policy: policy)
    }

    private func probe(_ parameters: JSONValue, _ scope: Scope) throws -> ProbeResult.Wire {
        struct Parameters: Decodable {
            var link: Link
            var endpoints: [ProbeEndpoint]
            var httpsURL: String?
            var fresh: Bool
        }
        let given = try Coding.decode(Parameters.self, from: parameters)
        let result = attempts.probe(
            given.link, endpoints: given.endpoints, https: given.httpsURL, fresh: given.fresh, policy: policy, in: scope)
        return (result ?? ProbeResult(.limited, problem: "cancelled")).wire
    }

    private func introspect(_ method: String, _ parameters: JSONValue) -> Answer {
        switch method {
        case "GetInfo":
            return Answer(parameters: [
                "vendor": "hotspotd", "product": "hotspot-helpers", "version": .string(version),
                "url": "https://github.com/hotspotd/hotspotd",
                "interfaces": [.string(Self.service), .string(Self.helper), .string(Self.probe)],
            ])
        case "GetInterfaceDescription":
            switch parameters["interface"]?.string {
            case Self.service: return Answer(parameters: ["description": .string(serviceDefinition)])
            case Self.helper: return Answer(parameters: ["description": .string(InterfaceTexts.helper)])
            case Self.probe: return Answer(parameters: ["description": .string(InterfaceTexts.probe)])
            case let other: return Self.error("InterfaceNotFound", "interface", other ?? "")
            }
        default: return Self.error("MethodNotFound", "method", method)
        }
    }
}
