import CLinux
import Glibc

/// The browser that runs, with all processes that it starts: those whose parent ended become ours.
struct BrowserProcess {
    private let pid: pid_t

    /// Starts a command without any descriptor of ours, in a process group of its own, which a Ctrl-C of the terminal does not reach.
    init(_ command: [String], environment: [String]) throws(BrowseError) {
        guard clinux_adopt_orphans() == 0 else { throw .system("The browser's processes cannot be kept together", errno) }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        // What browsers write there is for their authors.
        for number: Int32 in 0...2 { posix_spawn_file_actions_addopen(&actions, number, "/dev/null", O_RDWR, 0) }
        posix_spawn_file_actions_addclosefrom_np(&actions, 3)
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var signals = sigset_t()
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        sigfillset(&signals)
        posix_spawnattr_setsigdefault(&attributes, &signals)
        posix_spawnattr_setpgroup(&attributes, 0)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP))
        let words: [UnsafeMutablePointer<CChar>?] = command.map { strdup($0) } + [nil]
        let variables: [UnsafeMutablePointer<CChar>?] = environment.map { strdup($0) } + [nil]
        defer { for string in words + variables { free(string) } }
        var pid: pid_t = 0
        let code = posix_spawn(&pid, command[0], &actions, &attributes, words, variables)
        guard code == 0 else { throw .system("The browser cannot be started", code) }
        self.pid = pid
    }

    /// Collects the processes that have ended; returns whether the browser itself is among them.
    func hasEnded() -> Bool {
        var hasEnded = false
        while true {
            let ended = waitpid(-1, nil, WNOHANG)
            guard ended > 0 else { return hasEnded }
            if ended == pid { hasEnded = true }
        }
    }

    /// Ends the browser and all that it started. Nothing of its profile is kept, so that it need not end in order.
    func end() {
        // A process may start another one while the list is read. One that the kernel does not end is left after five seconds.
        for _ in 0..<500 {
            let rest = ProcessTree.descendants()
            for process in rest { kill(process, SIGKILL) }
            while waitpid(-1, nil, WNOHANG) > 0 {}
            if rest.isEmpty { return }
            usleep(10_000)
        }
    }
}
