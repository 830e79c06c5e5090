import BoundHTTP
import HotspotCore

/// An unusual way of sending that needs the user's consent, for one origin of a page and one target.
package enum ConsentRequired: String, CaseIterable {
    /// The page sends to another origin, at an address of the link's own networks: web pages attack routers that way.
    case leadsInside = "send"
    /// A password, or the number of a document, would be part of an address over plain HTTP.
    case passwordInAddress = "password-in-address"
    /// The page sends the answers to another origin. The prompt names that origin, and answering the prompt is consent; the other cases have a box.
    case answersElsewhere = "answers"

    /// The beginning of the name of each box that asks for consent.
    package static let prefix = "agree:"

    package func box(for target: WebURL) -> Field {
        let label =
            switch self {
            case .leadsInside: "Send this to \(target.origin), a device inside this network"
            case .passwordInAddress: "Send the answers as part of an address of \(target.origin), which people nearby can read"
            case .answersElsewhere: "Your answers go to \(target.origin)"
            }
        return Field(name: "\(Self.prefix)\(rawValue):\(target.origin)", label: label, kind: .checkbox, required: true)
    }

    package func agreement(on page: WebURL, to target: WebURL) -> String {
        Self.agreement(page.origin, box(for: target).name)
    }

    /// Returns the text under which an answered box is remembered.
    package static func agreement(_ origin: String, _ box: String) -> String { "\(origin) \(box)" }
}
