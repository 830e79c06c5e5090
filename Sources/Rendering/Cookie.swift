import HotspotCore

/// One cookie, converted between the formats of libcurl (a line of Netscape's `cookies.txt`) and DevTools.
struct Cookie: Hashable {
    var domain: String
    var path: String
    var isSecure: Bool
    var isHTTPOnly: Bool
    /// The expiry, in seconds since 1970; 0 for a session cookie.
    var expires: Int
    var name: String
    var value: String

    /// Reads a line; `nil` if it is not a cookie.
    init?(line: String) {
        let prefix = "#HttpOnly_"
        isHTTPOnly = line.hasPrefix(prefix)
        let parts = line.dropFirst(isHTTPOnly ? prefix.count : 0).split(separator: "\t", omittingEmptySubsequences: false)
        guard parts.count >= 6, let expires = Int(parts[4]), !parts[5].isEmpty else { return nil }
        (domain, path, isSecure) = (String(parts[0]), String(parts[2]), parts[3] == "TRUE")
        (self.expires, name, value) = (expires, String(parts[5]), parts.count > 6 ? String(parts[6]) : "")
        // In DevTools, a leading dot marks a domain whose cookie is also sent to its subdomains.
        if parts[1] == "TRUE", !domain.hasPrefix(".") { domain = "." + domain }
    }

    var line: String {
        let isWide = domain.hasPrefix(".")
        let parts = [domain, isWide ? "TRUE" : "FALSE", path, isSecure ? "TRUE" : "FALSE", "\(expires)", name, value]
        return (isHTTPOnly ? "#HttpOnly_" : "") + parts.joined(separator: "\t")
    }

    /// Reads DevTools' `Network.Cookie`; `nil` if it cannot be written as a line.
    init?(parameters: JSONValue) {
        guard let domain = parameters["domain"]?.string, let name = parameters["name"]?.string, !name.isEmpty,
            let value = parameters["value"]?.string, let path = parameters["path"]?.string,
            ![domain, name, value, path].contains(where: { $0.utf8.contains { $0 < 0x20 } })
        else { return nil }
        (self.domain, self.path, self.name, self.value) = (domain, path, name, value)
        (isSecure, isHTTPOnly) = (parameters["secure"]?.bool == true, parameters["httpOnly"]?.bool == true)
        if case .number(let seconds)? = parameters["expires"], seconds > 0, seconds < 1e12 {
            expires = Int(seconds)
        } else {
            expires = max(0, parameters["expires"]?.integer ?? 0)
        }
    }

    /// The members of DevTools' `Network.CookieParam`.
    var parameters: JSONValue {
        var members: [String: JSONValue] = [
            "name": .string(name), "value": .string(value), "path": .string(path),
            "secure": .bool(isSecure), "httpOnly": .bool(isHTTPOnly),
        ]
        // The cookie of a single host is set by its address, because a domain would also cover subdomains.
        if domain.hasPrefix(".") {
            members["domain"] = .string(domain)
        } else {
            members["url"] = .string("\(isSecure ? "https" : "http")://\(domain)\(path)")
        }
        if expires > 0 { members["expires"] = .integer(expires) }
        return .object(members)
    }
}
