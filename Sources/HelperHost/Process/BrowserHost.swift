import EventLoop
import Glibc
import HotspotCore
import Varlink

/// The browsers of helpers, for pages that need their scripts. Each connection to a socket that only these helpers can see gets its own browser.
///
/// Each browser runs in its own sandbox without a network; it connects only through its helper's proxy. The first process in the sandbox,
/// `hotspot-helpers --render`, ends when the connection closes, and ends everything else in the sandbox.
@LoopActor public final class BrowserHost {
    /// The browser that a helper with `Browser=yes` gets.
    public enum Choice: Hashable, Sendable {
        /// The browser at this path.
        case browser(String)
        /// No browser is installed.
        case missing
        /// The settings want no browser.
        case none
    }

    /// The environment variable with the path of the socket; empty where no browser is installed.
    nonisolated static let variable = "HOTSPOTD_BROWSER"
    private static let name = "browser of a page"
    /// The largest number of browsers at a time.
    private static let limit = 2

    public private(set) var choice = Choice.none
    private unowned let host: HelperHost
    /// The program that starts a browser, with the paths that it may see.
    private var program: [String] = []
    private var listener: (socket: Int32, path: String, source: EventSource)?
    private var filter: Int32 = -1

    init(_ host: HelperHost) { self.host = host }

    isolated deinit {
        stop()
        if filter >= 0 { close(filter) }
    }

    /// Offers this browser from now on, to helpers that start.
    ///
    /// - Parameter program: the command that starts a browser, without the browser's path.
    public func offer(_ choice: Choice, by program: [String]) {
        guard (choice, program) != (self.choice, self.program) else { return }
        (self.choice, self.program) = (choice, program)
        // Restart the programs, because they learn about the socket only when they start.
        host.makeFolders()
    }

    /// Takes no further connections.
    func stop() {
        guard let listener else { return }
        // Stop watching first, because closing frees the descriptor's number for another file.
        listener.source.cancel()
        close(listener.socket)
        unlink(listener.path)
        self.listener = nil
    }

    /// The path of the socket; empty where no browser is installed, `nil` where none is wanted.
    var socket: String? {
        switch choice {
        case .browser: path
        case .missing: ""
        case .none: nil
        }
    }

    private var path: String { host.configuration.runtimeDirectory + "/helpers/browser" }

    /// Listens; makes the socket again if the folder was removed.
    func listen() {
        stop()
        guard case .browser = choice, !host.isShut,
            let socket = try? Socket.listen(path: path, mode: 0o600).take()
        else { return }
        guard let source = try? EventLoop.shared.watch(socket, { [weak self] _ in self?.accept(socket) }) else {
            close(socket)
            return
        }
        listener = (socket, path, source)
    }

    private func accept(_ listener: Int32) {
        let connection = Glibc.accept(listener, nil, nil)
        guard connection >= 0 else { return }
        // No program inherits the socket before this call, because the daemon starts programs only on this thread.
        _ = fcntl(connection, F_SETFD, FD_CLOEXEC)
        defer { close(connection) }
        guard case .browser(let browser) = choice, running < Self.limit else { return }
        if filter < 0 { filter = (try? SystemCallFilter.make(for: .browser)) ?? -1 }
        guard filter >= 0 else { return }
        let socket = SharedProgram.Listener(name: "browser", path: "", descriptor: connection)
        _ = try? host.start(sandbox(for: browser), filter: filter, [socket], names: [Self.name])
    }

    /// The path of the browser for a helper that may have one; empty if none is installed, `nil` if none is wanted or there is no sandbox.
    public func path(for helper: String) -> String? {
        guard host.isSandboxed(helper) else { return nil }
        return switch choice {
        case .browser(let path): path
        case .missing: ""
        case .none: nil
        }
    }

    /// How many browsers run.
    public var running: Int { host.processes.values.count { $0.names == [Self.name] } }

    private func sandbox(for browser: String) -> Sandbox {
        var limits = host.configuration.limits
        // A browser reserves terabytes of addresses, so they are not limited. A page that needs more memory than `data` allows loses its process.
        (limits.addressSpace, limits.data) = (.max, 1 << 30)
        (limits.processes, limits.descriptors, limits.temporaryFolder) = (400, 1024, 256 << 20)
        let folder = FilePath.parent(of: FilePath.canonical(browser))
        return Sandbox(
            exec: program + [browser], readPaths: Self.settings + (FilePath.isWithin(folder, "/usr") ? [] : [folder]),
            hasNetwork: false, listeners: 1, processorTime: 600, limits: limits, hiddenPaths: host.configuration.hiddenPaths,
            isNobody: true)
    }

    /// The settings that a browser reads, and the list of fonts. Without that list, it would read every font when it starts.
    private static let settings = ["/etc/chromium", "/etc/chromium.d", "/etc/fonts", "/var/cache/fontconfig"]

    /// The places where browsers of the Chromium family are installed; the first one that exists is used.
    public nonisolated static let places = [
        "/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome-stable", "/usr/bin/google-chrome",
        "/usr/bin/brave-browser", "/usr/bin/microsoft-edge-stable", "/usr/bin/microsoft-edge",
    ]

    /// Returns the first browser that is installed. A browser from a snap is left out, because it runs only in the snap's sandbox.
    public nonisolated static func find() -> Choice {
        let found = places.first { access($0, X_OK) == 0 && FilePath.kind(of: $0) == .file && Snap.name(of: $0) == nil }
        return found.map(Choice.browser) ?? .missing
    }
}
