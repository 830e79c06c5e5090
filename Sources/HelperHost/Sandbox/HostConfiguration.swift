import HotspotCore

/// The folders of helpers, and the limits on the resources that helpers may use.
public struct HostConfiguration: Hashable, Sendable {
    public enum Containment: String, Hashable, Sendable, CaseIterable {
        /// A helper runs in its sandbox, or not at all.
        case sandbox
        /// The administrator's choice: helpers run with the daemon's rights, and get no stored answers.
        case none
    }

    /// The resource limits of one helper process (R2), which the kernel enforces (setrlimit(2)).
    public struct Limits: Hashable, Sendable {
        /// The size of the address space, in octets; it includes shared memory.
        public var addressSpace: UInt64 = 4 << 30
        /// Private memory that can be written, in octets.
        public var data: UInt64 = 256 << 20
        /// Seconds of processor time for a process that serves one command.
        public var processorTime: UInt64 = 60
        /// Seconds of processor time for a process that serves many commands.
        public var serviceProcessorTime: UInt64 = 600
        /// The number of processes and threads.
        public var processes: UInt64 = 32
        public var descriptors: UInt64 = 128
        public var fileSize: UInt64 = 64 << 20
        /// The size of the private `/tmp`, and of `/dev/shm`, in octets.
        public var temporaryFolder: UInt64 = 32 << 20
        /// The size of one message of a helper, in octets.
        public var message = 256 << 10
        /// The part of a helper's standard error that is kept, in octets.
        public var standardError = 16 << 10

        public init() {}
    }

    /// The daemon's runtime folder; the sockets of helpers are in its folder `helpers`.
    public var runtimeDirectory: String
    /// Paths that helpers never see, even inside a folder that is shown: the daemon's state, its runtime folder, the settings,
    /// and the folders of helper files, which name networks.
    public var hiddenPaths: [String]
    /// The path at which helpers see the daemon's socket.
    public var helperSocket: String?
    public var containment = Containment.sandbox
    public var limits = Limits()
    /// The times from the cancellation, which is an end-of-file, to SIGTERM and SIGKILL.
    public var cancelTerm = Duration.milliseconds(20)
    public var cancelKill = Duration.milliseconds(60)
    /// The times from a one-command helper's answer to SIGTERM and SIGKILL; meanwhile it can tidy up.
    public var lingerTerm = Duration.milliseconds(500)
    public var lingerKill = Duration.seconds(1)
    /// The time that a shared process gets to end a cancelled command; then the process is ended. Without other commands, it ends like a process that
    /// serves a single command.
    public var serviceCancel = Duration.seconds(2)
    /// The idle time after which a shared process ends if another command may follow: the race is undecided, or the user is asked.
    public var serviceIdle = Duration.seconds(30)
    /// The idle time while a page is open in a browser and waits for the user's answer.
    public var serviceBrowsing = Duration.seconds(600)
    /// The idle time if no further command is expected.
    public var serviceLeave = Duration.seconds(2)
    /// The time after which prepared processes end if the interface neither uses nor withdraws its wish.
    public var preparation = Duration.seconds(90)

    public init(runtimeDirectory: String, hiddenPaths: [String] = [], helperSocket: String? = nil) {
        self.runtimeDirectory = runtimeDirectory
        self.hiddenPaths = hiddenPaths + [runtimeDirectory]
        self.helperSocket = helperSocket
    }
}
