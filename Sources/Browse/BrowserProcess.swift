import CLinux
import EventLoop
import Glibc

/// The running browser, with all processes that it starts: orphans among them become our children.
struct BrowserProcess {
    private let pid: pid_t

    /// Starts a command without any of our descriptors, in its own session, which a Ctrl-C in the terminal does not reach.
    init(_ command: [String], environment: [String]) throws(BrowseError) {
        guard clinux_adopt_orphans() == 0 else { throw .system("The browser's processes could not be grouped", errno) }
        // Browsers write only messages for their developers to these streams.
        let null = open("/dev/null", O_RDWR | O_CLOEXEC)
        defer { close(null) }
        do throws(Errno) {
            pid = try Spawn(arguments: command, environment: environment, descriptors: [null, null, null]).start()
        } catch { throw .system("The browser cannot be started", error.code) }
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

    /// Ends the browser and everything that it started. Nothing of its profile is kept, so it need not end cleanly.
    func end() {
        // A process may start another one while the list is read. A process that the kernel does not end within five seconds is abandoned.
        for _ in 0..<500 {
            let rest = ProcessTree.descendants()
            for process in rest { kill(process, SIGKILL) }
            while waitpid(-1, nil, WNOHANG) > 0 {}
            if rest.isEmpty { return }
            usleep(10_000)
        }
    }
}
