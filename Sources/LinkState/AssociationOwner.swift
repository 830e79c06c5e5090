/// Finds the connection manager that would join again after another program ended an association (D19).
public enum AssociationOwner {
    /// Returns the name of the connection manager of an interface; `nil` if none is known.
    ///
    /// NetworkManager writes the state of each interface to `/run/NetworkManager/devices/INDEX`, with `managed` for its own
    /// (nm-config.c). iwd needs no check: the kernel refuses to end an association that its owner bound to a socket
    /// (`NL80211_ATTR_SOCKET_OWNER`, nl80211_disconnect in net/wireless/nl80211.c). wpa_supplicant does not count as a manager:
    /// `OnFailure=disconnect` relies on it to join again.
    public static func manager(of index: Int) -> String? { manager(of: index, root: "/") }

    static func manager(of index: Int, root: String) -> String? {
        guard let file = RecordFile.read("\(root)/run/NetworkManager/devices/\(index)") else { return nil }
        let managed = AssignmentRecord(file.octets)["managed"]
        return managed == "true" || managed == "1" ? "NetworkManager" : nil
    }
}
