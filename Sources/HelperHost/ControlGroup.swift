import Glibc

/// The control group of one helper process, and of everything that it starts.
struct ControlGroup {
    /// Its folder.
    let path: String

    /// Why the kernel ended something in it.
    enum MemoryEnding: Hashable {
        /// The group had all the memory that it may have.
        case own
        /// Memory ran out for more than this group, and it was the kernel's choice.
        case shared
        /// All groups together had nearly all that they may have, and it the most.
        case largest
    }

    /// Makes it, with its limits; `nil` if that cannot be done in full.
    init?(path: String, limits: HostConfiguration.Limits) {
        self.path = path
        guard mkdir(path, 0o755) == 0 else { return nil }
        guard ControlFile.write("\(limits.groupProcesses)", to: path + "/pids.max") == 0,
            ControlFile.write("\(limits.groupMemory)", to: path + "/memory.max") == 0
        else {
            let code = errno
            rmdir(path)
            errno = code
            return nil
        }
        // What a kernel without swap, or one before 4.19, does not have.
        ControlFile.write("0", to: path + "/memory.swap.max")
        ControlFile.write("1", to: path + "/memory.oom.group")
    }

    /// One that is there already.
    init(existing path: String) { self.path = path }

    /// What a process writes its number to, to be in it; the caller's to close. Above the three that a child's own will lie on, and
    /// `nil` if it cannot be opened.
    func entrance() -> Int32? {
        let descriptor = open(path + "/cgroup.procs", O_WRONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        guard descriptor < 3 else { return descriptor }
        defer { close(descriptor) }
        let moved = fcntl(descriptor, F_DUPFD_CLOEXEC, 3)
        return moved < 0 ? nil : moved
    }

    /// Whether the kernel has ended something in it for its memory.
    var memoryEnding: MemoryEnding? {
        ControlFile.read(path + "/memory.events").flatMap(Self.memoryEnding)
    }

    /// The same from the text of `memory.events`.
    static func memoryEnding(_ events: String) -> MemoryEnding? {
        guard ControlFile.count("oom_kill", in: events) > 0 else { return nil }
        return ControlFile.count("oom", in: events) > 0 ? .own : .shared
    }

    /// Ends everything in it, and in what was made below it.
    func kill() {
        // Since Linux 5.14; it also reaches what is being forked just now.
        if ControlFile.write("1", to: path + "/cgroup.kill") == 0 { return }
        for folder in ControlFile.folders(in: path) { ControlGroup(existing: path + "/" + folder).kill() }
        for line in (ControlFile.read(path + "/cgroup.procs") ?? "").split(separator: "\n") {
            // 0 is somebody whom this process cannot see.
            if let process = pid_t(line), process > 1, process != getpid() { Glibc.kill(process, SIGKILL) }
        }
    }

    /// Takes it away, with what was made below it. It stays as long as something in it lives.
    ///
    /// - Parameter leavesSockets: called with the number of each group that went, if there are buffers of sockets in one of them.
    func remove(_ leavesSockets: (UInt64) -> Void = { _ in }) -> Bool {
        var budget = 1000
        return withoutActuallyEscaping(leavesSockets) { leavesSockets in
            Self.remove(path, depth: 0, budget: &budget, socketMemory > 0 ? leavesSockets : nil)
        }
    }

    /// Octets that wait in sockets, in those below it as well.
    private var socketMemory: Int { ControlFile.read(path + "/memory.stat").map { ControlFile.count("sock", in: $0) } ?? 0 }

    private static func remove(_ path: String, depth: Int, budget: inout Int, _ leavesSockets: ((UInt64) -> Void)?) -> Bool {
        budget -= 1
        // Sockets know the group by this, also when it is gone.
        var status = stat()
        let number = leavesSockets != nil && stat(path, &status) == 0 ? UInt64(status.st_ino) : nil
        if rmdir(path) == 0 {
            if let number { leavesSockets?(number) }
            return true
        }
        if errno == ENOENT { return true }
        guard depth < 8 else { return false }
        var emptied = false
        for folder in ControlFile.folders(in: path) where budget > 0 {
            if remove(path + "/" + folder, depth: depth + 1, budget: &budget, leavesSockets) { emptied = true }
        }
        guard emptied, rmdir(path) == 0 || errno == ENOENT else { return false }
        if let number { leavesSockets?(number) }
        return true
    }
}
