import HelperKit
import HotspotCore

/// Makes the requests of a login on the link.
package struct HTTPCarrier: LoginCarrier {
    package let client: HTTPClient
    let command: HelperCommand
    /// The hosts that end a chain of redirects.
    let outside: Set<String>
    private let mayWait: () -> Bool
    /// The keys of other origins that received answers.
    private var pins: [String: String]

    /// - Parameters:
    ///   - hosts: the portal's own hosts. They do not end a chain, even if one of them is a probe's host: some portals answer at a probe's host.
    ///   - mayWait: as in ``RedirectChain/follow(_:to:client:outside:submittedFrom:agreed:trusted:in:mayWait:)``.
    package init(
        _ command: HelperCommand, _ client: HTTPClient, at hosts: [String] = [], mayWait: @escaping () -> Bool = { true }
    ) {
        (self.command, self.client, self.mayWait) = (command, client, mayWait)
        outside = RedirectChain.outsideHosts(of: command.link).subtracting(hosts)
        pins = SessionMemory(command.session).pins ?? [:]
    }

    package mutating func submit(_ filled: FilledForm, for steps: some LoginSteps) throws(TransferError) -> RedirectChain {
        var request = filled.request
        request.referer = steps.formPage
        return try send(request, carriesAnswers: filled.carriesAnswers, follows: true, for: steps)
    }

    package mutating func send(
        _ request: HTTPRequest, carriesAnswers: Bool, follows: Bool, for steps: some LoginSteps
    ) throws(TransferError) -> RedirectChain {
        var request = request
        request.carriesAnswers = carriesAnswers
        let origin = request.url.origin
        let isPortal = origin == steps.asking.origin
        if carriesAnswers { request.requiredPin = isPortal ? steps.asking.pin : pins[origin] }
        let answer = try steps.hasSent ? command.logIn(request, by: client) : client.send(request, in: command.scope)
        if carriesAnswers, !isPortal, let pin = answer.pin { pins[origin] = pin }
        guard follows else { return RedirectChain(answer) }
        return try RedirectChain.follow(
            answer, to: request, client: client, outside: outside, submittedFrom: steps.formPage, agreed: steps.engine.agreed,
            in: command.scope, mayWait: mayWait)
    }

    package mutating func forgetKey(of target: WebURL) { pins[target.origin] = nil }

    package func keep(in memory: inout SessionMemory, isAsking: Bool) {
        memory.pins = pins.isEmpty ? nil : pins
        memory.cookies = client.cookies.lines(within: SessionMemory.cookieLimit)
    }
}
