/// The control interface, org.hotspotd.Control: the text of its contract, `Interfaces/org.hotspotd.Control.varlink`. The other files of this
/// target have the types of its messages.
public enum ControlContract {
    public static let name = "org.hotspotd.Control"

    /// The text of the `.varlink` file, without its last line end.
    public static var definition: String {
        String(decoding: PackageResources.org_hotspotd_Control_varlink.dropLast(), as: UTF8.self)
    }
}
