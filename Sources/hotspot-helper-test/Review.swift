import ForeignText
import HelperHost
import HelperKit
import HotspotCore

/// What an answer of a helper is worth, in plain words. Pure: an answer and the situation go in, remarks come out.
enum Review {
    /// Of Describe.
    static func description(_ value: JSONValue, _ spec: HelperSpec) -> [Remark] {
        var remarks: [Remark] = []
        if let name = value["name"]?.string {
            if name != spec.name {
                remarks.append(.wrong("It calls itself «\(safe(name))», its file «\(spec.name)»: the two must be the same."))
            }
        } else {
            remarks.append(.wrong("Describe must tell `name`, a text."))
        }
        if let name = value["displayName"]?.string {
            let shown = String(name.prefix(HelperSpec.displayNameLimit))
            // Where the file has the same long name, that was said of it already.
            if shown != name, shown != spec.displayName {
                remarks.append(
                    .wrong(
                        "displayName has \(name.count) characters; \(HelperSpec.displayNameLimit) are shown: «\(safe(shown))»."))
            } else if shown != spec.displayName {
                remarks.append(
                    .note(
                        "It calls itself «\(safe(shown))», and DisplayName= of its file «\(safe(spec.displayName))»; people see the file's."
                    ))
            }
        } else {
            remarks.append(.wrong("Describe must tell `displayName`, a text."))
        }
        if value["version"]?.string == nil { remarks.append(.wrong("Describe must tell `version`, a text.")) }
        return remarks
    }

    /// Of FilterScanList.
    static func annotations(_ annotations: [Annotation], asked networks: [Network]) -> [Remark] {
        var remarks: [Remark] = []
        for annotation in annotations {
            let matching = networks.filter {
                $0.ssidHex == annotation.ssidHex && (annotation.security == nil || annotation.security == $0.security)
            }
            let label = SSID(hex: annotation.ssidHex).map { "«\($0)»" } ?? "«\(safe(annotation.ssidHex))»"
            if SSID(hex: annotation.ssidHex) == nil {
                remarks.append(.wrong("It claims \(label), which is no hexadecimal name: give `ssidHex` back as it came."))
            } else if matching.isEmpty {
                remarks.append(.wrong("It claims \(label), which was not in the list; claim only what you were shown."))
            }
            if annotation.confidence == .none {
                remarks.append(.wrong("It claims \(label) with confidence none: leave it out of the list instead."))
            }
            if annotation.password == nil, matching.contains(where: { $0.security.isSecured }) {
                remarks.append(.wrong("It claims \(label), which is secured, without a `password`: such a claim is not shown."))
            }
        }
        return remarks
    }

    /// Of Evaluate on a captive network.
    static func captive(_ evaluation: Evaluation) -> [Remark] {
        var remarks = portal(evaluation.portal)
        if evaluation.confidence == .none {
            remarks.append(
                .note(
                    "It does not claim the made-up network, so the daemon would not choose it. The other commands are played all the same."
                ))
        } else if evaluation.portal == nil {
            remarks.append(.note("It names no portal: the user's stored answers are never released to it."))
        }
        return remarks
    }

    /// Of Evaluate where the portal answers the probe itself, with 200 and its page.
    static func inPlace(_ evaluation: Evaluation, claimedBefore: Bool) -> [Remark] {
        if evaluation.confidence == .none, claimedBefore {
            return [
                .wrong(
                    "The portal answered the probe with 200 and its page, and it says none: compare with link.probeExpect, not with a redirect alone."
                )
            ]
        }
        return portal(evaluation.portal)
    }

    /// Of Evaluate on a network that needs no login.
    static func open(_ evaluation: Evaluation) -> [Remark] {
        evaluation.confidence == .none
            ? []
            : [
                .wrong(
                    "It claims a network that needs no login (\(evaluation.confidence.rawValue)): look at the probe first, compare with link.probeExpect, and answer none."
                )
            ]
    }

    /// What surrounds an answer to Authenticate or PresentUI.
    struct Login {
        /// The portal lets everybody through now.
        var isOpen: Bool
        /// The helper accepted the portal's terms.
        var acceptedTerms: Bool
        /// The user had accepted them.
        var consent: Bool
        /// What the portal got, values masked.
        var got: [String]
        /// What the helper had before it was told any secret.
        var known = KnownWords()

