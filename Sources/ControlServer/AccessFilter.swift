import ControlAPI
import HotspotCore

// Removes from the replies the parts that callers without permission may not see.

extension PendingPrompt {
    /// The prompt without stored answers; only the page's own defaults are left.
    var withoutStoredAnswers: PendingPrompt {
        var known = self
        for index in fields.indices where stored?.contains(fields[index].name) == true { known.fields[index].value = nil }
        return known
    }

    /// Returns the prompt for callers that may not answer it: without its questions, because the helper may be wrong about which of them are secret.
    /// The network, the portal and the title are left out too, unless `names` is set.
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
        // Remove the portal's words, which could name the network.
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
    /// Whether every local user may see this step: traces are excluded, because they name the paths of portals.
    var isPublic: Bool { kind != "trace" }
}
