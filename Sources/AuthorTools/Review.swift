import ForeignText
import HelperHost
import HelperKit
import HotspotCore

/// Judges a helper's answers: takes an answer and the situation, and returns remarks.
enum Review {
    static func description(_ value: JSONValue, _ spec: HelperSpec) -> [Remark] {
        var remarks: [Remark] = []
        for key in ["name", "displayName", "version"] where value[key]?.string == nil {
            remarks.wrong("Describe must return `\(key)` as text.")
        }
        if let name = value["name"]?.string, name != spec.name {
            remarks.wrong("Describe returns the name \"\(safe(name))\", but the file says \"\(spec.name)\": use the same name.")
        }
        if let name = value["displayName"]?.string {
            let shown = String(name.prefix(HelperSpec.displayNameLimit))
            // Does not repeat the remark on the long name if the file has the same name.
            if shown != name, shown != spec.displayName {
                remarks.wrong(
                    "displayName has \(name.count) characters; only \(HelperSpec.displayNameLimit) are shown: \"\(safe(shown))\"."
                )
            } else if shown != spec.displayName {
                remarks.note(
                    "Describe returns the display name \"\(safe(shown))\", but users see DisplayName= of the file: \"\(safe(spec.displayName))\"."
                )
            }
        }
        return remarks
    }

    /// Judges the annotations. The host has already refused names that are not hexadecimal, and the confidence `none`.
    static func annotations(_ annotations: [Annotation], asked networks: [Network]) -> [Remark] {
        var remarks: [Remark] = []
        for annotation in annotations {
            let matching = networks.filter {
                $0.ssidHex == annotation.ssidHex && (annotation.security == nil || annotation.security == $0.security)
            }
            let label = "\"" + (SSID(hex: annotation.ssidHex)?.description ?? safe(annotation.ssidHex)) + "\""
            if matching.isEmpty {
                remarks.wrong("It claims \(label), which was not in the list; claim only networks from the list.")
            }
            if annotation.password == nil, matching.contains(where: { $0.security.isSecured }) {
                remarks.wrong("It claims \(label), which is secured, without a `password`: the daemon ignores such a claim.")
            }
        }
        return remarks
    }

    /// Judges an answer to Evaluate on a captive network.
    static func captive(_ evaluation: Evaluation) -> [Remark] {
        var remarks = portal(evaluation.portal)
        if evaluation.confidence == .none {
            remarks.note(
                "It does not claim the made-up network, so the daemon would not choose it. The test continues anyway."
            )
        } else if evaluation.portal == nil {
            remarks.note("It names no portal, so the user's stored answers are never released to it.")
        }
        return remarks
    }

    /// Judges the reply to Evaluate for a portal that answers the probe with status 200 and its own page, without a redirect.
    static func inPlace(_ evaluation: Evaluation, claimedBefore: Bool) -> [Remark] {
        guard evaluation.confidence == .none, claimedBefore else { return portal(evaluation.portal) }
        let reason = "compare the answer with link.probeExpect instead of expecting a redirect"
        return [.wrong("The portal answered the probe with 200 and its page, but the helper answers none: \(reason).")]
    }

    /// Judges an answer to Evaluate on a network that needs no login.
    static func open(_ evaluation: Evaluation) -> [Remark] {
        guard evaluation.confidence != .none else { return [] }
        let advice = "request link.probeURL first, and answer none if the result equals link.probeExpect"
        return [.wrong("It claims a network that needs no login (\(evaluation.confidence.rawValue)): \(advice).")]
    }

    /// The situation in which a helper answered Authenticate or PresentUI.
    struct LoginSituation {
        var isOpen: Bool
        /// Whether the helper accepted the portal's terms.
        var acceptedTerms: Bool
        /// Whether the user had accepted the terms before.
        var consent: Bool
        /// The requests that the portal got, without values.
        var got: [String]
        /// The words that the helper knew before it received a secret.
        var known = KnownWords()

        /// The sentence that lists the portal's requests.
        var requests: String {
            got.isEmpty ? "The portal got no requests except probes." : "The portal got: \(got.joined(separator: "; "))."
        }
    }

