import HelperKit
import HotspotCore
import Varlink

/// The contents of a session's memory for a login by a portal file, beside that of other logins (``SessionMemory``).
package struct PortalMemory: Codable, Sendable {
    /// A composed request.
    struct Request: Codable, Sendable {
        var url: String
        var body: String?
        var type: String
        var headers: [String]

        init(_ request: HTTPRequest) {
            (url, body, type) = (request.url.text, request.method == .post ? request.body ?? "" : nil, request.contentType)
            headers = request.headers.flatMap { [$0.name, $0.value] }
        }

        /// Returns the request; `nil` if its address may not be asked any more.
        func request(_ redirects: RedirectPolicy) -> HTTPRequest? {
            guard let address = WebURL(url), (try? redirects.check(address)) != nil else { return nil }
            var request = HTTPRequest(address)
            (request.method, request.body, request.contentType) = (body == nil ? .get : .post, body, type)
            request.headers = stride(from: 0, to: headers.count - 1, by: 2).map {
                HTTPResponse.Header(name: headers[$0], value: headers[$0 + 1])
            }
            return request
        }
    }

    /// Where a login goes on that has changed something at the portal before it asked.
    package struct Pause: Codable, Sendable {
        var step: Int
        package var url: String
        package var form: HTMLForm?
        /// The kept values in base64, and how much each of them gives away.
        private var kept: [String: String]
        private var taints: [String: Taint]

        init(step: Int, url: String, form: HTMLForm?, kept: [String: Tainted]) {
            (self.step, self.url, self.form) = (step, url, form)
            self.kept = kept.mapValues { Base64.encode($0.octets) }
            taints = kept.mapValues(\.taint)
        }

        var values: [String: Tainted] {
            Dictionary(
                uniqueKeysWithValues: kept.map { name, text in
                    (name, Tainted(octets: Base64.decode(text) ?? [], taint: taints[name] ?? .secret))
                })
        }
    }

    /// The name of the file, without its ending.
    var catalogue: String?
    package var pause: Pause?
    var status: Request?
    var logoff: Request?

    package init(_ session: Session?) {
        guard let value = session?.memory, let memory = try? Coding.decode(PortalMemory.self, from: value) else { return }
        self = memory
    }

    /// Returns both memories as the daemon keeps them.
    func value(beside shared: SessionMemory) -> JSONValue? {
        guard case .object(let own) = Coding.value(self), case .object(let other)? = shared.value else { return shared.value }
        let both = JSONValue.object(own.merging(other) { $1 })
        return Coding.encode(both).count <= Session.memoryLimit ? both : shared.value
    }
}
