import ControlAPI
import HotspotCore

// The parts of replies that callers without permission do not see.

extension PendingPrompt {
    /// The prompt with the page's own defaults alone.
    var withoutStoredAnswers: PendingPrompt {
        var known = self
        for index in fields.indices where stored?.contains(fields[index].name) == true { known.fields[index].value = nil }
        return known
    }

    /// Returns the prompt for callers that may not answer: interface, helper and perhaps network, without the questions. A helper may
    /// be wrong about what is secret.
    func withheldFromUnpermitted(names: Bool) -> PendingPrompt {
        var known = self
        if !names { (known.ssid, known.portal, known.title) = ("", nil, "") }
        known.message = nil
        known.fields = []
        known.termsURL = nil
        known.terms = nil
        known.withheld = true
        (known.stored, known.warning, known.note) = (nil, nil, nil)
        return known
    }
}

extension InterfaceStatus {
    var withoutNames: InterfaceStatus {
        var known = self
        (known.ssid, known.ssidHex, known.bssid, known.portal, known.portalKind) = (nil, nil, nil, nil, nil)
        // The words of a portal name it.
        (known.reason, known.warning, known.said) = (nil, nil, nil)
        (known.network, known.portalKey) = (nil, nil)
        known.link = nil
        known.problems = problems.map { Problem($0.code, QuotedProblem.split($0.message).sentence, hint: $0.hint) }
        return known
    }
}

extension HelperStatus {
    var withoutNames: HelperStatus {
        var known = self
        (known.given, known.disabledFor, known.moreDisabledFor) = (nil, [], nil)
        return known
    }
}

extension Step {
    /// For every local user: a trace names the paths of portals.
    var isPublic: Bool { kind != "trace" }
}
