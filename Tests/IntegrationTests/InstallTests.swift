import Foundation
import Testing

/// `make install` into a folder: everything that a laptop needs, and units that systemd accepts.
@Suite(.enabled(if: Machine.runs(Machine.hasRelease), "make build makes the release binaries that are installed"))
struct InstallTests {
    @Test func installsWhatALaptopNeedsAndTakesItAwayAgain() throws {
        let scratch = try Scratch()
        let root = scratch.path + "/root"
        let make = ["-C", Machine.checkout.path, "DESTDIR=\(root)"]
        let installed = try Finished.run(
            "/usr/bin/make", make + ["install"], environment: ["PATH": ProcessInfo.processInfo.environment["PATH"] ?? ""])
        try #require(installed.status == 0, "\(installed.output)")
        for path in [
            "usr/bin/hotspotctl", "usr/libexec/hotspotd/hotspotd", "usr/libexec/hotspotd/hotspot-helpers",
            "usr/lib/hotspotd/helpers/form.helper", "usr/lib/hotspotd/helpers/wispr.helper",
            "usr/lib/hotspotd/helpers/portal-api.helper", "usr/lib/systemd/system/hotspotd.service",
            "usr/lib/sysusers.d/hotspotd.conf",
            "usr/share/hotspotd/dhclient-hotspotd.conf", "usr/share/hotspotd/varlink/org.hotspotd.Helper.varlink",
            "etc/hotspotd/hotspotd.conf",
        ] {
            #expect(FileManager.default.fileExists(atPath: "\(root)/\(path)"), "\(path)")
        }
        let helper = try String(contentsOfFile: root + "/usr/lib/hotspotd/helpers/form.helper", encoding: .utf8)
        #expect(helper.contains("Exec=/usr/libexec/hotspotd/hotspot-helpers"))

        // The shipped settings are the defaults, and are read without complaint.
        let settings = try Finished.run(
            root + "/usr/libexec/hotspotd/hotspotd", ["--settings", root + "/etc/hotspotd/hotspotd.conf", "--check-settings"])
        #expect(settings.status == 0, "\(settings.output)")

        // The unit names one program of the system, which a laptop has and this folder has not.
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
}
