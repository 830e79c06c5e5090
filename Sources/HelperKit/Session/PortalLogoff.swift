import HotspotCore

/// Logs off at portals whose pages offer it.
public enum PortalLogoff {
    /// Returns the request of a link or form that logs off; for openNDS and nodogsplash, whose pages have none, that of their known path.
    static func find(on page: HTMLPage, at url: WebURL, redirects: RedirectPolicy) -> SessionMemory.SavedRequest? {
        for link in page.links where !link.isInert && (FormWords.isLogout(link.text) || FormWords.isLogout(link.reference)) {
            if let target = try? redirects.target(of: link.reference, from: page.base), target.host == url.host {
                return SessionMemory.SavedRequest(url: target.text, body: nil)
            }
        }
        for form in page.forms
        where form.submits.contains(where: { FormWords.isLogout($0.words) }) || FormWords.isLogout(form.action) {
            guard let filled = try? FilledForm(form, on: page, at: url, answers: [:], consent: false, redirects: redirects),
                filled.staysOnOrigin
            else { continue }
            return SessionMemory.SavedRequest(url: filled.request.url.text, body: filled.request.body)
        }
        // openNDS and nodogsplash log out at a GET of these paths.
        for (path, deny) in [("/opennds_preauth/", "/opennds_deny/"), ("/opennds_auth/", "/opennds_deny/")]
        where url.path.hasPrefix(path) {
            return SessionMemory.SavedRequest(url: url.origin + deny, body: nil)
        }
        if url.path.hasPrefix("/nodogsplash_auth/") {
            return SessionMemory.SavedRequest(url: url.origin + "/nodogsplash_deny/", body: nil)
        }
        return nil
    }

    /// Answers Logoff: sends the request that the login kept in the session's memory. `failure` if there is none.
    public static func run(_ command: HelperCommand) -> Reply {
        let memory = SessionMemory(command.session)
        guard let saved = memory.logoff, let url = WebURL(saved.url) else {
            return command.reply(.failure, reason: "This portal offered no way to log off.")
        }
        var request = HTTPRequest(url)
        if let body = saved.body {
            request.method = .post
            request.body = body
        }
        request.requiredPin = url.origin == memory.origin && url.isSecure ? memory.pin : nil
        do throws(TransferError) {
            try command.redirects.check(url)
            let client = command.client(cookies: CookieJar(lines: memory.cookies ?? []))
            let response = try client.send(request, in: command.scope.limited(milliseconds: 10_000))
            guard response.status < 400 || response.status == 511 else {
                return command.reply(.failure, reason: "The portal answered the logoff with status \(response.status).")
            }
            if let document = WISPrDocument.find(in: response.body), let code = document.responseCode, code != 150, code != 0 {
                return command.reply(.failure, reason: "The portal answered the logoff with code \(code).")
            }
            return command.reply(.success)
        } catch {
            return command.reply(error)
        }
    }
}
