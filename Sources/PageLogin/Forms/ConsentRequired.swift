import BoundHTTP
import HotspotCore

/// An unusual way of sending to which only the user can agree, for one origin of a page and one target.
package enum ConsentRequired: String, CaseIterable {
    /// The page leads from another origin to an address of the link's own networks, which is how web pages attack routers.
    case leadsInside = "send"
    /// A password, or the number of a document, would be part of an address over plain HTTP.
    case passwordInAddress = "password-in-address"
    /// The page sends the answers to another origin. The prompt says so, and an answer to it agrees; the other ways have a box.
    case answersElsewhere = "answers"

    /// The prefix of the names of the boxes that agree.
    package static let prefix = "agree:"

    package func box(for target: WebURL) -> Field {
        let label =
            switch self {
            case .leadsInside: "Send this to \(target.origin), a device within this network"
            case .passwordInAddress: "Put the answers into an address of \(target.origin), which others nearby can read"
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
