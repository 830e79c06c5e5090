import EventLoop
import Glibc
import HotspotCore

/// The sandbox of one helper, as a value: turns the helper and the daemon's paths into a command line of bubblewrap.
///
/// Denies by default: a helper sees only the files that are named here. Against R1 (a portal takes over a helper), no files, programs or network
/// names are in reach. Against R2 (a helper is buggy), nothing that it starts outlives it, and its share of the machine is limited. docs/security.md
/// lists the threats.
struct Sandbox: Hashable {
    static let bubblewrap = "/usr/bin/bwrap"
    /// Sets the limits inside the sandbox, where the helper's processes are counted separately.
    static let prlimit = "/usr/bin/prlimit"
    /// The helper's own process number: bubblewrap's reaper is the first process.
    static let processID = 2

    /// The number of the user `nobody`, who owns no files.
    private static let nobody = 65534

    /// Files and folders of `/etc` that programs need: names, certificates, time, the dynamic loader. `/etc/resolv.conf` is not
    /// among them, see ``ResolverFile``.
    static let systemFiles = [
        "/etc/alternatives", "/etc/ca-certificates", "/etc/crypto-policies", "/etc/gai.conf", "/etc/group", "/etc/host.conf",
        "/etc/hosts", "/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/localtime", "/etc/mime.types",
        "/etc/nsswitch.conf", "/etc/os-release", "/etc/passwd", "/etc/pki/ca-trust", "/etc/pki/tls/certs",
        "/etc/protocols", "/etc/services", "/etc/ssl/certs", "/etc/ssl/openssl.cnf", "/etc/timezone",
    ]
    /// Links into `/usr` on a merged system, folders elsewhere.
    private static let systemFolders = ["/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"]
    /// Folders that belong to no single helper. If a program is in one of these, only the program's file is shown.
    private static let sharedFolders: Set<String> = [
        "/", "/boot", "/dev", "/etc", "/home", "/media", "/mnt", "/opt", "/proc", "/root", "/run", "/srv", "/sys", "/tmp", "/var",
        "/var/lib", "/var/tmp",
    ]

    var exec: [String]
    var readPaths: [String] = []
    var readWritePaths: [String] = []
    var hasNetwork = true
    /// The number of sockets that the helper is handed.
    var listeners = 0
    /// Seconds of processor time.
    var processorTime: UInt64
    var limits: HostConfiguration.Limits
    /// The daemon's state, its runtime folder, the settings and the folders of helper files: never shown.
    var hiddenPaths: [String] = []
    /// The one socket of the daemon that helpers connect to.
    var helperSocket: String?
    /// The socket over which the helper gets a browser (``BrowserHost``).
    var browserSocket: String?
    /// Whether the helper's processes run as `nobody` instead of the daemon's user.
    var isNobody = false
    /// The file that is shown as `/etc/resolv.conf`.
    var resolverFile: String?

    /// The command line of bubblewrap.
    ///
    /// - Parameters:
    ///   - filter: the descriptor with the system-call filter.
    ///   - status: the descriptor on which bubblewrap reports the helper's start and end.
    func commandLine(filter: Int32, status: Int32) -> [String] {
        var words = [Self.bubblewrap, "--unshare-user", "--unshare-pid", "--unshare-ipc"]
        if !hasNetwork { words.append("--unshare-net") }
        if isNobody { words += ["--uid", "\(Self.nobody)", "--gid", "\(Self.nobody)"] }
        words += ["--die-with-parent", "--cap-drop", "ALL"]
        let own = programPaths
        let covered = covered(own.folders).map { (path: $0, kind: FilePath.kind(of: $0)) }
        let coveredFolders = covered.filter { $0.kind == .folder }.map(\.path)
        words += system + devices + memory("/tmp", mode: "0700")
        words += (own.folders + readPaths).flatMap { ["--ro-bind-try", $0, $0] }
        words += readWritePaths.flatMap { ["--bind-try", $0, $0] }
        words += coveredFolders.flatMap { ["--tmpfs", $0] }
        words += covered.filter { $0.kind == .file }.flatMap { ["--ro-bind", "/dev/null", $0.path] }
        // Leave out files in writable folders, which are shown already.
        let files = own.files.filter { file in !readWritePaths.contains { FilePath.isWithin(file, $0) } }
        words += files.flatMap { ["--ro-bind-try", $0, $0] }
        if let resolverFile { words += ["--ro-bind", resolverFile, "/etc/resolv.conf"] }
        for socket in [helperSocket, browserSocket].compactMap(\.self) { words += ["--ro-bind-try", socket, socket] }
        words += (coveredFolders + ["/"]).flatMap { ["--remount-ro", $0] } + ["--chdir", "/tmp"]
        words += ["--seccomp", "\(filter)", "--json-status-fd", "\(status)", "--"]
        return words + limited(countsProcesses: true)
    }

