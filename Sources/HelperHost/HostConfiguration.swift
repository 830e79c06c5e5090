import HotspotCore

/// Where helpers live and what they may use.
public struct HostConfiguration: Hashable, Sendable {
    /// The most that one helper process may take. The kernel enforces them (setrlimit(2)).
    public struct Limits: Hashable, Sendable {
        /// Address space, in octets; shared memory counts.
        public var addressSpace: UInt64 = 4 << 30
        /// Private memory that can be written, in octets.
        public var data: UInt64 = 256 << 20
        /// Seconds of processor time of a process for one command.
        public var processorTime: UInt64 = 60
        /// Seconds of processor time of a process that serves many commands.
        public var serviceProcessorTime: UInt64 = 600
        /// Processes and threads. Holds where the helper has a user namespace of its own; under a daemon that is root it is some 300
        /// more, since Linux 6.14, and does not hold before.
        public var processes: UInt64 = 32
        /// Processes and threads of a helper with a control group of its own, its init included.
        public var groupProcesses: UInt64 { processes + 4 }
        /// Octets of memory of all processes of a helper together, its private folder included, where it has a control group of its own.
        /// Nothing of it is swapped out. A helper that takes more is ended as a whole.
        public var groupMemory: UInt64 = 384 << 20
        /// Octets of the memory that the daemon's unit may have that all helpers together leave to the daemon; at most half of it.
        public var reservedMemory: UInt64 = 512 << 20
        /// Open descriptors.
        public var descriptors: UInt64 = 128
        /// Octets of one file.
        public var fileSize: UInt64 = 64 << 20
        /// Octets of the private folder, where it is a file system of its own.
        public var scratch: UInt64 = 32 << 20
        /// Octets of one message of a helper.
        public var message = 1 << 20
        /// Octets that are kept of what a helper writes to standard error.
        public var standardError = 16 << 10

        /// The limits of the specification.
        public init() {}
    }

    /// The daemon's runtime folder; the sockets of helpers are in its folder `helpers`.
    public var runtimeDirectory: String
    /// Folders that helpers never see: the daemon's state and runtime folders.
    public var hiddenDirectories: [String]
    /// Folders and files that no helper may write to, beside the system's: those of helpers, and the settings. As they name networks they
    /// are hidden like ``sharedDirectories``.
    public var protectedDirectories: [String] = []
    /// Folders and sockets where programs meet, hidden where they exist and the helper itself does not lie in them. By way of a
    /// message bus it would see the networks in sight, which its file may keep from it, and could have a service manager start what
    /// outlives it; so it could with the sockets that a user's programs leave in `/tmp`. In the journal's it would speak for the
    /// daemon, and read what is typed from terminals. What the programs that manage links keep of networks by name is hidden as well,
    /// and what the kernel counts of other helpers. Some firmware keeps a network and its password in a variable that all may read.
    public var sharedDirectories = [
        "/dev/shm", "/sys/fs/cgroup", "/sys/firmware", "/run/dbus", "/run/user", "/run/systemd/journal", "/run/systemd/notify",
        "/run/systemd/userdb",
        "/run/systemd/io.system.ManagedOOM", "/run/systemd/netif", "/etc/NetworkManager/system-connections",
        "/run/NetworkManager/system-connections", "/var/lib/NetworkManager", "/etc/systemd/network", "/run/systemd/network",
        "/usr/lib/NetworkManager/system-connections", "/usr/local/lib/systemd/network", "/etc/network", "/run/network",
        "/etc/netctl",
        "/etc/netplan", "/run/netplan", "/etc/wpa_supplicant", "/run/wpa_supplicant", "/etc/iwd", "/var/lib/iwd",
        "/var/lib/dhcp", "/run/dhcpcd", "/var/lib/dhcpcd", "/var/lib/dhcpcd5", "/var/db/dhcpcd", "/var/lib/connman",
        "/etc/sysconfig/network-scripts", "/etc/sysconfig/network", "/etc/wicd", "/var/lib/wicd",
        "/etc/dhcpcd.conf", "/etc/wpa_supplicant.conf", "/etc/conf.d/net", "/usr/lib/netplan", "/etc/connman",
        "/var/lib/dhclient", "/var/lib/wicked",
        "/run/hotspot-helpers", "/tmp", "/var/tmp", "/dev/pts",
    ]
    /// Hidden as a whole where mounts can be arranged, but for what `/etc/resolv.conf` leads to: a service manager may start
    /// programs of root's for whoever connects to a socket in here, and they outlive the helper.
    public var runDirectory = "/run"
    /// The private folders of helpers (`TMPDIR`) are made in here.
    public var scratchDirectory: String
    /// Sockets inside the hidden folders that helpers may nevertheless connect to: the control socket.
    public var reachableSockets: [String]
    /// Whether the daemon divides its control group, if that was given to it, so that each helper process gets one of its own. Only
    /// for a process that is nothing but the daemon: it moves.
    public var dividesControlGroup = false
    /// What a process may take.
    public var limits = Limits()
    /// From the cancellation, which is an end-of-file, to SIGTERM.
    public var cancelTerm = Duration.milliseconds(20)
    /// From the cancellation to SIGKILL.
    public var cancelKill = Duration.milliseconds(60)
    /// From a one-command helper's answer to SIGTERM: time to tidy up.
    public var lingerTerm = Duration.milliseconds(500)
    /// From a one-command helper's answer to SIGKILL.
    public var lingerKill = Duration.seconds(1)
    /// From the cancellation of a command to the end of a shared process that does not let go of it; one without other work ends as
    /// one of a single command does.
    public var serviceCancel = Duration.seconds(2)
    /// From the last command of a process that serves many to its end, where a further one may follow: the race is not decided, or the
    /// user is asked.
    public var serviceIdle = Duration.seconds(30)
    /// The same where none is to be expected.
    public var serviceLeave = Duration.seconds(2)
    /// From an interface's wish for prepared processes to their end, if neither use nor withdrawal comes.
    public var preparation = Duration.seconds(90)
    /// Between two times at which idle processes are ended because something ran out that all share: who provokes it gains
    /// nothing.
    public var reliefInterval = Duration.seconds(10)
    /// FilterScanList is asked of a process without any network.
    public var filterWithoutNetwork = true

    /// A configuration. The runtime folder is always hidden.
    public init(
        runtimeDirectory: String, hiddenDirectories: [String], scratchDirectory: String, reachableSockets: [String] = []
    ) {
        self.runtimeDirectory = runtimeDirectory
        self.hiddenDirectories =
            hiddenDirectories.contains(runtimeDirectory) ? hiddenDirectories : hiddenDirectories + [runtimeDirectory]
        self.scratchDirectory = scratchDirectory
        self.reachableSockets = reachableSockets
    }
}
