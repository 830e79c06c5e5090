import BoundHTTP
import EventLoop
import Glibc

/// A browser, with the arguments that make it use only our proxy.
struct Browser: Equatable {
    enum Family: Equatable { case chromium, firefox }

    let path: String
    let family: Family

    /// The names of the browsers' programs, in the order of the search.
    static let names = [
        "chromium", "chromium-browser", "google-chrome-stable", "google-chrome", "brave-browser", "brave",
        "microsoft-edge-stable",
        "microsoft-edge", "firefox", "firefox-esr",
    ]

    init(path: String) {
        self.path = path
        let name = path.split(separator: "/").last ?? ""
        family = name.lowercased().contains("firefox") ? .firefox : .chromium
    }

    /// Returns the browser that the user names, otherwise the user's default browser if ``names`` contains it, otherwise the
    /// first of ``names`` in the folders of `PATH`.
    ///
    /// - Parameter preferred: the program of the default browser: a path, or a name.
    static func find(named: String?, preferred: String? = nil, path: String) throws(BrowseError) -> Browser {
        if let named {
            let place = named.contains("/") ? named : places(of: named, path).first(where: isProgram)
            guard let place, isProgram(place) else { throw .notABrowser(named) }
            return Browser(path: place)
        }
        if let preferred, names.contains(preferred.split(separator: "/").last.map(String.init) ?? "") {
            let place = preferred.hasPrefix("/") ? preferred : places(of: preferred, path).first(where: isProgram)
            if let place, isProgram(place) { return Browser(path: place) }
        }
        for name in names {
            if let place = places(of: name, path).first(where: isProgram) { return Browser(path: place) }
        }
        throw .noBrowser
    }

    /// The name of the browser's snap; `nil` if the browser is not from a snap. A snap sees no file outside its own folders.
    var snap: String? { Snap.name(of: path) }

    private static func places(of name: String, _ path: String) -> [String] {
        path.split(separator: ":").filter { $0.hasPrefix("/") }.map { "\($0)/\(name)" }
    }

    private static func isProgram(_ path: String) -> Bool {
        var facts = stat()
        return stat(path, &facts) == 0 && facts.st_mode & S_IFMT == S_IFREG && access(path, X_OK) == 0
    }

    /// Returns the words of the command that opens a page in a profile. The page is a file, so that the process list does not
    /// show the portal's address.
    func command(profile: String, page: String, proxy port: UInt16) -> [String] {
        switch family {
        case .firefox: [path, "-no-remote", "-profile", profile, page]
        case .chromium:
            // This option suppresses the browser's warning about the other options.
            [path, "--user-data-dir=\(profile)", "--test-type"] + ChromiumWords.keeping(to: port) + [page]
        }
    }

    /// Returns the browser's environment: files that the browser writes outside its profile go into `folder`, and no crash
    /// report is kept.
    static func environment(_ inherited: [String], folder: String) -> [String] {
        let own = [
            "TMPDIR": folder, "XDG_CACHE_HOME": folder + "/cache", "BREAKPAD_DUMP_LOCATION": folder + "/crashes",
            "MOZ_CRASHREPORTER_DISABLE": "1",
        ]
        let kept = inherited.filter { own[String($0.prefix { $0 != "=" })] == nil }
        return kept + own.map { "\($0.key)=\($0.value)" }.sorted()
    }

    /// Returns the lines of `user.js` for a profile of Firefox: settings that correspond to ``ChromiumWords``.
    static func preferences(proxy port: UInt16) -> String {
        let settings: [(String, String)] = [
            ("network.proxy.type", "1"), ("network.proxy.socks", "\"127.0.0.1\""), ("network.proxy.socks_port", "\(port)"),
            ("network.proxy.socks_version", "5"), ("network.proxy.socks_remote_dns", "true"),
            ("network.proxy.socks5_remote_dns", "true"), ("network.proxy.no_proxies_on", "\"\""),
            ("network.proxy.allow_hijacking_localhost", "true"), ("network.proxy.failover_direct", "false"),
            ("network.trr.mode", "5"), ("network.dns.disablePrefetch", "true"), ("network.prefetch-next", "false"),
            ("network.predictor.enabled", "false"), ("network.http.http3.enable", "false"),
            ("network.captive-portal-service.enabled", "false"), ("network.connectivity-service.enabled", "false"),
            ("media.peerconnection.enabled", "false"), ("dom.security.https_only_mode", "false"),
            ("dom.security.https_first", "false"), ("dom.security.https_first_schemeless", "false"),
            ("browser.shell.checkDefaultBrowser", "false"), ("browser.aboutwelcome.enabled", "false"),
            ("browser.startup.homepage_override.mstone", "\"ignore\""), ("startup.homepage_welcome_url", "\"\""),
            ("browser.safebrowsing.malware.enabled", "false"), ("browser.safebrowsing.phishing.enabled", "false"),
            ("browser.newtabpage.enabled", "false"), ("browser.region.update.enabled", "false"),
            ("app.normandy.enabled", "false"), ("app.update.auto", "false"), ("extensions.update.enabled", "false"),
            ("toolkit.telemetry.enabled", "false"), ("toolkit.telemetry.unified", "false"),
            ("toolkit.telemetry.reportingpolicy.firstRun", "false"), ("datareporting.policy.dataSubmissionEnabled", "false"),
            ("datareporting.healthreport.uploadEnabled", "false"),
        ]
        return settings.map { "user_pref(\"\($0.0)\", \($0.1));\n" }.joined()
    }
}
