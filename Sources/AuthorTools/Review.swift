import ForeignText
import HelperHost
import HelperKit
import HotspotCore

/// Judges a helper's answers: it takes an answer and the situation, and returns remarks.
enum Review {
    static func description(_ value: JSONValue, _ spec: HelperSpec) -> [Remark] {
        var remarks: [Remark] = []
        for key in ["name", "displayName", "version"] where value[key]?.string == nil {
            remarks.wrong("Describe must tell `\(key)`, a text.")
        }
        if let name = value["name"]?.string, name != spec.name {
            remarks.wrong("Describe says the name \"\(safe(name))\", the file \"\(spec.name)\": the two must be the same.")
        }
        if let name = value["displayName"]?.string {
            let shown = String(name.prefix(HelperSpec.displayNameLimit))
            // The same long name in the file already got a remark.
            if shown != name, shown != spec.displayName {
                remarks.wrong(
                    "displayName has \(name.count) characters; \(HelperSpec.displayNameLimit) are shown: \"\(safe(shown))\".")
            } else if shown != spec.displayName {
                remarks.note(
                    "Describe says the display name \"\(safe(shown))\", DisplayName= of the file \"\(safe(spec.displayName))\"; users see the file's."
                )
            }
        }
        return remarks
    }

    /// Judges the annotations. The host has refused names that are not hexadecimal and the confidence none.
    static func annotations(_ annotations: [Annotation], asked networks: [Network]) -> [Remark] {
        var remarks: [Remark] = []
        for annotation in annotations {
            let matching = networks.filter {
                $0.ssidHex == annotation.ssidHex && (annotation.security == nil || annotation.security == $0.security)
            }
            let label = "\"" + (SSID(hex: annotation.ssidHex)?.description ?? safe(annotation.ssidHex)) + "\""
            if matching.isEmpty {
                remarks.wrong("It claims \(label), which was not in the list; claim only networks of the list.")
            }
            if annotation.password == nil, matching.contains(where: { $0.security.isSecured }) {
                remarks.wrong("It claims \(label), which is secured, without a `password`: such a claim is ignored.")
            }
        }
        return remarks
    }

    /// Judges an answer to Evaluate on a captive network.
    static func captive(_ evaluation: Evaluation) -> [Remark] {
        var remarks = portal(evaluation.portal)
        if evaluation.confidence == .none {
            remarks.note(
                "It does not claim the made-up network, so the daemon would not choose it. The other commands are played nevertheless."
            )
        } else if evaluation.portal == nil {
            remarks.note("It names no portal, so the user's stored answers are never released to it.")
        }
        return remarks
    }

    /// Judges the reply to Evaluate for a portal that answers the probe with status 200 and its own page, without a redirect.
    static func inPlace(_ evaluation: Evaluation, claimedBefore: Bool) -> [Remark] {
        guard evaluation.confidence == .none, claimedBefore else { return portal(evaluation.portal) }
        let reason = "compare with link.probeExpect instead of looking for a redirect"
        return [.wrong("The portal answered the probe with 200 and its page, and the helper says none: \(reason).")]
    }

    /// Judges an answer to Evaluate on a network that needs no login.
    static func open(_ evaluation: Evaluation) -> [Remark] {
        guard evaluation.confidence != .none else { return [] }
        let advice = "request link.probeURL first, compare with link.probeExpect, and answer none"
        return [.wrong("It claims a network that needs no login (\(evaluation.confidence.rawValue)): \(advice).")]
    }

    /// The situation of an answer to Authenticate or PresentUI.
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

