import Glibc

/// The kind of an interface, as its files in `/sys` show it.
public enum InterfaceKind {
    /// Returns whether an interface is a radio: cfg80211 gives each radio interface the link `phy80211` in `/sys/class/net/NAME`
    /// (net/wireless/core.c).
    ///
    /// The result applies to the network namespace in which `/sys` was mounted. It is `false` for an invalid interface name.
    public static func isRadio(_ name: String) -> Bool { isRadio(name, root: "/") }

    static func isRadio(_ name: String, root: String) -> Bool {
        // The kernel's own rule for names (dev_valid_name in net/core/dev.c). A valid name is one component of a path.
        let octets = name.utf8
        guard !octets.isEmpty, octets.count < Int(IFNAMSIZ), name != ".", name != "..",
            !octets.contains(where: { $0 <= UInt8(ascii: " ") || $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: ":") })
        else { return false }
        return access("\(root)/sys/class/net/\(name)/phy80211", F_OK) == 0
    }
}