    /// The command line for a helper without a sandbox (`Containment=none`); only the limits apply.
    var uncontainedCommandLine: [String] {
        // The service manager's protocol requires the helper's own process number (sd_listen_fds(3)); the shell sets it and becomes the helper.
        ["/bin/sh", "-c", "[ -z \"$LISTEN_FDS\" ] || export LISTEN_PID=$$; exec \"$@\"", "sh"]
            + limited(countsProcesses: false)
    }

    /// R2: a helper that leaks, floods or forks without end stops at its own limits. The daemon's unit limits all helpers together.
    private func limited(countsProcesses: Bool) -> [String] {
        func limit(_ name: String, _ kind: __rlimit_resource, _ soft: UInt64, _ hard: UInt64? = nil) -> String {
            var present = rlimit()
            // A limit cannot exceed the daemon's own.
            let most = getrlimit(__rlimit_resource_t(kind.rawValue), &present) == 0 ? UInt64(present.rlim_max) : .max
            return "--\(name)=\(min(soft, most)):\(min(hard ?? soft, most))"
        }
        // With zero, the kernel writes no core file, but still pipes cores to a handler; with one octet, it does neither (core(5)).
        var words = [
            Self.prlimit, limit("core", RLIMIT_CORE, 1), limit("as", RLIMIT_AS, limits.addressSpace),
            limit("data", RLIMIT_DATA, limits.data),
            // SIGXCPU, and SIGKILL a second later.
            limit("cpu", RLIMIT_CPU, processorTime, processorTime + 1),
            limit("nofile", RLIMIT_NOFILE, limits.descriptors + UInt64(listeners)), limit("fsize", RLIMIT_FSIZE, limits.fileSize),
        ]
        // Without a user namespace, the kernel would count the processes of the daemon and all helpers together.
        if countsProcesses { words.append(limit("nproc", __RLIMIT_NPROC, limits.processes)) }
        return words + ["--"] + exec
    }

    // MARK: The parts of the view

    private var system: [String] {
        var words = ["--ro-bind", "/usr", "/usr"]
        for folder in Self.systemFolders {
            words += FilePath.target(ofLink: folder).map { ["--symlink", $0, folder] } ?? ["--ro-bind-try", folder, folder]
        }
        for file in Self.systemFiles { words += ["--ro-bind-try", file, file] }
        return words
    }

    private var devices: [String] {
        ["--proc", "/proc", "--dev", "/dev"] + memory("/dev/shm", mode: "1777") + ["--remount-ro", "/dev"]
    }

    private func memory(_ path: String, mode: String) -> [String] {
        ["--size", "\(limits.temporaryFolder)", "--perms", mode, "--tmpfs", path]
    }

    /// The folder of the program and the other files that its command line names.
    var ownPaths: [String] { programPaths.folders + programPaths.files }

    /// Returns the hidden paths inside a shown folder, as paths within that folder: bubblewrap follows links.
    private func covered(_ ownFolders: [String]) -> [String] {
        let hidden = hiddenPaths.map(FilePath.canonical)
        return (ownFolders + readPaths + readWritePaths + ["/usr"]).flatMap { shown in
            let canonical = FilePath.canonical(shown)
            return hidden.filter { FilePath.isWithin($0, canonical) }.map { shown + $0.dropFirst(canonical.count) }
        }
    }

    /// Returns the folder of the program, or of the script that an interpreter runs, and the other files in the command line. The folder is left out
    /// if it is not the helper's own: a system folder, a user's home, or a folder with helper files.
    private var programPaths: (folders: [String], files: [String]) {
        var folders: [String] = [], files: [String] = []
        for word in exec where word.hasPrefix("/") && FilePath.kind(of: word) == .file && !Self.isSystems(word) {
            let folder = FilePath.parent(of: word)
            if folders.isEmpty, files.isEmpty, isOwn(folder) { folders.append(folder) } else { files.append(word) }
        }
        return (folders, files)
    }

    private func isOwn(_ folder: String) -> Bool {
        let canonical = FilePath.canonical(folder)
        return ![folder, canonical].contains {
            Self.sharedFolders.contains($0) || FilePath.parent(of: $0) == "/home" || hiddenPaths.contains($0)
        }
    }

    private static func isSystems(_ path: String) -> Bool { (["/usr"] + systemFolders).contains { FilePath.isWithin(path, $0) } }
}
