import ForeignText
import HotspotCore

/// One sealed credential, and the helper and portal that the user stored it for. Only the sealed octets contain the values.
public struct StoredCredential: Hashable, Sendable {
    /// The network's key.
    public var network: String
    public var helper: String
    /// `scheme://host[:port]` of the portal.
    public var origin: String
    /// The portal's key; `nil` over plain HTTP.
    public var pin: String?
    /// Names of the fields, never their values.
    public var fieldNames: [String]
    /// The names of the fields whose values may be shown, because these fields were never of a secret kind.
    public var shownNames: [String]
    /// The portal's labels for the fields, as ``Field/folded(_:)`` writes them; empty for answers of older versions.
    public var labels: [String: String]
    /// The helper's program; `nil` for credentials of older versions.
    public var program: String?
    /// Whether the portal refused the answers when they were last sent, so that they are not sent again automatically.
    public var isRefused: Bool
    /// The octets as the vault sealed them.
    public var sealed: [UInt8]
}

extension Store {
    /// Stores a sealed credential, in place of the one for the same network, helper and portal.
    public func setCredential(
        _ network: NetworkID, helper: String, origin: String, pin: String?, program: String? = nil, fieldNames: [String],
        shownNames: [String] = [], labels: [String: String] = [:], sealed: [UInt8]
    ) throws(StoreError) {
        guard let key = network.key else { return }
        guard !fieldNames.contains(where: { $0.utf8.contains(10) }) else {
            throw .refused(reason: "the name of a field has more than one line")
        }
        try write { database throws(SQLiteFailure) in
            try database.run(
                """
                INSERT OR REPLACE INTO credentials (network, helper, origin, pin, fields, sealed, program, shown, labels)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
                """,
                [
                    .text(key), .text(helper), .text(origin), .text(pin ?? ""), .text(fieldNames.joined(separator: "\n")),
                    .blob(sealed), SQLValue(program), .text(shownNames.joined(separator: "\n")),
                    .text(fieldNames.map { labels[$0].map { "=" + $0 } ?? "" }.joined(separator: "\n")),
                ])
        }
    }

    /// Returns the sealed credential of exactly this network, helper and portal.
    public func credential(_ network: NetworkID, helper: String, origin: String, pin: String?) -> StoredCredential? {
        credentials(network).first { $0.helper == helper && $0.origin == origin && $0.pin ?? "" == pin ?? "" }
    }

    /// Returns all sealed credentials of a network.
    public func credentials(_ network: NetworkID) -> [StoredCredential] {
        guard let key = network.key else { return [] }
        return credentials("WHERE network = ?", [.text(key)])
    }

    /// Returns all sealed credentials.
    public var allCredentials: [StoredCredential] { credentials("", []) }

    private func credentials(_ condition: String, _ values: [SQLValue]) -> [StoredCredential] {
        read(
            """
            SELECT network, helper, origin, pin, fields, sealed, program, shown, labels, refused FROM credentials \(condition)
            ORDER BY network, helper, origin, pin
            """, values
        ) { row -> StoredCredential? in
            guard let network = row.text(0), let helper = row.text(1), let origin = row.text(2), let pin = row.text(3),
                let fields = row.text(4), let sealed = row.blob(5), let shown = row.text(7), Origin.isValid(origin)
            else { return nil }
            let fieldNames = fields.split(separator: "\n").map(String.init)
            let labels = (row.text(8) ?? "").split(separator: "\n", omittingEmptySubsequences: false)
            let known = zip(fieldNames, labels).filter { $1.hasPrefix("=") }.map { ($0, String($1.dropFirst())) }
            return StoredCredential(
                network: network, helper: helper, origin: origin, pin: pin.isEmpty ? nil : pin,
                fieldNames: fieldNames,
                shownNames: shown.split(separator: "\n").map(String.init),
                labels: Dictionary(known) { first, _ in first }, program: row.text(6),
                isRefused: row.integer(9) == 1, sealed: sealed)
        }
    }

    /// Notes whether the portal refused a credential.
    public func setRefused(_ credential: StoredCredential, _ isRefused: Bool) throws(StoreError) {
        try write { database throws(SQLiteFailure) in
            try database.run(
                "UPDATE credentials SET refused = ? WHERE network = ? AND helper = ? AND origin = ? AND pin = ?",
                [
                    .integer(isRefused ? 1 : 0), .text(credential.network), .text(credential.helper), .text(credential.origin),
                    .text(credential.pin ?? ""),
                ])
        }
    }

    /// Deletes a sealed credential.
    public func deleteCredential(_ credential: StoredCredential) throws(StoreError) {
        try write { database throws(SQLiteFailure) in
            try database.run(
                "DELETE FROM credentials WHERE network = ? AND helper = ? AND origin = ? AND pin = ?",
                [.text(credential.network), .text(credential.helper), .text(credential.origin), .text(credential.pin ?? "")])
        }
    }

    /// Whether the store has sealed data. If so, do not replace a lost key, because a new key cannot open that data.
    public var hasSealedRows: Bool {
        !read(
            """
            SELECT 1 WHERE EXISTS (SELECT 1 FROM credentials) OR EXISTS (SELECT 1 FROM sessions)
            OR EXISTS (SELECT 1 FROM associations WHERE sealed IS NOT NULL)
            """
        ) { $0.integer(0) }.isEmpty
    }
}
