import CLinux
import EventLoop
import Glibc

/// The running browser and all processes that it starts. A process that loses its parent becomes our child.
struct BrowserProcess {
    private let pid: pid_t

    /// Starts a command without any of our descriptors, in its own session, so that a Ctrl-C in the terminal does not reach it.
    init(_ command: [String], environment: [String]) throws(BrowseError) {
        guard clinux_adopt_orphans() == 0 else { throw .system("The browser's processes could not be grouped", errno) }
        // Discards the standard streams, to which browsers write only messages for their developers.
        let null = open("/dev/null", O_RDWR | O_CLOEXEC)
        defer { close(null) }
        do throws(Errno) {
            pid = try Spawn(arguments: command, environment: environment, descriptors: [null, null, null]).start()
        } catch { throw .system("The browser cannot be started", error.code) }
    }

    /// Collects the processes that have ended; returns whether the browser itself has ended.
    func hasEnded() -> Bool {
        var hasEnded = false
        while true {
            let ended = waitpid(-1, nil, WNOHANG)
            guard ended > 0 else { return hasEnded }
            if ended == pid { hasEnded = true }
        }
    }

    /// Ends the browser and everything that it started. It need not end cleanly, because its profile is deleted.
    func end() {
        // Repeats, because a process may start another process while the list is read. Gives up on processes that the kernel does not
        // end within five seconds.
        for _ in 0..<500 {
            let rest = ProcessTree.descendants()
            for process in rest { kill(process, SIGKILL) }
            while waitpid(-1, nil, WNOHANG) > 0 {}
            if rest.isEmpty { return }
            usleep(10_000)
        }
    }
}
