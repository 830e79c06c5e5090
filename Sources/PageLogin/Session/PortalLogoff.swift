import ForeignText
import HelperKit
import HotspotCore

/// Logs off at portals whose pages offer a logoff.
public struct PortalLogoff: Sendable {
    private let command: HelperCommand
    private let memory: SessionMemory
    private let client: HTTPClient

    private init(_ command: HelperCommand) {
        (self.command, memory) = (command, SessionMemory(command.session))
        client = memory.client(command)
    }

    /// Returns the request of a link or form that logs off, at the page's own host or the portal's. The pages of openNDS and nodogsplash have no such
    /// link, but the path that logs off is known.
    static func find(
        on page: TypedPage, at url: WebURL, of portal: String? = nil, redirects: RedirectPolicy
    ) -> SessionMemory.SavedRequest? {
        for link in page.links where !link.isInert && link.all.isLogout {
            if let target = try? redirects.target(of: link.reference, from: page.base),
                target.host == url.host || target.origin == portal
            {
                return SessionMemory.SavedRequest(url: target.text)
            }
        }
        for form in page.forms
        where form.isLogoff {
            guard let filled = try? FilledForm(form, on: page.page, at: url, redirects: redirects),
                filled.staysOnOrigin || filled.target.origin == portal
            else { continue }
            return SessionMemory.SavedRequest(filled.request)
        }
        // openNDS and nodogsplash log out on a GET of these paths.
        for (path, deny) in [
            ("/opennds_preauth/", "/opennds_deny/"), ("/opennds_auth/", "/opennds_deny/"),
            ("/nodogsplash_auth/", "/nodogsplash_deny/"),
        ] where url.path.hasPrefix(path) { return SessionMemory.SavedRequest(url: url.origin + deny) }
        return nil
    }

    /// Answers Logoff: sends the request that the login kept in the session's memory, or a request that the portal's page offers now; `failure` if
    /// there is none. After a success, the reply contains the part of the memory that the next login needs; otherwise the memory stays unchanged for
    /// another try.
    public static func run(_ command: HelperCommand) -> Reply {
        forNextLogin(PortalLogoff(command).end(), command)
    }

    /// Returns a reply to Logoff with the part of the session that the next login needs: accepted terms and agreements.
    package static func forNextLogin(_ reply: Reply, _ command: HelperCommand) -> Reply {
        guard reply.result == .success else { return reply }
        var reply = reply
        reply.session = command.session.map { Session(memory: SessionMemory($0).forNextLogin.value) }
        return reply
    }

    private func end() -> Reply {
        do throws(TransferError) {
            var (saved, status) = (memory.logoff, nil as Int?)
            if saved == nil { (saved, status) = try look() }
            guard let saved, var response = try send(saved) else {
                let reason =
                    switch status {
                    case nil: "hotspotd does not know how to log off here."
                    case let status? where status >= 400:
                        "hotspotd does not know how to log off here: the portal's page answered with status \(status)."
                    case _?: "The portal's page offers no way to log off."
                    }
                return command.reply(.failure, reason: reason)
            }
            if let again = next(after: response, to: saved) {
                let second = try send(again)
                if let second, second.status < 400 || response.status >= 400 { response = second }
            }
            guard response.status < 400 || response.status == 511 else {
                // An error of the server (5xx) is temporary.
                return command.reply(
                    response.status >= 500 ? .temporaryFailure : .failure,
                    reason: "The portal answered the logoff with status \(response.status).")
            }
            if let document = WISPrDocument.find(in: response.body), let code = document.responseCode, code != 150, code != 0 {
                return command.reply(.failure, reason: "The portal answered the logoff with code \(code).")
            }
            let words = Printable.text(HTMLReader.read(response).summary, limit: 200)
            return command.reply(.success, reason: words.isEmpty ? nil : Reply.portalAnswered + words)
        } catch {
            // A changed key is a final failure: another attempt would find the same key.
            return error.code == .keyChanged ? command.reply(.failure, reason: error.description) : command.reply(error)
        }
    }

    /// Returns the next request, if one is needed: the portal asks for confirmation; or it refuses the kept request, because it has forgotten the
    /// session, and its page offers another request. Otherwise `nil`.
    private func next(
        after response: HTTPResponse, to sent: SessionMemory.SavedRequest
    ) -> SessionMemory.SavedRequest? {
        if response.status >= 400, response.status != 511 {
            let isKept = memory.logoff == sent && response.status < 500
            guard isKept, let (fresh, _) = try? look(), fresh != sent else { return nil }
            return fresh
        }
        var last = response
        for _ in 0..<Self.redirectLimit {
            guard let location = last.location, let target = try? command.redirects.target(of: location, from: last.url),
                target.origin == response.url.origin
            else { break }
            var request = HTTPRequest(target)
            request.requiredPin = memory.pin(for: target)
            guard let answer = try? client.send(request, in: command.scope.limited(milliseconds: 5000)) else { return nil }
            last = answer
        }
        let fresh = Self.find(on: TypedPage(HTMLReader.read(last)), at: last.url, redirects: command.redirects)
        return fresh?.body == nil || fresh == sent ? nil : fresh
    }

    private static let redirectLimit = 3

    private func send(_ saved: SessionMemory.SavedRequest) throws(TransferError) -> HTTPResponse? {
        guard let request = try memory.request(saved, command.redirects) else { return nil }
        return try client.send(request, in: command.scope.limited(milliseconds: 10_000))
    }

    /// Looks for a logoff on the page to which the login led, otherwise on the portal's first page: some portals offer a logoff only after the login.
    /// Also returns the first page's status, if that page was fetched.
    private func look() throws(TransferError) -> (SessionMemory.SavedRequest?, status: Int?) {
        var status: Int?
        let places = [memory.statusPage, memory.origin].compactMap { $0.flatMap(WebURL.init) }
        for (index, url) in places.enumerated() where url.origin == memory.origin && places.firstIndex(of: url) == index {
            try command.redirects.check(url)
            var request = HTTPRequest(url)
            request.requiredPin = memory.pin(for: url)
            let scope = command.scope.limited(milliseconds: 10_000)
            let chain: RedirectChain
            do throws(TransferError) {
                chain = try RedirectChain.follow(try client.send(request, in: scope), to: request, client: client, in: scope)
            } catch {
                guard status == nil else { break }
                throw error
            }
            status = status ?? chain.final.status
            let saved = Self.find(on: TypedPage(chain.page), at: chain.final.url, of: memory.origin, redirects: command.redirects)
            // A page on another site counts only if its logoff is at the portal's origin.
            if let saved, chain.final.url.isSameSite(as: url) || WebURL(saved.url)?.origin == memory.origin {
                return (saved, status)
            }
        }
        return (nil, status)
    }
}
