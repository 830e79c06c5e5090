import Foundation
import TestSupport
import Testing

/// `make install` into a folder: everything that a laptop needs, and units that systemd accepts.
@Suite(.enabled(if: Machine.runs(Machine.hasRelease), "make build makes the release binaries that are installed"))
struct InstallTests {
    @Test func installsWhatALaptopNeedsAndTakesItAwayAgain() throws {
        let scratch = TemporaryFolder()
        let root = scratch.path + "/root"
        let make = ["-C", Machine.checkout.path, "DESTDIR=\(root)"]
        let installed = try Finished.run(
            "/usr/bin/make", make + ["install"], environment: ["PATH": ProcessInfo.processInfo.environment["PATH"] ?? ""])
        try #require(installed.status == 0, "\(installed.output)")
        for path in [
            "usr/bin/hotspotctl", "usr/libexec/hotspotd/hotspotd", "usr/libexec/hotspotd/hotspot-helpers",
            "usr/lib/hotspotd/helpers/form.helper", "usr/lib/hotspotd/helpers/wispr.helper",
            "usr/lib/hotspotd/helpers/browser.helper",
            "usr/lib/hotspotd/helpers/portal-api.helper", "usr/lib/hotspotd/helpers/catalogue.helper",
            "usr/lib/hotspotd/portals/mikrotik.portal", "etc/hotspotd/portals", "usr/share/doc/hotspotd/portals.md",
            "usr/lib/systemd/system/hotspotd.service", "usr/lib/systemd/system/hotspot-companion.service",
            "usr/lib/systemd/user/hotspot-notify.service",
            "etc/xdg/autostart/hotspot-notify.desktop",
            "usr/libexec/hotspotd/hotspot-dhcp", "usr/libexec/hotspotd/hotspot-companion", "usr/lib/sysusers.d/hotspotd.conf",
            "usr/share/hotspotd/dhclient-hotspotd.conf", "usr/share/hotspotd/hotspot-companion-l2cap.conf",
            "usr/share/hotspotd/varlink/org.hotspotd.Helper.varlink",
            "etc/hotspotd/hotspotd.conf", "usr/share/doc/hotspotd/helpers.md", "usr/share/doc/hotspotd/security.md",
            "usr/share/hotspotd/apparmor-hotspotd", "usr/share/doc/hotspotd/examples/python/aroma.py",
        ] {
            #expect(FileManager.default.fileExists(atPath: "\(root)/\(path)"), "\(path)")
        }
        let programs =
            ["bin/hotspotctl"]
            + ["hotspotd", "hotspot-helpers", "hotspot-dhcp", "hotspot-companion"]
            .map { "libexec/hotspotd/\($0)" }
        let octets = try programs.map {
            try Data(contentsOf: URL(fileURLWithPath: "\(root)/usr/\($0)"), options: .alwaysMapped).count
        }
        #expect(octets.reduce(0, +) < 55 << 20, "what is installed stays small: \(octets)")
        let helper = try String(contentsOfFile: root + "/usr/lib/hotspotd/helpers/form.helper", encoding: .utf8)
        #expect(helper.contains("Exec=/usr/libexec/hotspotd/hotspot-helpers"))

        // The shipped settings are the defaults, and are read without complaint.
        let settings = try Finished.run(
            root + "/usr/libexec/hotspotd/hotspotd", ["--settings", root + "/etc/hotspotd/hotspotd.conf", "--check-settings"])
        #expect(settings.status == 0, "\(settings.output)")

        try checkSettings(root)
        try checkDocumentation(root + "/usr/share/doc/hotspotd", root)

        // The unit names one program of the system, which exists on a laptop but not in this folder.
        try FileManager.default.createDirectory(atPath: root + "/bin", withIntermediateDirectories: true)
        try FileManager.default.copyItem(atPath: "/bin/kill", toPath: root + "/bin/kill")
        let verify = try Finished.run(
            "/usr/bin/systemd-analyze",
            ["verify", "--root=\(root)", "--man=no", "--recursive-errors=no", "/usr/lib/systemd/system/hotspotd.service"])
        #expect(verify.status == 0, "\(verify.output)")

        let removed = try Finished.run(
            "/usr/bin/make", make + ["uninstall"], environment: ["PATH": ProcessInfo.processInfo.environment["PATH"] ?? ""])
        #expect(removed.status == 0, "\(removed.output)")
        #expect(!FileManager.default.fileExists(atPath: root + "/usr/bin/hotspotctl"))
        #expect(FileManager.default.fileExists(atPath: root + "/etc/hotspotd/hotspotd.conf"), "settings stay")
    }

    /// The file has every key that the daemon knows. The daemon lists its keys when it meets an unknown key.
    private func checkSettings(_ root: String) throws {
        let scratch = TemporaryFolder()
        let text = try String(contentsOfFile: root + "/etc/hotspotd/hotspotd.conf", encoding: .utf8)
        let sections = text.split(separator: "\n").filter { $0.hasPrefix("[") }
        #expect(sections == ["[Daemon]", "[Interfaces]", "[Commands]", "[Probe]", "[Policy]", "[Scripts]"])
        for section in sections {
            let file = scratch.write("settings.conf", "\(section)\nNoSuchKey=1\n")
            let refused = try Finished.run(root + "/usr/libexec/hotspotd/hotspotd", ["--settings", file, "--check-settings"])
            let known =
                refused.output.components(separatedBy: "known are ").last?
                .split(whereSeparator: { $0.isWhitespace }).map(String.init) ?? []
            #expect(refused.status != 0 && !known.isEmpty, "\(refused.output)")
            let part = text.components(separatedBy: section).last!.components(separatedBy: "\n[").first!
            for key in known { #expect(part.contains("\n#\(key)="), "\(section) \(key)=") }
        }
    }

    /// No link and no path in the documentation leads to something that only a checkout has.
    private func checkDocumentation(_ folder: String, _ root: String) throws {
        for page in try FileManager.default.contentsOfDirectory(atPath: folder) where page.hasSuffix(".md") {
            let text = try String(contentsOfFile: folder + "/" + page, encoding: .utf8)
            for target in text.components(separatedBy: "](").dropFirst().compactMap({ $0.split(separator: ")").first }) {
                let path = target.split(separator: "#").first.map(String.init) ?? ""
                guard !target.hasPrefix("http"), !target.hasPrefix("#") else { continue }
                let place = path.hasPrefix("/") ? root + path : folder + "/" + path
                #expect(FileManager.default.fileExists(atPath: place), "\(page): \(target)")
            }
            for words in text.components(separatedBy: "/usr/share/").dropFirst() {
                let path = words.prefix { $0.isLetter || $0.isNumber || "/._-".contains($0) }
                #expect(
                    FileManager.default.fileExists(atPath: root + "/usr/share/" + path.drop { $0 == "/" }), "\(page): \(path)")
            }
            #expect(!text.contains("Sources/HelperKit") && !text.contains("Tests/Examples"), "\(page)")
        }
    }
}
