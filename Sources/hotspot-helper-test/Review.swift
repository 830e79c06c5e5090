import ForeignText
import HelperHost
import HelperKit
import HotspotCore

/// Judges a helper's answers. Pure: an answer and the situation go in, remarks come out.
enum Review {
    /// Judges an answer to Describe.
    static func description(_ value: JSONValue, _ spec: HelperSpec) -> [Remark] {
        var remarks: [Remark] = []
        if let name = value["name"]?.string {
            if name != spec.name {
                remarks.append(
                    .wrong("Describe says the name \"\(safe(name))\", the file \"\(spec.name)\": the two must be the same."))
            }
        } else {
            remarks.append(.wrong("Describe must tell `name`, a text."))
        }
        if let name = value["displayName"]?.string {
            let shown = String(name.prefix(HelperSpec.displayNameLimit))
            // The same long name in the file was remarked already.
            if shown != name, shown != spec.displayName {
                remarks.append(
                    .wrong(
                        "displayName has \(name.count) characters; \(HelperSpec.displayNameLimit) are shown: \"\(safe(shown))\".")
                )
            } else if shown != spec.displayName {
                remarks.append(
                    .note(
                        "Describe says the display name \"\(safe(shown))\", DisplayName= of the file \"\(safe(spec.displayName))\"; users see the file's."
                    ))
            }
        } else {
            remarks.append(.wrong("Describe must tell `displayName`, a text."))
        }
        if value["version"]?.string == nil { remarks.append(.wrong("Describe must tell `version`, a text.")) }
        return remarks
    }

    /// Judges an answer to FilterScanList.
    static func annotations(_ annotations: [Annotation], asked networks: [Network]) -> [Remark] {
        var remarks: [Remark] = []
        for annotation in annotations {
            let matching = networks.filter {
                $0.ssidHex == annotation.ssidHex && (annotation.security == nil || annotation.security == $0.security)
            }
            let label = "\"" + (SSID(hex: annotation.ssidHex)?.description ?? safe(annotation.ssidHex)) + "\""
            if SSID(hex: annotation.ssidHex) == nil {
                remarks.append(.wrong("It claims \(label), which is no hexadecimal name: return `ssidHex` as it came."))
            } else if matching.isEmpty {
                remarks.append(.wrong("It claims \(label), which was not in the list; claim only networks of the list."))
            }
            if annotation.confidence == .none {
                remarks.append(.wrong("It claims \(label) with confidence none: leave it out of the list instead."))
            }
            if annotation.password == nil, matching.contains(where: { $0.security.isSecured }) {
                remarks.append(.wrong("It claims \(label), which is secured, without a `password`: such a claim is ignored."))
            }
        }
        return remarks
    }

    /// Judges an answer to Evaluate on a captive network.
    static func captive(_ evaluation: Evaluation) -> [Remark] {
        var remarks = portal(evaluation.portal)
        if evaluation.confidence == .none {
            remarks.append(
                .note(
                    "It does not claim the made-up network, so the daemon would not choose it. The other commands are played nevertheless."
                ))
        } else if evaluation.portal == nil {
            remarks.append(.note("It names no portal, so the user's stored answers are never released to it."))
        }
        return remarks
    }

    /// Judges an answer to Evaluate where the portal answers the probe with 200 and its page.
    static func inPlace(_ evaluation: Evaluation, claimedBefore: Bool) -> [Remark] {
        if evaluation.confidence == .none, claimedBefore {
            return [
                .wrong(
                    "The portal answered the probe with 200 and its page, and the helper says none: compare with link.probeExpect instead of looking for a redirect."
                )
            ]
        }
        return portal(evaluation.portal)
    }

    /// Judges an answer to Evaluate on a network that needs no login.
    static func open(_ evaluation: Evaluation) -> [Remark] {
        evaluation.confidence == .none
            ? []
            : [
                .wrong(
                    "It claims a network that needs no login (\(evaluation.confidence.rawValue)): request link.probeURL first, compare with link.probeExpect, and answer none."
                )
            ]
    }

    /// The situation of an answer to Authenticate or PresentUI.
    struct LoginSituation {
        /// The portal is open.
        var isOpen: Bool
        /// The helper accepted the portal's terms.
        var acceptedTerms: Bool
        /// The user had accepted them before.
        var consent: Bool
        /// The requests that the portal got, without values.
        var got: [String]
        /// The words that the helper knew before it got a secret.
        var known = KnownWords()

        /// The requests in a sentence.
        var requests: String { got.isEmpty ? "It got nothing but the probe." : "It got: \(got.joined(separator: "; "))." }
    }

    /// Judges an answer to Authenticate or PresentUI.
    static func login(_ reply: Reply, _ login: LoginSituation) -> [Remark] {
        var remarks = portal(reply.portal) + common(reply)
        switch reply.result {
        case .success:
            if !login.isOpen {
                remarks.append(
                    .wrong(
                        "It says success, and the portal is still closed. \(login.requests) The daemon checks this itself and would treat it as a failure."
                    ))
            }
        case .uiRequired:
            if let prompt = reply.prompt {
                remarks += self.prompt(prompt) + echoes(prompt, login.known)
            } else {
                remarks.append(.wrong("uiRequired needs a `prompt`: the questions to the user."))
            }
            if reply.portal == nil { remarks.append(.wrong("uiRequired needs a `portal`: the portal that asks.")) }
        case .commandNotRecognized: remarks.append(.note("It does not know the command, so it cannot log in."))
        case .failure, .authenticationRequired, .unsupportedNetwork, .temporaryFailure:
            if reply.reason == nil { remarks.append(.note("It gives no `reason`, so the user will not know what happened.")) }
        }
        if reply.result != .success, login.isOpen {
            remarks.append(.wrong("The portal is open now, though it says \(reply.result.rawValue)."))
        }
        if login.acceptedTerms, !login.consent {
            remarks.append(
                .wrong("It accepted the portal's terms though the user had not: `consent` was false. Ask with uiRequired."))
        }
        return remarks
    }

