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
                return try run(method, parameters, helper, scope)
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

    private func run(_ method: String, _ parameters: JSONValue, _ helper: any Helper, _ scope: Scope) throws -> Answer {
        switch method {
        case "Describe":
            return Answer(parameters: [
                "name": .string(helper.name), "displayName": .string(helper.displayName), "version": .string(version),
            ])
        case "FilterScanList":
            struct ScanList: Decodable { var networks: [Network] }
            let networks = try Coding.decode(ScanList.self, from: parameters).networks
            return Answer(parameters: Coding.value(["annotations": try helper.filterScanList(networks)]))
        case "Evaluate": return Answer(parameters: Coding.value(try helper.evaluate(command(parameters, scope))))
        case "Authenticate":
            let command = try command(parameters, scope)
            attempts.beginLogin(command.link)
            return loginAnswer(try helper.authenticate(command), command)
        case "PresentUI":
            let command = try command(parameters, scope)
            return loginAnswer(try helper.presentUI(command), command)
        case "Maintain": return Self.answer(try helper.maintain(command(parameters, scope)))
        case "Logoff": return Self.answer(try helper.logoff(command(parameters, scope)))
        default: return Self.error("MethodNotFound", "method", method)
        }
    }

    private func loginAnswer(_ reply: Reply, _ command: HelperCommand) -> Answer {
        var reply = reply
        let looks = attempts.looksUnderWay(command.link)
        if !looks.isEmpty { reply.trace = (reply.trace ?? []) + looks }
        if reply.result != .success { attempts.endLooks(command.link) }
        return Self.answer(reply)
    }

    private static func answer(_ reply: Reply) -> Answer { Answer(parameters: ["reply": Coding.value(reply)]) }

    private func command(_ parameters: JSONValue, _ scope: Scope) throws -> HelperCommand {
        struct CommandParameters: Decodable {
            var network: Network
            var link: Link
            var portal: Portal?
            var credential: [String: String]?
            var labels: [String: String]?
            var offered: [String]?
            var answers: [String: String]?
            var stored: [String]?
            var consent: Bool?
            var session: Session?
        }
        let values = try Coding.decode(CommandParameters.self, from: parameters)
        var command = HelperCommand(
            network: values.network, link: values.link, portal: values.portal, credential: values.credential,
            answers: values.answers ?? [:], consent: values.consent ?? false, session: values.session,
            scope: scope.limited(milliseconds: Scope.limit(of: values.link.commandTimeout)),
            attempts: attempts, policy: policy)
        command.labels = values.labels ?? [:]
        command.offered = values.offered ?? []
        command.confirmed = Set(values.stored ?? [])
        return command
    }

    private func probe(_ parameters: JSONValue, _ scope: Scope) throws -> ProbeAnswer {
        let request = try Coding.decode(ProbeRequest.self, from: parameters)
        let result = attempts.probe(
            request.link, endpoints: request.endpoints, https: request.httpsURL, fresh: request.fresh,
            asksNames: request.asksNames ?? false, policy: policy, in: scope)
        return (result ?? ProbeResult(.limited, problem: "cancelled")).answer
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
            case Self.helper: return Self.description(PackageResources.org_hotspotd_Helper_varlink)
            case Self.probe: return Self.description(PackageResources.org_hotspotd_Probe_varlink)
            case let other: return Self.error("InterfaceNotFound", "interface", other ?? "")
            }
        default: return Self.error("MethodNotFound", "method", method)
        }
    }
    /// Returns the text of a `.varlink` file, without its last line end.
    private static func description(_ file: [UInt8]) -> Answer {
        Answer(parameters: ["description": .string(String(decoding: file.dropLast(), as: UTF8.self))])
    }
}
