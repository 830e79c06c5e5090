import Glibc

/// The commands that people use for this process, whether it is the unit or an instance that a user started.
public enum OwnService {
    /// Whether this process is hotspotd's unit: systemd sets this variable to the unit's folder (systemd.exec(5)).
    private static var isUnit: Bool { getenv("RUNTIME_DIRECTORY").map { String(cString: $0) } == "/run/hotspotd" }

    /// The command that makes the daemon read the settings, the helpers and the vault again.
    public static var reload: String { isUnit ? "systemctl reload hotspotd" : "kill -HUP \(getpid())" }

    public static var restart: String { isUnit ? "systemctl restart hotspotd" : "start hotspotd again" }
}
