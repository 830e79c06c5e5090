import Glibc

/// The commands that act on this process, for people: the commands for its unit, or for an instance that a user started.
public enum OwnService {
    /// Whether this process is hotspotd's unit: systemd names the unit's folder to it (systemd.exec(5)).
    private static var isUnit: Bool { getenv("RUNTIME_DIRECTORY").map { String(cString: $0) } == "/run/hotspotd" }

    /// The command that makes the daemon read the settings, the helpers and the vault again.
    public static var reload: String { isUnit ? "systemctl reload hotspotd" : "kill -HUP \(getpid())" }

    public static var restart: String { isUnit ? "systemctl restart hotspotd" : "start hotspotd again" }
}
