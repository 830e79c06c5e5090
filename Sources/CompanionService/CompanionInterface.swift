import ControlAPI
import ControlServer
import EventLoop
import Varlink

/// org.hotspotd.Companion: checks the rights of each caller, and hands its call to the service.
@LoopActor final class CompanionInterface: ServerInterface {
    nonisolated var name: String { CompanionContract.name }
    nonisolated var definition: String { CompanionContract.definition }

    private weak var service: CompanionService?
    private let permission: Permission

    private struct PairParameters: Decodable { var code: String? }
    private struct PeerParameter: Decodable { var peer: String }
    private struct OfferParameter: Decodable { var id: String }

    init(service: CompanionService, permission: Permission) { (self.service, self.permission) = (service, permission) }

    func handle(_ call: ServerCall) -> Bool {
        guard let service, let method = Self.methods[call.method] else { return false }
        guard permission.allows(call) else {
            call.fail(.notPermitted("This needs root, the group hotspotd, or the user in front of the machine."))
            return true
        }
        do throws(CompanionFault) { try method(service, call) } catch { call.fail(error) }
        return true
    }

    private typealias Method = @LoopActor (CompanionService, ServerCall) throws(CompanionFault) -> Void

    private static let methods: [String: Method] = [
        "Status": reading { (service, call, wishes: CompanionStatusParameters) in service.show(call, wishes) },
        "Pair": reading { (service, call, parameters: PairParameters) throws(CompanionFault) in
            try service.pair(call, code: parameters.code)
        },
        "Forget": reading { (service, call, parameters: PeerParameter) throws(CompanionFault) in
            try service.forget(call, parameters.peer)
        },
        "Share": reading { (service, call, parameters: ShareParameters) throws(CompanionFault) in
            try service.share(call, parameters)
        },
        "Withdraw": reading { (service, call, parameters: OfferParameter) throws(CompanionFault) in
            try service.withdraw(call, parameters.id)
        },
        "Answer": reading { (service, call, parameters: PeerAnswerParameters) throws(CompanionFault) in
            try service.answer(call, parameters)
        },
        "Decide": reading { (service, call, parameters: DecideParameters) throws(CompanionFault) in
            try service.decide(call, parameters)
        },
    ]

    private static func reading<Parameters: Decodable>(
        _ body: @escaping @LoopActor (CompanionService, ServerCall, Parameters) throws(CompanionFault) -> Void
    ) -> Method {
        { service, call throws(CompanionFault) in
            guard let parameters = call.decode(Parameters.self) else { return }
            try body(service, call, parameters)
        }
    }
}
