import Foundation
import Testing

/// The Debian packages (`make deb`, lintian included) under a systemd of their own: a login beside NetworkManager and a VPN, an upgrade, a
/// suspend, the desktop's switch, and the removal.
@Suite(.enabled(if: Machine.runs(Machine.hasRelease), "make build makes the release binaries that are packed"))
struct PackageTests {
    @Test func aPackageIsInstalledUpgradedWhileOnlineAndRemoved() throws {
        let environment = ["PATH": ProcessInfo.processInfo.environment["PATH"] ?? ""]
        let made = try Finished.run("/usr/bin/make", ["-C", Machine.checkout.path, "deb"], environment: environment)
        try #require(made.status == 0, "\(made.output.suffix(3000))")
        #expect(!made.output.contains("\nE: "), "lintian finds errors")
        let folder = Machine.checkout.appendingPathComponent(".build/deb")
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
        try #require(names.count == 2 && names[0].hasPrefix("hotspotd-dev_") && names[1].hasPrefix("hotspotd_"), "\(names)")
        let life = try Finished.run(
            Machine.checkout.appendingPathComponent("Tests/Package/package").path, [folder.appendingPathComponent(names[1]).path],
            environment: environment)
        let findings = life.output.split(separator: "\n")
        for finding in findings where finding.hasPrefix("not ok") { Issue.record("\(finding.prefix(2000))") }
        #expect(life.status == 0 && findings.count { $0.hasPrefix("ok ") } == 52, "\(life.output.suffix(2000))")
    }
}
