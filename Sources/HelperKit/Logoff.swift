import HotspotCore

/// How to leave a portal, as far as its pages tell.
public enum Logoff {
    /// A link or a form that says so; for openNDS and nodogsplash, which do not say it, their known path.
    static func find(on page: HTMLPage, at url: WebURL, redirects: RedirectPolicy) -> Memory.SavedRequest? {
        for link in page.links where FormWords.isLogout(link.text) || FormWords.isLogout(link.reference) {
            if let target = try? redirects.target(of: link.reference, from: page.base), target.host == url.host {
                return Memory.SavedRequest(url: target.text, body: nil)
            }
        }
        for form in page.forms
        where form.submits.contains(where: { FormWords.isLogout($0.words) }) || FormWords.isLogout(form.action) {
            guard let filled = try? FilledForm(form, on: page, at: url, answers: [:], consent: false, redirects: redirects),
                filled.staysOnOrigin
            else { continue }
            return Memory.SavedRequest(url: filled.request.url.text, body: filled.request.body)
        }
        // `portals.md`, 2.2: logging out is a GET of this path.
        for (path, deny) in [("/opennds_preauth/", "/opennds_deny/"), ("/opennds_auth/", "/opennds_deny/")]
        where url.path.hasPrefix(path) {
            return Memory.SavedRequest(url: url.origin + deny, body: nil)
        }
        if url.path.hasPrefix("/nodogsplash_auth/") {
            return Memory.SavedRequest(url: url.origin + "/nodogsplash_deny/", body: nil)
        }
        return nil
    }

    /// Carries a remembered logoff out.
    public static func run(_ visit: Visit) -> Reply {
        let memory = Memory(visit.session)
        guard let saved = memory.logoff, let url = WebURL(saved.url) else {
            return visit.reply(.failure, reason: "This portal offered no way to log off.")
        }
        var request = HTTPRequest(url)
        if let body = saved.body {
            request.method = .post
            request.body = body
        }
        request.requiredPin = url.origin == memory.origin && url.isSecure ? memory.pin : nil
        do throws(TransferError) {
            try visit.redirects.check(url)
            let client = visit.client(cookies: CookieJar(lines: memory.cookies ?? []))
            let response = try client.send(request, in: visit.scope.limited(milliseconds: 10_000))
            guard response.status < 400 || response.status == 511 else {
                return visit.reply(.failure, reason: "The portal answered the logoff with status \(response.status).")
            }
            if let document = WISPrDocument.find(in: response.body), let code = document.responseCode, code != 150, code != 0 {
                return visit.reply(.failure, reason: "The portal answered the logoff with code \(code).")
            }
            return visit.reply(.success)
        } catch {
            return visit.reply(error)
        }
    }
}
