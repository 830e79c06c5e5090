import HotspotCore

/// The entries of a scan, of which at most ``limit`` are kept however many a hostile air produces.
struct ScanTable {
    /// Entries kept at the end.
    static let limit = 512

    private var entries: [BSS] = []

    /// Takes an entry in. Two with the same address and different names are two entries.
    mutating func insert(_ entry: BSS) {
        entries.append(entry)
        // Sorting seldom keeps ten thousand entries cheap.
        if entries.count >= 4 * Self.limit { entries = best }
    }

    /// What is kept: the associated entry, then the strongest, among equals the newest.
    var best: [BSS] {
        Array(
            entries.sorted { a, b in
                if a.isAssociated != b.isAssociated { return a.isAssociated }
                let signals = (a.signal ?? .min, b.signal ?? .min)
                return signals.0 == signals.1 ? a.lastSeen > b.lastSeen : signals.0 > signals.1
            }.prefix(Self.limit))
    }
}
