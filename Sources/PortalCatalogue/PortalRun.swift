import ForeignText
import HelperKit
import HotspotCore
import PageLogin

/// One login with a portal file, as a value: takes an answer and returns the next move. ``LoginDriver`` runs the loop.
struct PortalRun: Sendable {
    /// The largest number of requests in one login.
    private static let requestLimit = 40

    let portal: PortalFile
    /// The portal of the login, which may receive the answers.
    let live: Portal
    /// The page on which the login began.
    let formPage: WebURL
    var engine: FormEngine
    private(set) var values: PortalValues
    /// The index of the next step, and how often it has run.
    private(set) var index = 0
    private var times = 0
    /// The index of the step at which this run began: after a question, it may be a later step than the first.
    private var first = 0
    private var requests = 0
    /// The names of the answers that were sent or used in a computation; a refusal by the portal concerns these answers.
    private(set) var sent: Set<String> = []
    /// The form that was sent last, with its page.
    private var submitted: (form: HTMLForm, page: HTMLPage, url: WebURL)?
    /// Whether a request that was sent changed something at the portal.
    private(set) var hasActed = false
    /// The terms on the portal's page, otherwise the terms that the file names.
    private let portalTerms: Terms?
    /// Whether the answers were given for another portal.
    private let isStranger: Bool

    init(_ portal: PortalFile, at live: Portal, engine: FormEngine, values: PortalValues, isStranger: Bool) {
        (self.portal, self.live, self.engine, self.values, self.isStranger) = (portal, live, engine, values, isStranger)
        formPage = values.page.base
        let declared = portal.terms.flatMap { try? engine.redirects.target(of: values.text(of: $0), from: values.page.base) }
        portalTerms = engine.bindingTerms(on: values.page.withButton, at: values.last.url) ?? declared.map { .address($0) }
        self.values.answers = engine.answers.values
        self.values.secrets = Set(portal.fields.filter(\.kind.isSecret).map(\.name))
    }

    private var step: PortalFile.Step { portal.steps[index] }

    /// Runs the first steps that neither send nor ask, so that ``fields`` describes this portal.
    mutating func begin() {
        while index < portal.steps.count, case .set = step.action, step.answers.isEmpty {
            if values.holds(step.when) { keep() }
            advance()
        }
    }

    /// Continues at a step, after the question of an earlier command, with these kept values.
    mutating func resume(at step: Int, kept: [String: Tainted]) {
        (index, first) = (min(max(0, step), portal.steps.count), min(max(0, step), portal.steps.count))
        values.kept = kept
        hasActed = true
    }

    /// Returns the final move if the portal's page shows a failure that no answer has caused, such as an account without credit.
    mutating func endAtFirstSight() -> LoginMove? {
        portal.failures.first { failure in
            failure.meaning != .refused && !failure.when.contains(where: \.negates) && values.holds(failure.when)
        }.map { move(after: $0) }
    }

    /// Returns the next move.
    mutating func next() -> LoginMove {
        while index < portal.steps.count {
            guard values.holds(step.when) else {
                advance()
                continue
            }
            if let prompt = question() { return .ask(prompt) }
            switch step.action {
            case .set:
                keep()
                advance()
            case .probe(let seconds): return .probe(seconds: seconds)
            case .message, .submit, .follow:
                guard requests < Self.requestLimit else { return .end(.temporaryFailure, "This login takes too many requests.") }
                requests += 1
                return compose()
            }
        }
        if portal.success.isEmpty { return .done }
        // If the page is shown again with an error, the portal has refused the sent answers.
        if hasActed, engine.complaint(of: values.page) != nil { return move(after: PortalFile.Failure(meaning: .refused)) }
        return .end(.temporaryFailure, "The portal did not confirm the login.")
    }

    /// Stores the answer to the last request. Returns the final move, or `nil` if the login continues.
    mutating func arrive(_ chain: RedirectChain) -> LoginMove? {
        values.add(chain)
        if let failure = portal.failures.first(where: { values.holds($0.when) }) { return move(after: failure) }
        if step.mayFail, let lost = chain.lost {
            values.addLost(lost)
            return judge()
        }
        if chain.leftPortal { return .done }
        return judge()
    }

    /// Stores that the last request got no answer. Returns the final move, or `nil` if the login continues.
    mutating func fail(_ error: TransferError, of move: LoginMove) -> LoginMove? {
        guard case .request(let request, _, _, _) = move, step.mayFail, error.code != .cancelled else {
            return .end(.temporaryFailure, error.description)
        }
        values.addLost(request.url)
        return judge()
    }

