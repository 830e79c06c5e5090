import Foundation
import HelperKit
import Testing

@testable import Browse

/// Which browser is found, with its arguments and its folder.
@Suite struct BrowserTests {
    private func folder(with programs: [String]) throws -> String {
        let folder = FileManager.default.temporaryDirectory.path + "/browse-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        for name in programs {
            let isMade = FileManager.default.createFile(
                atPath: "\(folder)/\(name)", contents: nil, attributes: [.posixPermissions: 0o755])
            #expect(isMade)
        }
        return folder
    }

    @Test func findsTheFirstOfItsList() throws {
        let folder = try folder(with: ["firefox", "google-chrome", "brave"])
        defer { try? FileManager.default.removeItem(atPath: folder) }
        #expect(try Browser.find(named: nil, path: "/nonesuch:\(folder)").path == "\(folder)/google-chrome")
        #expect(try Browser.find(named: "firefox", path: folder) == Browser(path: "\(folder)/firefox"))
        #expect(try Browser.find(named: "\(folder)/firefox", path: "").family == .firefox)
        #expect(throws: BrowseError.self) { try Browser.find(named: "\(folder)/nonesuch", path: folder) }
        #expect(throws: BrowseError.self) { try Browser.find(named: folder, path: folder) }
        // A relative folder in PATH would depend on the user's current folder.
        #expect(throws: BrowseError.self) { try Browser.find(named: nil, path: "relative") }
    }

    @Test func theDefaultBrowserComesFirstIfItIsOneThatWorks() throws {
        let folder = try folder(with: ["firefox", "chromium", "epiphany"])
        defer { try? FileManager.default.removeItem(atPath: folder) }
        for (preferred, expected) in [
            ("firefox", "firefox"), ("\(folder)/firefox", "firefox"), ("epiphany", "chromium"), ("brave", "chromium"),
            ("/nonesuch/firefox", "chromium"),
        ] {
            let found = try Browser.find(named: nil, preferred: preferred, path: folder)
            #expect(found.path == "\(folder)/\(expected)", "\(preferred)")
        }
    }

    @Test func theDefaultBrowserIsReadOutOfTheDesktopsFiles() {
        let files = [
            "/home/ida/.config/mimeapps.list":
                "[Added Associations]\nx-scheme-handler/http=wrong.desktop\n[Default Applications]\nx-scheme-handler/http=gone.desktop;firefox.desktop;\n",
            "/usr/share/applications/mimeapps.list": "[Default Applications]\nx-scheme-handler/http=chromium.desktop\n",
            "/usr/share/applications/firefox.desktop":
                "[Desktop Action new]\nExec=wrong\n[Desktop Entry]\nExec=env A=1 /snap/bin/firefox %u\n",
            "/usr/share/applications/chromium.desktop": "[Desktop Entry]\nExec=\"/usr/bin/chromium\" %U\n",
            "/etc/xdg/kde-mimeapps.list": "[Default Applications]\nx-scheme-handler/http=../evil.desktop;chromium.desktop\n",
        ]
        func program(_ variables: [String: String]) -> String? {
            DefaultBrowser(environment: { variables[$0] }, read: { files[$0] }).program
        }
        #expect(program(["HOME": "/home/ida"]) == "/snap/bin/firefox")
        #expect(program(["HOME": "/home/bob"]) == "/usr/bin/chromium")
        #expect(program(["HOME": "/home/bob", "XDG_CURRENT_DESKTOP": "KDE"]) == "/usr/bin/chromium")
        #expect(program(["HOME": "/home/bob", "XDG_DATA_DIRS": "/opt/share"]) == nil)
    }

    @Test func aSnapHasItsProfileInItsOwnFolder() throws {
        let folder = try folder(with: [])
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try "#!/bin/sh\nexec /snap/bin/chromium \"$@\"\n".write(toFile: folder + "/chromium", atomically: true, encoding: .utf8)
        try "#!/bin/sh\nexec /usr/lib/chromium/chromium\n".write(toFile: folder + "/brave", atomically: true, encoding: .utf8)
        #expect(Browser(path: folder + "/chromium").snap == "chromium")
        #expect(Browser(path: "/snap/bin/firefox").snap == "firefox")
        #expect(Browser(path: folder + "/brave").snap == nil && Browser(path: "/nonesuch").snap == nil)
        let parents = Profile.parents(runtime: "/run/user/1", temporary: nil, home: "/home/ida", snap: "firefox")
        #expect(parents == ["/home/ida/snap/firefox/common"])
        #expect(Profile.parents(runtime: "/run/user/1", temporary: "tmp", home: nil, snap: nil) == ["/run/user/1", "/tmp"])
    }

    @Test func withoutABrowserItSaysWhatToInstall() {
        #expect(throws: BrowseError.self) { try Browser.find(named: nil, path: "/nonesuch") }
        #expect("\(BrowseError.noBrowser)".contains("apt install chromium"))
    }

    @Test func theProxyIsTheOnlyWay() {
        let words = Browser(path: "/usr/bin/chromium").command(profile: "/p", page: "file:///start.html", proxy: 4711)
        for word in [
            "--proxy-server=socks5://127.0.0.1:4711", "--proxy-bypass-list=<-loopback>", "--user-data-dir=/p", "--disable-quic",
            "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
            "--force-webrtc-ip-handling-policy=disable_non_proxied_udp", "--test-type",
        ] {
            #expect(words.contains(word), "\(word)")
        }
        #expect(words.last == "file:///start.html")
        let preferences = Browser.preferences(proxy: 4711)
        for line in [
            #"user_pref("network.proxy.type", 1);"#, #"user_pref("network.proxy.socks_port", 4711);"#,
            #"user_pref("network.proxy.socks5_remote_dns", true);"#, #"user_pref("network.trr.mode", 5);"#,
            #"user_pref("network.proxy.allow_hijacking_localhost", true);"#,
            #"user_pref("media.peerconnection.enabled", false);"#,
        ] {
            #expect(preferences.contains(line + "\n"), "\(line)")
        }
    }

    @Test func whatItWritesElsewhereGoesIntoItsFolder() {
        let found = Browser.environment(["HOME=/home/ida", "TMPDIR=/tmp", "LANG=C", "XDG_CACHE_HOME=/c"], folder: "/p")
        #expect(
            found == [
                "HOME=/home/ida", "LANG=C", "BREAKPAD_DUMP_LOCATION=/p/crashes", "MOZ_CRASHREPORTER_DISABLE=1", "TMPDIR=/p",
                "XDG_CACHE_HOME=/p/cache",
            ])
    }

    @Test func theProfileIsForThisUserAloneAndGoesWithAllThatIsInIt() throws {
        let parent = try folder(with: [])
        defer { try? FileManager.default.removeItem(atPath: parent) }
        let start = try #require(WebURL("http://portal.example/?a=1&b=\"2\"#/\"in\""))
        let profile = try Profile(for: start, proxy: 4711, under: ["/nonesuch", parent])
        let folder = try #require(profile.path.split(separator: "/").dropLast().last.map { "\(parent)/\($0)" })
        let mode = try FileManager.default.attributesOfItem(atPath: folder)[.posixPermissions] as? Int
        #expect(mode == 0o700)
        let page = try String(contentsOfFile: String(profile.page.dropFirst("file://".count)), encoding: .utf8)
        #expect(page.contains("url=http://portal.example/?a=1&amp;b="), "\(page)")
        #expect(
            page.contains("#/") && !page.contains("b=\"2") && !page.contains("#/\"in"),
            "the address stays within its quotes: \(page)")
        try "left".write(toFile: profile.path + "/Cookies", atomically: false, encoding: .utf8)
        profile.remove()
        #expect(try FileManager.default.contentsOfDirectory(atPath: parent).isEmpty)
    }
}
