import Glibc

/// The commands that act on this process, for people: those of its unit, or of an instance that a user started.
public enum OwnService {
    /// For its unit systemd sets the folder (systemd.exec(5)).
    private static var isUnit: Bool { getenv("RUNTIME_DIRECTORY").map { String(cString: $0) } == "/run/hotspotd" }

    /// Has the settings, the helpers and the vault read again.
    public static var reload: String { isUnit ? "systemctl reload hotspotd" : "kill -HUP \(getpid())" }

    public static var restart: String { isUnit ? "systemctl restart hotspotd" : "start hotspotd again" }
}
