import BoundHTTP
import CLinux
import EventLoop
import Glibc
import HotspotCore
import Varlink

/// The program that runs in the browser's sandbox: opens the proxy's port in the sandbox's network, passes the listening socket to the helper, starts
/// the browser, and ends with the connection or with the browser.
///
/// For each connection to the browser's socket, the daemon starts `hotspot-helpers --render BROWSER` with the connection as descriptor 3. The browser
/// then uses this connection for DevTools.
package enum RenderProgram {
    /// The first command-line argument that selects this tool.
    package static let option = "--render"
    /// The environment variable with the path of the socket that provides a browser to a helper.
    package static let variable = "HOTSPOTD_BROWSER"

    /// The helper's message before the browser starts.
    struct Wishes: Codable {
        /// The keys of servers whose certificates the system trusts, as the helper has found. A browser trusts only its own list of authorities, so
        /// it gets these keys.
        var pins: [String]
    }

    /// Seconds after which a browser is ended in any case.
    private static let limit = 1800
    private static let connection: Int32 = 3

    /// - Parameter words: the arguments after the option.
    package static func run(_ words: [String]) -> Never {
        guard words.count == 1, let listener = try? Proxy.listen(), let port = try? Proxy.port(of: listener),
            clinux_send_descriptor(connection, listener) == 0, let wishes = readWishes()
        else { exit(1) }
        close(listener)
        signal(SIGCHLD, SIG_DFL)
        writePreferences()
        let null = open("/dev/null", O_RDWR | O_CLOEXEC)
        let command = [words[0]] + options(proxy: port, wishes)
        guard
            let browser = try? Spawn(
                arguments: command, environment: environment, descriptors: [null, null, null, connection, connection]
            ).startWatched().pidfd
        else { exit(1) }
        // All processes of the sandbox end with this process. Their files are in memory, so a browser needs no clean shutdown.
        var ends = [
            pollfd(fd: connection, events: Int16(hangUp), revents: 0), pollfd(fd: browser, events: Int16(POLLIN), revents: 0),
        ]
        _ = poll(&ends, 2, Int32(limit * 1000))
        exit(0)
    }

    /// Switches off the browser's own search for a captive portal, which would open the page a second time. This setting has no command-line option.
    private static func writePreferences() {
        for folder in ["/tmp/profile", "/tmp/profile/Default"] { mkdir(folder, 0o700) }
        let file = open("/tmp/profile/Default/Preferences", O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
        let text = Array(
            #"{"alternate_error_pages":{"enabled":false},"safebrowsing":{"enabled":false},"credentials_enable_service":false}"#
                .utf8)
        _ = write(file, text, text.count)
        close(file)
    }

    /// POLLRDHUP of bits/poll.h.
    private static let hangUp: Int32 = 0x2000

    private static let environment = [
        "PATH=/usr/bin:/bin", "LANG=C.UTF-8", "HOME=/tmp", "TMPDIR=/tmp", "XDG_CONFIG_HOME=/tmp/config",
        "XDG_CACHE_HOME=/tmp/cache",
        // Debian's start script uses these variables.
        "CHROME_DESKTOP=none", "DBUS_SESSION_BUS_ADDRESS=disabled:", "DBUS_SYSTEM_BUS_ADDRESS=disabled:",
    ]

    private static func readWishes() -> Wishes? {
        // Reads one octet at a time, because the next message is for the browser.
        var (message, octet): ([UInt8], UInt8) = ([], 0)
        while message.count < 16 << 10, recv(connection, &octet, 1, 0) == 1 {
            if octet == 0 { return try? Coding.decode(Wishes.self, from: message) }
            message.append(octet)
        }
        return nil
    }

    /// Returns the options that confine a browser of the Chromium family to the proxy and to the page.
    static func options(proxy port: UInt16, _ wishes: Wishes) -> [String] {
        var words = [
            "--headless=new", "--remote-debugging-pipe", "--user-data-dir=/tmp/profile", "--disable-gpu",
            // A single login does not need the frames of its page isolated from each other in separate processes.
            "--disable-site-isolation-trials",
            // The browser must not generate code at run time, which the service manager forbids as well (MemoryDenyWriteExecute=).
            "--js-flags=--jitless --max-old-space-size=256",
            // Opens only the page, without a start page before it.
            "--no-startup-window", "--block-new-web-contents", "--deny-permission-prompts", "--auto-reject-capture",
            "--disable-crash-reporter", "--mute-audio", "--disable-dev-shm-usage", "--disable-notifications",
            "--autoplay-policy=user-gesture-required",
        ]
        words += ChromiumWords.keeping(
            to: port,
            disabling: [
                "IsolateOrigins", "site-per-process", "Translate", "MediaRouter", "DialMediaRouteProvider", "OptimizationHints",
                "NetworkTimeServiceQuerying",
            ])
        if !wishes.pins.isEmpty {
            words.append("--ignore-certificate-errors-spki-list=" + wishes.pins.filter(isPin).joined(separator: ","))
        }
        return words
    }

    /// Returns whether a text is the base64 of a SHA-256.
    private static func isPin(_ text: String) -> Bool {
        text.utf8.count == 44
            && text.utf8.allSatisfy {
                switch $0 {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"):
                    true
                default: "+/=".utf8.contains($0)
                }
            }
    }
}