    /// Ends the login if the probe found the network open; otherwise continues with the next step.
    mutating func probed(isOpen: Bool) -> LoginMove? {
        if isOpen { return .done }
        advance()
        return nil
    }

    private mutating func judge() -> LoginMove? {
        if !portal.success.isEmpty, values.holds(portal.success) { return .done }
        let status = values.last.status
        if status >= 500 || status == 403 { return .end(.temporaryFailure, "The portal answered with status \(status).") }
        keep()
        if !step.until.isEmpty, !values.holds(step.until) {
            times += 1
            return times < step.times ? nil : .end(.temporaryFailure, "The portal gave no result in time.")
        }
        advance()
        return nil
    }

    private mutating func advance() {
        index += 1
        times = 0
    }

    private mutating func keep() {
        sent.formUnion(step.answers)
        for set in step.sets { values.kept[set.name] = values.value(of: set.value) }
    }

    // MARK: - Requests

    private mutating func compose() -> LoginMove {
        do throws(TransferError) {
            switch step.action {
            case .message(let message):
                let (request, taint) = try PortalRequest.compose(message, values, from: values.page.base, engine.redirects)
                return try send(request, taint: taint, acts: message.acts)
            case .submit(let name, let fields): return try submit(name, fields)
            case .follow(let glob):
                guard let link = values.page.link(glob) else { return surprise("the link is missing") }
                var request = HTTPRequest(try engine.redirects.target(of: link.reference, from: values.page.base))
                request.referer = values.last.url
                return try send(request, taint: .none, acts: true)
            case .set, .probe: return .done
            }
        } catch {
            return surprise(error.description)
        }
    }

    private func surprise(_ what: String) -> LoginMove {
        .end(.unsupportedNetwork, "The portal does not match \(portal.id).portal (line \(step.line)): \(what)")
    }

    private mutating func submit(_ name: String, _ fields: [PortalFile.Assignment]) throws(TransferError) -> LoginMove {
        var page = values.page
        guard var form = name == "*" ? engine.choose(page, at: values.last.url) : page.form(named: name) else {
            return surprise("the form is missing")
        }
        var taint = Taint.none
        for field in fields {
            let value = values.value(of: field.value)
            taint = max(taint, value.taint)
            form.controls.removeAll { $0.name == field.name && $0.kind != .submit }
            form.controls.append(HTMLControl(hidden: field.name, value: value.text))
        }
        page.forms = [form]
        switch engine.decide(on: page, at: values.last.url) {
        case .submit(let filled, let form):
            submitted = (form, page, values.last.url)
            var request = filled.request
            request.referer = values.last.url
            if filled.carriesAnswers { taint = max(taint, .answer) }
            return try send(request, taint: taint, acts: true)
        case .ask(let prompt, _): return .ask(prompt)
        case .nothing: return surprise("the form is missing")
        case .refuse(let reason): return handOver(reason)
        }
    }

    /// Returns the request if all rules allow it, otherwise the question that must be answered first.
    private mutating func send(_ request: HTTPRequest, taint: Taint, acts: Bool) throws(TransferError) -> LoginMove {
        let trust = RequestTrust(request: request, taint: taint, acts: acts, live: live)
        let boxes = trust.boxes(engine)
        // The form engine has already asked about the terms of its forms.
        let mustAcceptTerms = acts && !isSubmit && !engine.consent && !engine.saysYesToTerms && terms != nil
        guard boxes.isEmpty, !mustAcceptTerms, !trust.needsUser(engine) else { return .ask(prompt(fields, boxes)) }
        hasActed = hasActed || acts
        sent.formUnion(step.answers)
        return .request(request, carriesAnswers: taint > .none, follows: step.followsRedirects, wait: step.wait)
    }

    // MARK: - Questions

    /// The ways of sending that the user agrees to by answering the open prompt; empty unless the form engine made that prompt.
    var impliedAgreements: [String] {
        index < portal.steps.count && isSubmit ? engine.impliedAgreements(on: values.page, at: values.last.url) : []
    }

    private var isSubmit: Bool { if case .submit = step.action { true } else { false } }

    /// The terms that the next step accepts: the terms of the form that the step submits, otherwise the portal's terms.
    var terms: Terms? {
        // After a refusal, the login begins again with the submitted page.
        if index == first, let submitted { return engine.bindingTerms(on: submitted.page, at: submitted.url) }
        if index < portal.steps.count, isSubmit { return engine.bindingTerms(on: values.page, at: values.last.url) }
        return portalTerms
    }

