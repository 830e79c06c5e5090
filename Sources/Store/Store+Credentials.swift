import HotspotCore

/// One sealed credential, and for whom the user stored it. The values are in the sealed octets alone.
public struct StoredCredential: Hashable, Sendable {
    /// The network's key.
    public var network: String
    /// The helper that asked.
    public var helper: String
    /// `scheme://host[:port]` of the portal.
    public var origin: String
    /// The portal's key; `nil` over plain HTTP.
    public var pin: String?
    /// Names of the fields, never their values.
    public var fieldNames: [String]
    /// What ran under the helper's name; `nil` for what was stored before that counted.
    public var program: String?
    /// As the vault made it.
    public var sealed: [UInt8]
}

extension Store {
    /// Keeps a sealed credential, in place of the one for the same network, helper and portal.
    public func setCredential(
        _ network: NetworkID, helper: String, origin: String, pin: String?, program: String? = nil, fieldNames: [String],
        sealed: [UInt8]
    ) throws(StoreError) {
        guard let key = network.key else { return }
        guard !fieldNames.contains(where: { $0.utf8.contains(10) }) else {
            throw .refused(reason: "a field's name has two lines")
        }
        try write { database throws(SQLiteFailure) in
            try database.run(
                """
                INSERT OR REPLACE INTO credentials (network, helper, origin, pin, fields, sealed, program)
                VALUES (?, ?, ?, ?, ?, ?, ?)
                """,
                [
                    .text(key), .text(helper), .text(origin), .text(pin ?? ""), .text(fieldNames.joined(separator: "\n")),
                    .blob(sealed), Value(program),
                ])
        }
    }

    /// The sealed credential for exactly this network, helper and portal.
    public func credential(_ network: NetworkID, helper: String, origin: String, pin: String?) -> StoredCredential? {
        credentials(network).first { $0.helper == helper && $0.origin == origin && $0.pin ?? "" == pin ?? "" }
    }

    /// All sealed credentials of a network.
    public func credentials(_ network: NetworkID) -> [StoredCredential] {
        guard let key = network.key else { return [] }
        return read(
            """
            SELECT network, helper, origin, pin, fields, sealed, program FROM credentials WHERE network = ?
            ORDER BY helper, origin, pin
            """,
            [.text(key)]
        ) { row -> StoredCredential? in
            guard let network = row.text(0), let helper = row.text(1), let origin = row.text(2), let pin = row.text(3),
                let fields = row.text(4), let sealed = row.blob(5), Origin.isValid(origin)
            else { return nil }
            return StoredCredential(
                network: network, helper: helper, origin: origin, pin: pin.isEmpty ? nil : pin,
                fieldNames: fields.split(separator: "\n").map(String.init), program: row.text(6), sealed: sealed)
        }
    }

    /// A password or credential is kept for this helper on this network.
    public func hasCredential(_ network: NetworkID, helper: String) -> Bool {
        guard let key = network.key else { return false }
        return !read("SELECT 1 FROM credentials WHERE network = ? AND helper = ? LIMIT 1", [.text(key), .text(helper)]) {
            $0.integer(0)
        }.isEmpty
    }

    /// Deletes what is sealed for a network.
    public func deleteCredentials(_ network: NetworkID) throws(StoreError) {
        guard let key = network.key else { return }
        try write { database throws(SQLiteFailure) in
            try database.run("DELETE FROM credentials WHERE network = ?", [.text(key)])
        }
    }

    /// Deletes what is sealed for a helper.
    public func deleteCredentials(helper: String) throws(StoreError) {
        try write { database throws(SQLiteFailure) in
            try database.run("DELETE FROM credentials WHERE helper = ?", [.text(helper)])
        }
    }

    /// Something is sealed: a new key must not take the place of a lost one.
    public var hasSealedRows: Bool {
        !read("SELECT 1 WHERE EXISTS (SELECT 1 FROM credentials) OR EXISTS (SELECT 1 FROM sessions WHERE sealed IS NOT NULL)") {
            $0.integer(0)
        }.isEmpty
    }
}