    /// Judges an answer to Authenticate or PresentUI.
    static func login(_ reply: Reply, _ login: LoginSituation) -> [Remark] {
        var remarks = portal(reply.portal) + common(reply)
        switch reply.result {
        case .success:
            if !login.isOpen {
                remarks.wrong(
                    "It reports success, but the portal is still closed. \(login.requests) The daemon checks this with a probe and would treat it as a failure."
                )
            }
        case .uiRequired:
            if let prompt = reply.prompt {
                remarks += self.prompt(prompt) + echoes(prompt, login.known)
            } else {
                remarks.wrong("uiRequired needs a `prompt`: the questions to the user.")
            }
            if reply.portal == nil { remarks.wrong("uiRequired needs a `portal`: the portal that asks.") }
        case .commandNotRecognized: remarks.note("It does not know this command, so it cannot log in.")
        case .failure, .authenticationRequired, .unsupportedNetwork, .temporaryFailure:
            if reply.reason == nil { remarks.note("It gives no `reason`, so the user will not know what happened.") }
        }
        if reply.result != .success, login.isOpen {
            remarks.wrong("The portal is open now, but the helper answers \(reply.result.rawValue).")
        }
        if login.acceptedTerms, !login.consent {
            remarks.wrong("It accepted the portal's terms without the user: `consent` was false. Ask with uiRequired.")
        }
        return remarks
    }

    static func maintain(_ reply: Reply, isOpen: Bool) -> [Remark] {
        var remarks = portal(reply.portal) + common(reply)
        switch (reply.result, isOpen) {
        case (.success, true), (.authenticationRequired, false), (.uiRequired, false): break
        case (.success, false):
            remarks.wrong("It reports success, but the portal requires a login: the user would be offline without knowing why.")
        case (.commandNotRecognized, _):
            remarks.note("It does not know Maintain; the daemon then checks with the probe.")
        case (_, true): remarks.wrong("The session is valid, but the helper answers \(reply.result.rawValue).")
        case (_, false): remarks.note("The portal requires a login; authenticationRequired would start one at once.")
        }
        if reply.result == .authenticationRequired || reply.result == .uiRequired, reply.portal == nil {
            remarks.wrong(
                "\(reply.result.rawValue) needs the present `portal`; without it, the daemon releases no stored answers.")
        }
        return remarks
    }

    static func logoff(_ reply: Reply, isOpen: Bool) -> [Remark] {
        var remarks = common(reply)
        switch reply.result {
        case .success: if isOpen { remarks.wrong("It reports success, but the portal still lets this computer through.") }
        case .commandNotRecognized: remarks.note("It does not know Logoff, so the session at the portal goes on.")
        case .failure, .temporaryFailure, .uiRequired, .authenticationRequired, .unsupportedNetwork:
            remarks.note("It could not log off (\(reply.result.rawValue)); hotspotd tells the user.")
        }
        return remarks
    }

    /// Judges a login that the portal refused, although the helper sent everything that the page asks for.
    static func refused(_ result: HelperResult?, times: Int) -> [Remark] {
        var remarks: [Remark] = []
        if times > 1 {
            remarks.wrong(
                "It sent the refused login \(times) times; some portals lock a guest out after three. Ask the user again with uiRequired."
            )
        }
        if result == .failure {
            remarks.note(
                "After failure the network is left alone until the user enables it; after temporaryFailure the login is tried again."
            )
        }
        return remarks
    }

    static let noProbe = Remark.note(
        "`link.probeURL` and `link.probeExpect` may be absent: use an address of your own, or answer none.")
    static let deadEnd = Remark.wrong("It asks the user (uiRequired) but does not know PresentUI, so the answers are lost.")
    static let sameAgain = Remark.wrong("It repeats the same prompt after each answer, as if the answers had no effect.")
    static let unknownEvaluate = Remark.wrong("It does not know Evaluate, so it claims no network and never logs in.")
    static let neverClaims = Remark.wrong(
        "It never claims the made-up network, so the daemon would never choose it. If it recognises its portal by the page, save that page and pass it with --page FILE.html; if by the name, use --ssid NAME."
    )

