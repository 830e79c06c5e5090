import BoundHTTP
import ControlAPI
import EventLoop
import Glibc
import HelperKit
import HotspotCore
import Varlink

/// A throw-away browser on one network: a proxy that is bound to the link, a browser that can only use this proxy, and a profile that is deleted.
///
/// `hotspotctl browse` starts this program: `hotspot-helpers --browse [--browser PATH]`, with the network on the first line of
/// standard input. It ends when the browser ends, on a signal, or when standard input ends.
package enum BrowseProgram {
    /// The first command-line argument that selects this tool.
    package static let option = "--browse"

    /// - Parameter words: the arguments after the option.
    package static func run(_ words: [String]) -> Never {
        do {
            try browse(words)
            exit(0)
        } catch {
            let line = Array("hotspotctl: \(error)\n".utf8)
            _ = write(STDERR_FILENO, line, line.count)
            exit(error.status)
        }
    }

    private static func browse(_ words: [String]) throws(BrowseError) {
        guard words.isEmpty || (words.count == 2 && words[0] == "--browser") else {
            throw .noLink("usage: hotspot-helpers --browse [--browser PATH]; hotspotctl browse starts it")
        }
        let browser = try Browser.find(
            named: words.last, preferred: DefaultBrowser(environment: variable).program,
            path: variable("PATH") ?? "/usr/local/bin:/usr/bin:/bin")
        let (link, start) = try readNetwork()
        // Blocks signals before the first thread starts: so every thread has the mask, and only this thread waits for signals.
        let signals = blockSignals()
        let proxy: Proxy
        do throws(Errno) {
            proxy = try Proxy(
                listener: try Proxy.listen(), link: link, mayUse: { ProcessTree.made(connectionFrom: $0, to: $1) })
        } catch { throw .system("The proxy could not get a port", error.code) }
        proxy.start()
        let parents = Profile.parents(
            runtime: variable("XDG_RUNTIME_DIR"), temporary: variable("TMPDIR"), home: variable("HOME"), snap: browser.snap)
        if let snap = browser.snap, !parents.contains(where: { access($0, W_OK) == 0 }) { throw .snap(snap) }
        let profile = try Profile(for: start, proxy: proxy.port, under: parents)
        defer { profile.remove() }
        let process = try BrowserProcess(
            browser.command(profile: profile.path, page: profile.page, proxy: proxy.port),
            environment: Browser.environment(Spawn.ownEnvironment, folder: profile.folder))
        defer { process.end() }
        endWithStandardInput()
        var signal: Int32 = 0
        repeat { sigwait(signals, &signal) } while signal == SIGCHLD && !process.hasEnded()
    }

    /// Reads the reply to `Browse`, which is one line of standard input.
    private static func readNetwork() throws(BrowseError) -> (Link, WebURL) {
        guard let line = readLine() else { throw .noLink("standard input is empty") }
        do {
            let reply = try Coding.decode(BrowseReply.self, from: line)
            guard let start = WebURL(reply.start), ["http", "https"].contains(start.scheme) else {
                throw BrowseError.noLink("its page is not a web address")
            }
            let link = Link(
                attempt: "browse", association: "browse", interface: reply.interface, index: 0, addresses: reply.addresses,
                gateways: reply.gateways, nameservers: reply.nameservers)
            return (link, start)
        } catch let error as BrowseError {
            throw error
        } catch {
            throw .noLink("\(error)")
        }
    }

    /// Reads a line of at most 64 KiB from standard input. Does not use stdio, because a thread that reads a line holds the stream's lock, and
    /// exit(3) would wait for that lock (glibc 2.41).
    private static func readLine() -> [UInt8]? {
        var (line, octet): ([UInt8], UInt8) = ([], 0)
        while read(STDIN_FILENO, &octet, 1) == 1 {
            if octet == UInt8(ascii: "\n") { return line }
            guard line.count < 65536 else { return nil }
            line.append(octet)
        }
        return line.isEmpty ? nil : line
    }

    private static func blockSignals() -> UnsafePointer<sigset_t> {
        // Resets SIGCHLD: this process would inherit SIG_IGN from its parent, with which the kernel collects ended children
        // itself.
        signal(SIGCHLD, SIG_DFL)
        let signals = UnsafeMutablePointer<sigset_t>.allocate(capacity: 1)
        sigemptyset(signals)
        for number in [SIGINT, SIGTERM, SIGHUP, SIGCHLD] { sigaddset(signals, number) }
        pthread_sigmask(SIG_BLOCK, signals, nil)
        return UnsafePointer(signals)
    }

    /// Ends this process cleanly when hotspotctl closes the pipe, or dies.
    private static func endWithStandardInput() {
        Worker.start {
            var octets = [UInt8](repeating: 0, count: 4096)
            while read(STDIN_FILENO, &octets, octets.count) > 0 {}
            kill(getpid(), SIGTERM)
        }
    }

    private static func variable(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }
}
