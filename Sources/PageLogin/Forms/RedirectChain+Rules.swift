import HelperKit
import HotspotCore

extension RedirectChain {
    /// Follows the redirects of an answer; the page rules answer the chain's questions. Throws ``TransferError``.
    ///
    /// - Parameters: - outside: hosts that end the chain. - page: the page whose form was submitted, if the request submits one. - agreed: the ways
    ///   of sending to which the user agreed (``ConsentRequired``). - trusted: the origin whose pages need no such agreement. - mayWait: called
    ///   before a refresh that takes longer than a second.
    package static func follow(
        _ response: HTTPResponse, to request: HTTPRequest, client: HTTPClient, outside: Set<String> = [],
        submittedFrom page: WebURL? = nil, agreed: Set<String> = [], trusted: String? = nil, in scope: Scope,
        mayWait: () -> Bool = { true }
    ) throws(TransferError) -> RedirectChain {
        try follow(
            response, to: request, client: client, asking: Questions(agreed: agreed), outside: outside, submittedFrom: page,
            trusted: trusted, in: scope, mayWait: mayWait)
    }
}

extension RedirectChain.Questions {
    /// Makes the questions that the page rules answer.
    init(agreed: Set<String>) {
        self.init(
            hasLogin: { page, url in
                if case .options = ChoiceCase(page, at: url).choice.ruling { true } else { false }
            },
            mayLeadInside: { agreed.contains(ConsentRequired.leadsInside.agreement(on: $0, to: $1)) })
    }
}

extension HelperCommand {
    /// Returns the portal's first page; the helpers of the process share one request for it.
    package func portalPage(_ source: PortalPage.PageSource) -> PortalPage? {
        attempts.portalPage(link, source: source, asking: RedirectChain.Questions(agreed: []), policy: policy, in: scope)
    }
}
