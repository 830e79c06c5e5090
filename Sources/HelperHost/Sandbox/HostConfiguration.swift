import HotspotCore

/// Where helpers live and what they may use.
public struct HostConfiguration: Hashable, Sendable {
    public enum Containment: String, Hashable, Sendable, CaseIterable {
        /// A helper runs in its sandbox, or not at all.
        case sandbox
        /// The administrator's choice: helpers run with the daemon's rights, and get no stored answers.
        case none
    }

    /// The most that one helper process may take (R2). The kernel enforces it (setrlimit(2)).
    public struct Limits: Hashable, Sendable {
        /// Address space, in octets; shared memory counts.
        public var addressSpace: UInt64 = 4 << 30
        /// Private memory that can be written, in octets.
        public var data: UInt64 = 256 << 20
        /// Seconds, of a process for one command.
        public var processorTime: UInt64 = 60
        /// Seconds, of a process that serves many commands.
        public var serviceProcessorTime: UInt64 = 600
        /// Threads count as well.
        public var processes: UInt64 = 32
        public var descriptors: UInt64 = 128
        public var fileSize: UInt64 = 64 << 20
        /// Octets of the private `/tmp`, and as many of `/dev/shm`.
        public var temporaryFolder: UInt64 = 32 << 20
        /// Octets of one message of a helper.
        public var message = 256 << 10
        /// Octets that are kept of what a helper writes to standard error.
        public var standardError = 16 << 10

        public init() {}
    }

    /// The daemon's runtime folder; the sockets of helpers are in its folder `helpers`.
    public var runtimeDirectory: String
    /// Paths that helpers never see, also where they lie in a folder that is shown: the daemon's state, its runtime folder, the settings, and
    /// the folders of helper files, which name networks.
    public var hiddenPaths: [String]
    /// The daemon's socket for helpers, in their sight.
    public var helperSocket: String?
    public var containment = Containment.sandbox
    public var limits = Limits()
    /// From the cancellation, which is an end-of-file, to SIGTERM and SIGKILL.
    public var cancelTerm = Duration.milliseconds(20)
    public var cancelKill = Duration.milliseconds(60)
    /// From a one-command helper's answer to SIGTERM and SIGKILL: time to tidy up.
    public var lingerTerm = Duration.milliseconds(500)
    public var lingerKill = Duration.seconds(1)
    /// From the cancellation of a command to the end of a shared process that does not let go of it; one without other work ends as
    /// one of a single command does.
    public var serviceCancel = Duration.seconds(2)
    /// From the last command of a process that serves many to its end, where a further one may follow: the race is not decided, or the
    /// user is asked.
    public var serviceIdle = Duration.seconds(30)
    /// The same while a page is open in a browser, which waits for the user's answer.
    public var serviceBrowsing = Duration.seconds(600)
    /// The same where none is to be expected.
    public var serviceLeave = Duration.seconds(2)
    /// From an interface's wish for prepared processes to their end, if neither use nor withdrawal comes.
    public var preparation = Duration.seconds(90)

    public init(runtimeDirectory: String, hiddenPaths: [String] = [], helperSocket: String? = nil) {
        self.runtimeDirectory = runtimeDirectory
        self.hiddenPaths = hiddenPaths + [runtimeDirectory]
        self.helperSocket = helperSocket
    }
}
