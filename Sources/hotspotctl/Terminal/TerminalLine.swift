import Glibc

/// Reads one line from the terminal, without echo for a secret.
enum TerminalLine {
    /// The longest line of the kernel's line discipline, in octets.
    private static let limit = 4096
    /// Signals that would end the program while the echo is off.
    private static let fatal = [SIGINT, SIGTERM, SIGHUP, SIGQUIT]

    /// Prints a question, and reads a line without its line end. Throws if the input ended.
    ///
    /// For a secret, the echo is off before the question appears, so that everything that is typed after the question is read and never visible.
    ///
    /// - Parameter end: returns a failure once the answer is no longer needed. Called while the user types nothing.
    static func read(_ question: String, _ secret: Bool, end: () -> Failure? = { nil }) throws(Failure) -> String {
        guard secret else {
            Output.ask(question)
            var none = sigset_t()
            sigemptyset(&none)
            _ = try waitForInput(none, end)
            return try line()
        }
        return try muted(question, end)
    }

    /// Drops keys that were pressed before the question appeared: they do not answer the question.
    static func dropTypedAhead() { tcflush(STDIN_FILENO, TCIFLUSH) }

    private static func line() throws(Failure) -> String {
        var chunk = [UInt8](repeating: 0, count: limit)
        defer { explicit_bzero(&chunk, chunk.count) }
        var count = 0
        while count < limit {
            let received = chunk.withUnsafeMutableBytes { Glibc.read(STDIN_FILENO, $0.baseAddress! + count, limit - count) }
            if received < 0, errno == EINTR { continue }
            guard received > 0 else {
                guard count > 0 else {
                    // Ends the question's line on the screen, because the user did not press Enter.
                    Output.ask("\n")
                    throw Failure(.answerNeeded, "The input ended before the answer.")
                }
                break
            }
            count += received
            if chunk[count - 1] == 10 { break }
        }
        while count > 0, chunk[count - 1] == 10 || chunk[count - 1] == 13 { count -= 1 }
        guard let text = String(validating: chunk[..<count], as: UTF8.self) else {
            throw Failure(.usage, "The answer is not UTF-8.")
        }
        return text
    }

    /// Switches the echo off, asks, and reads a line. Signals that end the program are blocked until the echo is on again.
    private static func muted(_ question: String, _ end: () -> Failure?) throws(Failure) -> String {
        var before = termios()
        guard tcgetattr(STDIN_FILENO, &before) == 0 else {
            Output.ask(question)
            return try line()
        }
        var signals = sigset_t()
        var previous = sigset_t()
        sigemptyset(&signals)
        for signal in fatal { sigaddset(&signals, signal) }
        sigprocmask(SIG_BLOCK, &signals, &previous)
        var silent = before
        silent.c_lflag &= ~tcflag_t(ECHO)
        silent.c_lflag |= tcflag_t(ECHONL)
        tcsetattr(STDIN_FILENO, TCSAFLUSH, &silent)
        defer {
            tcsetattr(STDIN_FILENO, TCSANOW, &before)
            sigprocmask(SIG_SETMASK, &previous, nil)
        }
        Output.ask(question)
        if let signal = try waitForInput(signals, end) {
            tcsetattr(STDIN_FILENO, TCSANOW, &before)
            Output.ask("\n")
            sigprocmask(SIG_SETMASK, &previous, nil)
            // Ends this program with the signal, as the shell expects.
            kill(getpid(), signal)
            exit(128 + signal)
        }
        return try line()
    }

    /// Waits until a line can be read, and returns `nil`, or until a signal arrives, and returns the signal. Throws if the prompt has ended. Polls
    /// ten times a second, so that no signal handler is needed.
    private static func waitForInput(_ signals: sigset_t, _ end: () -> Failure?) throws(Failure) -> Int32? {
        var signals = signals
        while true {
            var none = timespec()
            let signal = sigtimedwait(&signals, nil, &none)
            if signal > 0 { return signal }
            var input = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
            if poll(&input, 1, 100) > 0 { return nil }
            if let failure = end() {
                // Drops a half-typed answer, which the shell would otherwise read as a command.
                dropTypedAhead()
                Output.ask("\n")
                throw failure
            }
        }
    }
}
