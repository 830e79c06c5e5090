import HelperKit
import HotspotCore
import PageLogin

/// The rules of trust for one request of a portal file. They are the same as for forms, and a file cannot loosen them.
struct RequestTrust {
    let request: HTTPRequest
    let taint: Taint
    /// Whether the request does more than open a page.
    let acts: Bool
    let live: Portal

    /// Returns the boxes that the user must tick before the request may be sent.
    func boxes(_ engine: FormEngine) -> [Field] {
        guard let page = WebURL(live.origin) else { return [] }
        let target = request.url
        var boxes: [Field] = []
        if target.origin != live.origin {
            let isInside = engine.leadsInside(target)
            // A web page may attack a router by leading into the network, and answers for one portal must not reach another portal. Both need the
            // user's consent.
            if isInside, acts || taint > .none {
                boxes.append(ConsentRequired.leadsInside.box(for: target))
            } else if taint > .none {
                boxes.append(ConsentRequired.answersElsewhere.box(for: target))
            }
        }
        if taint == .secret, request.method == .get, !target.isSecure {
            boxes.append(ConsentRequired.passwordInAddress.box(for: target))
        }
        return boxes.filter { !engine.agreed.contains(ConsentRequired.agreement(page.origin, $0.name)) }
    }

    /// Returns whether a stored password would be sent over plain HTTP without the user's consent.
    func needsUser(_ engine: FormEngine) -> Bool {
        let isPlain = !(request.url.isSecure && live.origin.hasPrefix("https://"))
        return taint >= .digest && isPlain && !engine.isTypedNow && !engine.allowsPlainHTTP
    }
}

/// Composes the requests of a portal file.
enum PortalRequest {
    static func compose(
        _ message: PortalFile.Message, _ values: PortalValues, from base: WebURL, _ redirects: RedirectPolicy
    ) throws(TransferError) -> (HTTPRequest, Taint) {
        let address = values.value(of: message.address)
        let url = try redirects.target(of: address.text, from: base)
        var taint = address.taint
        var pairs: [String] = []
        for field in message.fields {
            let value = values.value(of: field.value)
            taint = max(taint, value.taint)
            pairs.append(PercentEncoding.encode(Array(field.name.utf8)) + "=" + PercentEncoding.encode(value.octets))
        }
        let form = pairs.joined(separator: "&")
        var request = HTTPRequest(url)
        switch message.method {
        case .open:
            if !pairs.isEmpty {
                let query = [url.query ?? "", form].filter { !$0.isEmpty }.joined(separator: "&")
                guard let whole = WebURL(url.origin + url.path + "?" + query) else {
                    throw TransferError(.refusedURL, "too long")
                }
                request = HTTPRequest(whole)
            }
        case .post:
            request.method = .post
            switch message.content {
            case .none: request.body = form
            case .json(let template):
                let body = values.value(of: template, escape: JSONText.escape)
                taint = max(taint, body.taint)
                request.body = body.text
                request.contentType = "application/json"
            case .other(let template):
                let body = values.value(of: template)
                taint = max(taint, body.taint)
                request.body = body.text
            }
            if let type = message.type { request.contentType = clean(values.text(of: type)) }
        }
        for header in message.headers {
            let value = values.value(of: header.value)
            taint = max(taint, value.taint)
            if header.name.lowercased() == "accept" {
                request.accept = clean(value.text)
            } else {
                request.headers.append(HTTPResponse.Header(name: clean(header.name), value: clean(value.text)))
            }
        }
        request.referer = values.last.url
        return (request, taint)
    }

    /// Returns the text without characters that would end a header line.
    private static func clean(_ text: String) -> String {
        String(text.unicodeScalars.filter { $0.value >= 0x20 && $0.value != 0x7F })
    }
}
