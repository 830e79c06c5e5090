extension Store {
    /// Returns the addresses at which the probes' servers last answered, by the probe's URL.
    public func probeAddresses() -> [String: String] {
        let rows = read("SELECT url, address FROM probes") { row -> (String, String)? in
            guard let url = row.text(0), let address = row.text(1) else { return nil }
            return (url, address)
        }
        return Dictionary(rows, uniquingKeysWith: { first, _ in first })
    }

    /// Stores the address at which a probe's server answered; deletes all others.
    public func setProbeAddress(_ address: String, of url: String) throws(StoreError) {
        try write { database throws(SQLiteFailure) in
            try database.run("DELETE FROM probes")
            try database.run("INSERT INTO probes VALUES (?, ?)", [.text(url), .text(address)])
        }
    }
}
