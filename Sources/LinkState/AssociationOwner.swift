/// Who would bring an association back if somebody else ended it (D19).
public enum AssociationOwner {
    /// The connection manager that has the interface, in words; `nil` if none is known.
    ///
    /// NetworkManager writes the state of each interface to `/run/NetworkManager/devices/INDEX`, where `managed` tells whether it has
    /// it (nm-config.c). iwd needs no look: the kernel itself refuses to end an association whose owner holds it by its socket
    /// (`NL80211_ATTR_SOCKET_OWNER`, nl80211_disconnect in net/wireless/nl80211.c). wpa_supplicant by itself is no manager: its
    /// coming back is the retry that `OnFailure=disconnect` counts on.
    public static func manager(of index: Int) -> String? { manager(of: index, root: "/") }

    static func manager(of index: Int, root: String) -> String? {
        guard let file = RecordFile.read("\(root)/run/NetworkManager/devices/\(index)") else { return nil }
        let managed = AssignmentRecord(file.octets)["managed"]
        return managed == "true" || managed == "1" ? "NetworkManager" : nil
    }
}