    static func useless(requests: String, hasOwnPage: Bool) -> Remark {
        let hint = hasOwnPage ? "" : " If its portal shows a different page, pass that page with --page FILE.html."
        return .wrong(
            "It claims the network, but no command opened the portal, neither with the user's answers nor with accepted terms. \(requests)\(hint)"
        )
    }

    // MARK: Parts

    private static func portal(_ portal: Portal?) -> [Remark] {
        guard let portal else { return [] }
        guard let url = WebURL(portal.origin) else {
            return [.wrong("The portal's origin \"\(safe(portal.origin))\" is not a web address.")]
        }
        if url.origin != portal.origin {
            let advice = "the usual spelling is \"\(safe(url.origin))\""
            return [
                .note(
                    "The portal's origin \"\(safe(portal.origin))\" is compared letter by letter with the stored one; \(advice).")
            ]
        }
        if url.isSecure, portal.pin == nil {
            return [.note("The portal uses https, but `pin` is missing, so the daemon releases no stored answers.")]
        }
        if !url.isSecure, portal.pin != nil { return [.wrong("A portal over plain HTTP has no key: remove `pin`.")] }
        return portal.kind.isEmpty ? [.wrong("The portal's `kind` is empty; use a word such as form.")] : []
    }

    private static func prompt(_ prompt: Prompt) -> [Remark] {
        var remarks: [Remark] = []
        if prompt.title.isEmpty { remarks.wrong("The prompt's title is empty; name the portal.") }
        if prompt.fields.isEmpty, prompt.message == nil, prompt.termsURL == nil, prompt.terms == nil {
            remarks.wrong("The prompt is empty: it needs fields, a message or terms.")
        }
        if Set(prompt.fields.map(\.name)).count < prompt.fields.count {
            remarks.wrong("Two fields of the prompt have the same name, so one answer would be lost.")
        }
        for field in prompt.fields {
            if field.name.isEmpty { remarks.wrong("A field of the prompt has no name.") }
            if field.label.isEmpty { remarks.wrong("The field \"\(safe(field.name))\" has no label.") }
            if field.kind == .choice, field.choices?.isEmpty ?? true {
                remarks.wrong("The choice \"\(safe(field.name))\" has no choices.")
            }
            let hasControls = (field.choices ?? []).contains {
                $0.unicodeScalars.contains { $0.properties.generalCategory == .control }
            }
            if hasControls {
                remarks.wrong("The choice \"\(safe(field.name))\" contains control characters, which answers must not contain.")
            }
        }
        remarks += prompt.losses.map { .wrong("In the prompt, \($0).") }
        if !prompt.limited.fits {
            let advice = "Shorten its choices, or give the address of the terms (termsURL) instead of their text."
            remarks.wrong(
                "The prompt is longer than \(Prompt.octetLimit / 1024) KiB, so the daemon refuses it and does not ask the user. \(advice)"
            )
        }
        return remarks
    }

    /// Returns remarks on a prompt that repeats the user's answers.
    private static func echoes(_ prompt: Prompt, _ known: KnownWords) -> [Remark] {
        do throws(HelperFault) {
            guard try prompt.masked(RehearsalUser.hidden, known: known) != prompt else { return [] }
            return [
                .note(
                    "The prompt repeats one of the user's answers or credentials; the daemon masks it in texts, and drops it from `value`."
                )
            ]
        } catch {
            let reason =
                "it can mask titles, messages, labels and terms, but not names and choices, which return with the answers"
            return [.wrong("\(error.sentence). The daemon refuses the prompt: \(reason).")]
        }
    }

    private static func common(_ reply: Reply) -> [Remark] {
        let texts = (reply.trace ?? []) + [reply.reason ?? ""]
        guard texts.contains(where: RehearsalUser.hasSecret) else { return [] }
        return [.wrong("Its trace or reason contains an answer of the user or a credential. Never write those there.")]
    }

    private static func safe(_ text: String) -> String { Printable.text(text, limit: 64) }
}
