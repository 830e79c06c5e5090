/// org.hotspotd.Control, whose contract is `Interfaces/org.hotspotd.Control.varlink`.
public enum ControlContract {
    public static let name = "org.hotspotd.Control"

    /// The text of the `.varlink` file, without its last line end.
    public static var definition: String {
        String(decoding: PackageResources.org_hotspotd_Control_varlink.dropLast(), as: UTF8.self)
    }
}
