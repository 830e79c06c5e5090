import Foundation
import Testing

/// The Debian packages (`make deb`, lintian included) under a systemd of their own: a login beside NetworkManager and a VPN, an upgrade, a
/// suspend, the desktop's switch, and the removal; on this release, and on the next.
@Suite(.enabled(if: Machine.runs(Machine.hasRelease), "make build makes the release binaries that are packed"))
struct PackageTests {
    private static let environment = ["PATH": ProcessInfo.processInfo.environment["PATH"] ?? ""]
    /// Runs a command in a root of Debian 13.
    private static let trixie = [Machine.checkout.appendingPathComponent("Tests/Support/debian-root").path, "trixie", "--"]

    /// The path of the package, made once.
    private static let made = Result {
        let made = try Finished.run("/usr/bin/make", ["-C", Machine.checkout.path, "deb"], environment: environment)
        try #require(made.status == 0, "\(made.output.suffix(3000))")
        #expect(!made.output.contains("\nE: ") && !made.output.contains("\nW: "), "lintian: \(made.output.suffix(500))")
        let folder = Machine.checkout.appendingPathComponent(".build/deb")
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
        try #require(names.count == 2 && names[0].hasPrefix("hotspotd-dev_") && names[1].hasPrefix("hotspotd_"), "\(names)")
        return folder.appendingPathComponent(names[1]).path
    }

    /// Runs a program that prints its findings. Expects that all findings are good, and that their number is `count`, or the number that the program
    /// planned (`1..NUMBER`).
    private func findings(_ words: [String], _ count: Int? = nil) throws {
        let done = try Finished.run(words[0], Array(words.dropFirst()), environment: Self.environment)
        let findings = done.output.split(separator: "\n")
        for finding in findings where finding.hasPrefix("not ok") { Issue.record("\(finding.prefix(2000))") }
        let plan = findings.first { $0.hasPrefix("1..") }?.dropFirst(3)
        let planned = try #require(count ?? plan.flatMap { Int($0) }, "\(done.output.suffix(2000))")
        let well = findings.count { $0.hasPrefix("ok ") }
        #expect(done.status == 0 && well == planned && well > 0, "\(done.output.suffix(2000))")
    }

    private static let life = Machine.checkout.appendingPathComponent("Tests/Package/package").path
    private static let lifeFindings = 59

    @Test func aPackageIsInstalledUpgradedWhileOnlineAndRemoved() throws {
        try findings([Self.life, Self.made.get()], Self.lifeFindings)
    }

    /// The code that calls C libraries compiles with the headers of Debian 13.
    @Test(.enabled(if: Machine.codename == "bookworm", "Debian 13 is tried on Debian 12"))
    func theNextReleasesHeadersFit() throws {
        try findings(Self.trixie + [Machine.checkout.appendingPathComponent("Tests/Package/boundary").path])
    }

    /// The package that this release makes is installed on Debian 13.
    @Test(.enabled(if: Machine.codename == "bookworm", "Debian 13 is tried on Debian 12"))
    func thePackageWorksOnTheNextRelease() throws {
        try findings(Self.trixie + [Self.life, Self.made.get()], Self.lifeFindings)
    }

    /// On Debian 13, a browser opens, and the command ends with it.
    @Test(.enabled(if: Machine.codename == "bookworm", "Debian 13 is tried on Debian 12"))
    func browseEndsOnTheNextRelease() async throws {
        let visit = try await CafeVisit.start(["--mode", "veth", "--scene", "browse"], in: Self.trixie)
        try visit.expect("browse", ["browse.online", "browse.nothingLeft", "browse.interrupted", "daemon.ends", "done"])
        try visit.expectSuccess()
    }
}