    /// The fields that the next steps need, up to the first step that sends something: the portal may then send the user a code for the later steps.
    var fields: [Field] {
        let ahead = stepsAhead
        let end = ahead.firstIndex(where: \.acts).map { $0 + 1 } ?? ahead.count
        let needed = Set(ahead[..<end].flatMap(\.answers))
        return portal.fields.filter { needed.contains($0.name) }
    }

    /// The next steps whose conditions hold now, or depend on a value that one of these steps keeps.
    private var stepsAhead: [PortalFile.Step] {
        var open: Set<String> = []
        return portal.steps[min(index, portal.steps.count)...].filter { step in
            let isAhead = step.when.allSatisfy { !$0.value.names.isDisjoint(with: open) || values.holds([$0]) }
            if isAhead { open.formUnion(step.sets.map(\.name)) }
            return isAhead
        }
    }

    private func question() -> Prompt? {
        guard !step.answers.isEmpty else { return nil }
        let isOpen = fields.contains { field in
            guard let answer = values.answers[field.name] else { return field.required }
            return field.required && (field.kind == .checkbox ? !FilledForm.isYes(answer) : answer.isEmpty)
        }
        return isOpen ? prompt(fields, foreseenBoxes) : nil
    }

    /// The boxes that the next steps are expected to need, so that one prompt asks for all of them.
    private var foreseenBoxes: [Field] {
        var ahead = values
        for field in portal.fields where ahead.answers[field.name] == nil { ahead.answers[field.name] = "?" }
        var base = values.page.base
        var boxes: [Field] = []
        for step in stepsAhead {
            if case .message(let message) = step.action,
                let (request, taint) = try? PortalRequest.compose(message, ahead, from: base, engine.redirects)
            {
                base = request.url
                let trust = RequestTrust(request: request, taint: taint, acts: message.acts, live: live)
                boxes += trust.boxes(engine).filter { box in !boxes.contains { $0.name == box.name } }
            }
            for set in step.sets { ahead.kept[set.name] = ahead.value(of: set.value) }
        }
        return boxes
    }

    private func prompt(_ fields: [Field], _ boxes: [Field], message: String? = nil) -> Prompt {
        var asked = fields.map { field in
            var field = field
            if !field.kind.isSecret, field.kind != .checkbox {
                field.value = values.answers[field.name] ?? engine.answers.sent(field.name)
            }
            return field
        }
        let terms = engine.consent ? nil : terms
        if terms != nil {
            asked.append(
                Field(name: FormEngine.termsField, label: "I accept the terms of use", kind: .checkbox, required: true))
        }
        var prompt = Prompt(title: values.page.title ?? portal.name, message: message, fields: asked + boxes)
        switch terms {
        case .address(let url, _, _): prompt.termsURL = url.text
        case .text(let text): prompt.terms = text
        case .read, nil: break
        }
        if isStranger { prompt.begin("This is not the same portal as before, so nothing was sent.") }
        return prompt
    }

    private mutating func move(after failure: PortalFile.Failure) -> LoginMove {
        let words = failure.text.map { Tainted(octets: Entities.decode(values.value(of: $0).octets)).text } ?? ""
        let text = Printable.text(engine.mask.apply(words), limit: 200)
        func sentence(_ standard: String) -> String { text.isEmpty ? engine.complaint(of: values.page) ?? standard : text }
        switch failure.meaning {
        case .refused:
            // The login begins again with the new answers.
            index = first
            let message = sentence("The portal did not accept the answers.")
            if let submitted {
                engine.offerAnswers(of: submitted.form)
                // Terms are accepted together with the answers, so the same prompt asks about both again.
                engine.answers[FormEngine.termsField] = nil
                guard case .ask(var prompt, _) = engine.decide(on: submitted.page, at: submitted.url) else {
                    return .end(.temporaryFailure, message)
                }
                prompt.message = message
                return .ask(prompt)
            }
            for name in sent { engine.answers.noteSent(name, label: "", shown: values.answers.removeValue(forKey: name) ?? "") }
            let refused = portal.fields.filter { sent.contains($0.name) }
            return refused.isEmpty ? .end(.temporaryFailure, message) : .ask(prompt(refused, [], message: message))
        case .later: return .end(.temporaryFailure, sentence("The portal does not work now."))
        case .over: return .end(.failure, sentence("The portal allows no more access today."))
        case .unsupported:
            return .end(.unsupportedNetwork, sentence("This is not the portal that \(portal.id).portal describes."))
        case .browser: return handOver(sentence("This portal needs a browser."))
        }
    }

    private func handOver(_ reason: String) -> LoginMove {
        .ask(.handOver(reason, title: values.page.title ?? portal.name, page: values.last.url), reason: reason)
    }
}
