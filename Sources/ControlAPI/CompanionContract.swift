/// The companion service's interface, org.hotspotd.Companion: the text of its contract, `Interfaces/org.hotspotd.Companion.varlink`.
public enum CompanionContract {
    public static let name = "org.hotspotd.Companion"
    public static let socket = "/run/hotspotd-companion/org.hotspotd.Companion"

    /// The text of the `.varlink` file, without its last line end.
    public static var definition: String {
        String(decoding: PackageResources.org_hotspotd_Companion_varlink.dropLast(), as: UTF8.self)
    }
}