    /// Judges an answer to Maintain.
    static func maintain(_ reply: Reply, isOpen: Bool) -> [Remark] {
        var remarks = portal(reply.portal) + common(reply)
        switch (reply.result, isOpen) {
        case (.success, true), (.authenticationRequired, false), (.uiRequired, false): break
        case (.success, false):
            remarks.append(
                .wrong("It says success, and the portal requires a login: the user would be offline and not know why."))
        case (.commandNotRecognized, _):
            remarks.append(.note("It does not know Maintain; the daemon then checks with the probe."))
        case (_, true): remarks.append(.wrong("The session is good, and it says \(reply.result.rawValue)."))
        case (_, false): remarks.append(.note("The portal requires a login; authenticationRequired would start one at once."))
        }
        if reply.result == .authenticationRequired || reply.result == .uiRequired, reply.portal == nil {
            remarks.append(
                .wrong("\(reply.result.rawValue) needs the `portal` as it is now; without it no stored answer is released."))
        }
        return remarks
    }

    /// Judges an answer to Logoff.
    static func logoff(_ reply: Reply, isOpen: Bool) -> [Remark] {
        var remarks = common(reply)
        switch reply.result {
        case .success: if isOpen { remarks.append(.wrong("It says success, and the portal is still open.")) }
        case .commandNotRecognized: remarks.append(.note("It does not know Logoff, so the session at the portal goes on."))
        case .failure, .temporaryFailure, .uiRequired, .authenticationRequired, .unsupportedNetwork:
            remarks.append(.note("It could not log off (\(reply.result.rawValue)); the user is told."))
        }
        return remarks
    }

    /// The remark on a prompt that no answer can follow.
    static let deadEnd = Remark.wrong("It asks the user (uiRequired), and does not know PresentUI: the answers are lost.")

    /// The remark on a prompt that comes back however often it is answered.
    static let sameAgain = Remark.wrong("It repeats the same prompt after each answer: the answers have no effect.")

    /// The remark on a helper that does not know Evaluate.
    static let unknownEvaluate = Remark.wrong(
        "It does not know Evaluate, so it claims no network and never logs in.")

    /// The remark on a helper that never claims the network.
    static let neverClaims = Remark.wrong(
        "It never claims the made-up network, so the daemon would never choose it. If it recognises its portal by the page, save that page and pass it with --page FILE.html; if by the name, use --ssid NAME."
    )

    /// Returns the remark on a helper that claims the network and never opens the portal.
    static func useless(requests: String, hasOwnPage: Bool) -> Remark {
        let hint = hasOwnPage ? "" : " If its portal has another page, pass that with --page FILE.html."
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
            return [
                .note(
                    "The portal's origin \"\(safe(portal.origin))\" is compared letter by letter with the stored one; the usual spelling is \"\(safe(url.origin))\"."
                )
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
        if prompt.title.isEmpty { remarks.append(.wrong("The prompt's title is empty; name the portal.")) }
        if prompt.fields.isEmpty, prompt.message == nil, prompt.termsURL == nil, prompt.terms == nil {
            remarks.append(.wrong("The prompt asks nothing: neither fields nor a message nor terms."))
        }
        if Set(prompt.fields.map(\.name)).count < prompt.fields.count {
            remarks.append(.wrong("Two fields of the prompt have the same name, so one answer would be lost."))
        }
        for field in prompt.fields {
            if field.name.isEmpty { remarks.append(.wrong("A field of the prompt has no name.")) }
            if field.label.isEmpty {
                remarks.append(.wrong("The field \"\(safe(field.name))\" has no label."))
            }
            if field.kind == .choice, field.choices?.isEmpty ?? true {
                remarks.append(.wrong("The choice \"\(safe(field.name))\" has no choices."))
            }
            let hasControls = (field.choices ?? []).contains {
                $0.unicodeScalars.contains { $0.properties.generalCategory == .control }
            }
            if hasControls {
                remarks.append(
                    .wrong("The choice \"\(safe(field.name))\" has control characters, which an answer must not have."))
            }
        }
        return remarks + limits(prompt)
    }

    /// Returns remarks on what the daemon refuses or cuts.
    private static func limits(_ prompt: Prompt) -> [Remark] {
        let remarks = prompt.losses.map { Remark.wrong("Of the prompt, \($0).") }
        guard !prompt.limited.fits else { return remarks }
        return remarks + [
            .wrong(
                "The prompt is longer than \(Prompt.octetLimit / 1024) KiB: the daemon refuses it, and the user is not asked. Shorten its choices, or name the terms' address (termsURL) instead of their text."
            )
        ]
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
            return [
                .wrong(
                    "\(error.sentence). The daemon refuses the prompt: it can mask titles, messages, labels and terms, but not the names and choices that come back with the answers."
                )
            ]
        }
    }

    private static func common(_ reply: Reply) -> [Remark] {
        var remarks: [Remark] = []
        let texts = (reply.trace ?? []) + [reply.reason ?? ""]
        if texts.contains(where: { text in RehearsalUser.secrets.contains { text.contains($0) } }) {
            remarks.append(
                .wrong(
                    "Its trace or reason shows an answer of the user or a credential. Never write them there."
                ))
        }
        return remarks
    }

    private static func safe(_ text: String) -> String { Printable.text(text, limit: 64) }
}