        /// The same in a sentence.
        var telling: String { got.isEmpty ? "It got nothing but the probe." : "It got: \(got.joined(separator: "; "))." }
    }

    /// Of Authenticate and PresentUI.
    static func login(_ reply: Reply, _ login: Login) -> [Remark] {
        var remarks = portal(reply.portal) + common(reply)
        switch reply.result {
        case .success:
            if !login.isOpen {
                remarks.append(
                    .wrong(
                        "It says success, and the portal is still closed. \(login.telling) The daemon looks for itself and would count a failure."
                    ))
            }
        case .uiRequired:
            if let prompt = reply.prompt {
                remarks += self.prompt(prompt) + echoes(prompt, login.known)
            } else {
                remarks.append(.wrong("uiRequired needs a `prompt`: what shall the user be asked?"))
            }
            if reply.portal == nil { remarks.append(.wrong("uiRequired needs a `portal`: who asks?")) }
        case .commandNotRecognized: remarks.append(.note("It does not know the command; then it cannot log in."))
        case .failure, .authenticationRequired, .unsupportedNetwork, .temporaryFailure:
            if reply.reason == nil { remarks.append(.note("It gives no `reason`: the user will not know what happened.")) }
        }
        if reply.result != .success, login.isOpen {
            remarks.append(.wrong("The portal is open now, though it says \(reply.result.rawValue)."))
        }
        if login.acceptedTerms, !login.consent {
            remarks.append(.wrong("It accepted the portal's terms though nobody had: `consent` was false. Ask with uiRequired."))
        }
        return remarks
    }

    /// Of Maintain.
    static func maintain(_ reply: Reply, isOpen: Bool) -> [Remark] {
        var remarks = portal(reply.portal) + common(reply)
        switch (reply.result, isOpen) {
        case (.success, true), (.authenticationRequired, false), (.uiRequired, false): break
        case (.success, false):
            remarks.append(.wrong("It says success, and the portal wants a login: the user would be offline and not know why."))
        case (.commandNotRecognized, _): remarks.append(.note("It does not know Maintain; the daemon looks for itself then."))
        case (_, true): remarks.append(.wrong("The session is good, and it says \(reply.result.rawValue)."))
        case (_, false): remarks.append(.note("The portal wants a login; authenticationRequired would start one at once."))
        }
        if reply.result == .authenticationRequired || reply.result == .uiRequired, reply.portal == nil {
            remarks.append(
                .wrong("\(reply.result.rawValue) needs the `portal` as it is now; without it no stored answer is released."))
        }
        return remarks
    }

    /// Of Logoff.
    static func logoff(_ reply: Reply, isOpen: Bool) -> [Remark] {
        var remarks = common(reply)
        switch reply.result {
        case .success: if isOpen { remarks.append(.wrong("It says success, and the portal still lets everybody through.")) }
        case .commandNotRecognized: remarks.append(.note("It does not know Logoff: the session at the portal goes on."))
        case .failure, .temporaryFailure, .uiRequired, .authenticationRequired, .unsupportedNetwork:
            remarks.append(.note("It could not log off (\(reply.result.rawValue)); the user is told so."))
        }
        return remarks
    }

    /// A prompt that no answer can follow.
    static let deadEnd = Remark.wrong("It asks the user (uiRequired), and does not know PresentUI: the answers go nowhere.")

    /// A prompt that comes back however often it is answered.
    static let sameAgain = Remark.wrong("It asks the same again and again, whatever is answered: the answers go nowhere.")

    /// Of the whole, where Evaluate is unknown.
    static let unknownEvaluate = Remark.wrong(
        "It does not know Evaluate: no network is ever its own, and it never logs anybody in.")

    /// Of the whole, where the network was wanted by nobody.
    static let neverClaims = Remark.wrong(
        "It never claims the made-up network: the daemon would never choose it. If it knows its portal by the page, save that page and give it with --page FILE.html; if by the name, with --ssid NAME."
    )

