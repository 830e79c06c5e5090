import NetworkJoining
import ControlAPI
import ControlServer
import EventLoop
import ForeignText
import HotspotCore
import HotspotMachine
import Wireless

/// `Join` and `Leave`.
extension DaemonBackend {
    func join(_ parameters: JoinParameters, _ answer: @escaping (Result<AssociationReply, ControlError>) -> Void) {
        do throws(ControlError) {
            guard let ssid = SSID(printable: parameters.ssid), !ssid.isHidden else { throw unknown(parameters.ssid) }
            let controllers = try radios(parameters.interface)
            if let here = controllers.first(where: { links.association(of: $0.index)?.ssid == ssid }), parameters.password == nil
            {
                here.wantedAgain()
                return answer(.success(reply(here)))
            }
            if let sight = sight(of: ssid, from: controllers, parameters.password) {
                return join(sight, ssid, parameters, answer)
            }
            links.lookAround(controllers.map(\.index)) { [weak self] in
                guard let self else { return }
                guard let sight = sight(of: ssid, from: controllers, parameters.password) else {
                    return answer(.failure(unknown(parameters.ssid)))
                }
                join(sight, ssid, parameters, answer)
            }
        } catch {
            answer(.failure(error))
        }
    }

    func leave(interface: String?, _ answer: @escaping (Result<AssociationReply, ControlError>) -> Void) {
        do throws(ControlError) {
            let controller = try require(interface) { _ in true }
            links.associations.end(controller.interface, .byUser) { [weak self] in self?.finish(controller, $0, answer) }
        } catch {
            answer(.failure(error))
        }
    }

    /// Returns the Wi-Fi interfaces; with a name, only the interface of that name.
    private func radios(_ name: String?) throws(ControlError) -> [InterfaceController] {
        if let name, links.controller(named: name) == nil { throw .noSuchInterface(Printable.text(name, limit: 64)) }
        let radios = links.controllers.filter { links.isWireless($0.index) && (name == nil || $0.name == name) }
        if radios.isEmpty { throw .failed(code: .noInterface, message: "hotspotd does not watch any Wi-Fi interface.") }
        return radios
    }

    /// An access point of the network to join, and the interface that sees it best.
    private struct Sight {
        let controller: InterfaceController
        let bss: BSS

        /// The ANQP query to the access point; empty if it does not offer ANQP.
        @LoopActor var questions: [AccessPoints.Question] {
            let question = AccessPoints.Question(
                interface: controller.interface, bssid: bss.bssid, hasHotspot20: bss.access.hasHotspot20)
            return bss.access.offersANQP ? [question] : []
        }
    }

    /// Returns the strongest access point with this name, and its interface. If open and protected networks share the name, prefers a protected
    /// network if there is a password, and an open network otherwise.
    private func sight(
        of ssid: SSID, from controllers: [InterfaceController], _ password: String?
    ) -> Sight? {
        let all = controllers.flatMap { controller in
            links.scannedNetworks(on: controller.index).filter { $0.ssid == ssid }.map { (controller, $0) }
        }.sorted { ($0.1.signal ?? .min) > ($1.1.signal ?? .min) }
        let best = all.first { $0.1.security.isSecured == (password != nil) } ?? all.first
        return best.map { Sight(controller: $0.0, bss: $0.1) }
    }

    private func join(
        _ sight: Sight, _ ssid: SSID, _ parameters: JoinParameters,
        _ answer: @escaping (Result<AssociationReply, ControlError>) -> Void
    ) {
        let (controller, security) = (sight.controller, sight.bss.security)
        if let password = parameters.password {
            guard security.isSecured else {
                return answer(.failure(.invalidAnswer(field: "password", message: "This network has no password.")))
            }
            guard security == .enterprise || ScanClaims.fits(password, security) else {
                let message = "A password has 8 to 63 ASCII characters, or 64 hexadecimal digits."
                return answer(.failure(.invalidAnswer(field: "password", message: message)))
            }
        }
        // End the network's hold, because the user wants the network now (D13, D22).
        services.saving("releasing a hold") { try services.store.releaseHold(.wireless(ssid, security)) }
        links.associations.release(ssid)
        controller.wanted = ssid
        let request = JoinRequest(
            interface: controller.interface, ssid: ssid, security: security,
            password: parameters.password, once: parameters.once)
        services.log.info("\(controller.name): joining \(ssid)")
        let ended = { [weak self] (error: AssociationError?) in
            guard let self else { return }
            if error != nil { controller.wanted = nil }
            guard error == .passwordNeeded, parameters.password == nil else { return finish(controller, error, answer) }
            list.password(for: .wireless(ssid, security)) { [weak self] password in
                guard let self else { return }
                guard let password else { return finish(controller, error, answer) }
                var known = parameters
                known.password = password
                join(sight, ssid, known, answer)
            }
        }
        // Query the access point before the join, because helpers get the access point's answers with Evaluate.
        links.accessPoints.ask(sight.questions) { [links] in links.associations.join(request, ended) }
    }

    private func finish(
        _ controller: InterfaceController, _ error: AssociationError?,
        _ answer: @escaping (Result<AssociationReply, ControlError>) -> Void
    ) {
        links.findManager(of: controller) { [self] in
            guard let problem = error.map({ problem($0, of: controller) }) else { return answer(.success(reply(controller))) }
            services.log.notice("\(controller.name): \(QuotedProblem.line(problem.message))")
            answer(.failure(.failed(code: problem.code, message: problem.message)))
        }
    }

    private func problem(_ error: AssociationError, of controller: InterfaceController) -> Problem {
        guard !links.isWireless(controller.index), links.managed[controller.index]?.manager == nil else { return error.problem }
        return Problem(.notJoined, "No program manages \(controller.name): unplug the cable to leave the network.")
    }

    private func reply(_ controller: InterfaceController) -> AssociationReply {
        AssociationReply(interface: controller.name, manager: links.managed[controller.index]?.manager)
    }
}
