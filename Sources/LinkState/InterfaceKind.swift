import Glibc

/// The kind of an interface, as its files in `/sys` show it.
public enum InterfaceKind {
    /// Returns whether an interface is a radio: cfg80211 gives each of its interfaces the link `phy80211` in
    /// `/sys/class/net/NAME` (net/wireless/core.c).
    ///
    /// The answer applies to the network namespace in which `/sys` was mounted, and is `false` for a name that no interface can
    /// have.
    public static func isRadio(_ name: String) -> Bool { isRadio(name, root: "/") }

    static func isRadio(_ name: String, root: String) -> Bool {
        // The kernel's own rule (dev_valid_name in net/core/dev.c). Such a name is one component of a path.
        let octets = name.utf8
        guard !octets.isEmpty, octets.count < Int(IFNAMSIZ), name != ".", name != "..",
            !octets.contains(where: { $0 <= UInt8(ascii: " ") || $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: ":") })
        else { return false }
        return access("\(root)/sys/class/net/\(name)/phy80211", F_OK) == 0
    }
}