    /// Of the whole, where the network was wanted and nobody got in.
    static func useless(telling: String, hasOwnPage: Bool) -> Remark {
        let hint = hasOwnPage ? "" : " If its portal's page is another one, give that with --page FILE.html."
        return .wrong(
            "It claims the network, and no command opened the portal: neither with the user's answers, nor with the terms accepted before. \(telling)\(hint)"
        )
    }

    // MARK: Parts

    private static func portal(_ portal: Portal?) -> [Remark] {
        guard let portal else { return [] }
        guard let url = WebURL(portal.origin) else {
            return [.wrong("The portal's origin «\(safe(portal.origin))» is no address that anybody could go to.")]
        }
        if url.origin != portal.origin {
            return [
                .note(
                    "The portal's origin «\(safe(portal.origin))» is compared letter by letter with what is stored; the usual spelling is «\(safe(url.origin))»."
                )
            ]
        }
        if url.isSecure, portal.pin == nil {
            return [.note("The portal speaks https and no `pin` is named: no stored answer is released.")]
        }
        if !url.isSecure, portal.pin != nil { return [.wrong("A portal over plain HTTP has no key: leave `pin` out.")] }
        return portal.kind.isEmpty ? [.wrong("The portal's `kind` is empty; a word such as form will do.")] : []
    }

    private static func prompt(_ prompt: Prompt) -> [Remark] {
        var remarks: [Remark] = []
        if prompt.title.isEmpty { remarks.append(.wrong("The prompt's title is empty: who asks?")) }
        if prompt.fields.isEmpty, prompt.message == nil, prompt.termsURL == nil, prompt.terms == nil {
            remarks.append(.wrong("The prompt asks nothing: neither fields nor a message nor terms."))
        }
        if Set(prompt.fields.map(\.name)).count < prompt.fields.count {
            remarks.append(.wrong("Two fields of the prompt have the same name: one answer would be lost."))
        }
        for field in prompt.fields {
            if field.name.isEmpty { remarks.append(.wrong("A field of the prompt has no name.")) }
            if field.label.isEmpty {
                remarks.append(.wrong("The field «\(safe(field.name))» has no label: what is the user to type?"))
            }
            if field.kind == .choice, field.choices?.isEmpty ?? true {
                remarks.append(.wrong("The choice «\(safe(field.name))» has no choices."))
            }
            let isControlled = (field.choices ?? []).contains {
                $0.unicodeScalars.contains { $0.properties.generalCategory == .control }
            }
            if isControlled {
                remarks.append(
                    .wrong("The choice «\(safe(field.name))» has control characters in it, which no answer may have."))
            }
        }
        return remarks + limits(prompt)
    }

    /// What the daemon refuses, and what it takes away.
    private static func limits(_ prompt: Prompt) -> [Remark] {
        let remarks = prompt.losses.map { Remark.wrong("Of the prompt, \($0).") }
        guard !prompt.limited.fits else { return remarks }
        return remarks + [
            .wrong(
                "The prompt is longer than \(Prompt.octetLimit / 1024) KiB: the daemon refuses it, and nobody is asked. Most of it is choices or terms; name an address of the terms (termsURL) instead of their text."
            )
        ]
    }

    /// A prompt that repeats what somebody typed.
    private static func echoes(_ prompt: Prompt, _ known: KnownWords) -> [Remark] {
        do throws(HelperFault) {
            guard try prompt.masked(RehearsalUser.hidden, known: known) != prompt else { return [] }
            return [
                .note(
                    "The prompt repeats what the user typed, or what was released to it; the daemon masks it, and fills in no such value."
                )
            ]
        } catch {
            return [
                .wrong(
                    "\(error.sentence). The daemon refuses the prompt: it can mask titles, messages, labels and terms, but not what comes back with the answers."
                )
            ]
        }
    }

    private static func common(_ reply: Reply) -> [Remark] {
        var remarks: [Remark] = []
        let told = (reply.trace ?? []) + [reply.reason ?? ""]
        if told.contains(where: { text in RehearsalUser.secrets.contains { text.contains($0) } }) {
            remarks.append(
                .wrong(
                    "Its trace or reason shows what the user typed, or what was released to it. Never write answers or credentials there."
                ))
        }
        return remarks
    }

    private static func safe(_ text: String) -> String { Printable.text(text, limit: 64) }
}