        /// The requests in a sentence.
        var requests: String { got.isEmpty ? "It got nothing, or the probe alone." : "It got: \(got.joined(separator: "; "))." }
    }

    /// Judges an answer to Authenticate or PresentUI.
    static func login(_ reply: Reply, _ login: LoginSituation) -> [Remark] {
        var remarks = portal(reply.portal) + common(reply)
        switch reply.result {
        case .success:
            if !login.isOpen {
                remarks.wrong(
                    "It says success, and the portal is still closed. \(login.requests) The daemon checks this itself and would treat it as a failure."
                )
            }
        case .uiRequired:
            if let prompt = reply.prompt {
                remarks += self.prompt(prompt) + echoes(prompt, login.known)
            } else {
                remarks.wrong("uiRequired needs a `prompt`: the questions to the user.")
            }
            if reply.portal == nil { remarks.wrong("uiRequired needs a `portal`: the portal that asks.") }
        case .commandNotRecognized: remarks.note("It does not know the command, so it cannot log in.")
        case .failure, .authenticationRequired, .unsupportedNetwork, .temporaryFailure:
            if reply.reason == nil { remarks.note("It gives no `reason`, so the user will not know what happened.") }
        }
        if reply.result != .success, login.isOpen {
            remarks.wrong("The portal is open now, though it says \(reply.result.rawValue).")
        }
        if login.acceptedTerms, !login.consent {
            remarks.wrong("It accepted the portal's terms though the user had not: `consent` was false. Ask with uiRequired.")
        }
        return remarks
    }

    static func maintain(_ reply: Reply, isOpen: Bool) -> [Remark] {
        var remarks = portal(reply.portal) + common(reply)
        switch (reply.result, isOpen) {
        case (.success, true), (.authenticationRequired, false), (.uiRequired, false): break
        case (.success, false):
            remarks.wrong("It says success, and the portal requires a login: the user would be offline and not know why.")
        case (.commandNotRecognized, _):
            remarks.note("It does not know Maintain; the daemon then checks with the probe.")
        case (_, true): remarks.wrong("The session is good, and it says \(reply.result.rawValue).")
        case (_, false): remarks.note("The portal requires a login; authenticationRequired would start one at once.")
        }
        if reply.result == .authenticationRequired || reply.result == .uiRequired, reply.portal == nil {
            remarks.wrong("\(reply.result.rawValue) needs the `portal` as it is now; without it no stored answer is released.")
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
        "`link.probeURL` and `link.probeExpect` may be absent: have an address of your own, or answer none.")
    static let deadEnd = Remark.wrong("It asks the user (uiRequired), and does not know PresentUI: the answers are lost.")
    static let sameAgain = Remark.wrong("It repeats the same prompt after each answer: the answers have no effect.")
    static let unknownEvaluate = Remark.wrong("It does not know Evaluate, so it claims no network and never logs in.")
    static let neverClaims = Remark.wrong(
        "It never claims the made-up network, so the daemon would never choose it. If it recognises its portal by the page, save that page and pass it with --page FILE.html; if by the name, use --ssid NAME."
    )

    static func useless(requests: String, hasOwnPage: Bool) -> Remark {
        let hint = hasOwnPage ? "" : " If its portal shows a different page, pass that page with --page FILE.html."
        return .wrong(
            "It claims the network, and no command opened the portal, neither with the user's answers nor with the terms accepted before. \(requests)\(hint)"
        )
    }

    // MARK: Parts

    private static func portal(_ portal: Portal?) -> [Remark] {
        guard let portal else { return [] }
        guard let url = WebURL(portal.origin) else {
            return [.wrong("The portal's origin \"\(safe(portal.origin))\" is no web address.")]
        }
        if url.origin != portal.origin {
            let advice = "the usual spelling is \"\(safe(url.origin))\""
            return [
                .note(
                    "The portal's origin \"\(safe(portal.origin))\" is compared letter by letter with the stored one; \(advice).")
            ]
        }
        if url.isSecure, portal.pin == nil {
            return [.note("The portal uses https and no `pin` is named, so no stored answer is released.")]
        }
        if !url.isSecure, portal.pin != nil { return [.wrong("A portal over plain HTTP has no key: leave `pin` out.")] }
        return portal.kind.isEmpty ? [.wrong("The portal's `kind` is empty; a word such as form will do.")] : []
    }

    private static func prompt(_ prompt: Prompt) -> [Remark] {
        var remarks: [Remark] = []
        if prompt.title.isEmpty { remarks.wrong("The prompt's title is empty; name the portal.") }
        if prompt.fields.isEmpty, prompt.message == nil, prompt.termsURL == nil, prompt.terms == nil {
            remarks.wrong("The prompt asks nothing: neither fields nor a message nor terms.")
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
                remarks.wrong("The choice \"\(safe(field.name))\" has control characters, which an answer must not have.")
            }
        }
        remarks += prompt.losses.map { .wrong("Of the prompt, \($0).") }
        if !prompt.limited.fits {
            let advice = "Shorten its choices, or name the terms' address (termsURL) instead of their text."
            remarks.wrong(
                "The prompt is longer than \(Prompt.octetLimit / 1024) KiB: the daemon refuses it, and the user is not asked. \(advice)"
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
                    "The prompt repeats an answer of the user or a credential; the daemon masks it, and leaves such a `value` out."
                )
            ]
        } catch {
            let reason =
                "it can mask titles, messages, labels and terms, but not the names and choices that come back with the answers"
            return [.wrong("\(error.sentence). The daemon refuses the prompt: \(reason).")]
        }
    }

    private static func common(_ reply: Reply) -> [Remark] {
        let texts = (reply.trace ?? []) + [reply.reason ?? ""]
        guard texts.contains(where: RehearsalUser.hasSecret) else { return [] }
        return [.wrong("Its trace or reason shows an answer of the user or a credential. Never write them there.")]
    }

    private static func safe(_ text: String) -> String { Printable.text(text, limit: 64) }
}
