import Foundation
import TestSupport
import Testing

/// The units as they are installed: accepted by systemd, and no more exposed than was promised.
@Suite(.enabled(if: Machine.runs(Machine.hasRelease && Machine.has("systemd-analyze")), "needs make build and systemd"))
struct UnitTests {
    /// A root with the units, and a helper of each kind.
    private func install() throws -> TemporaryFolder {
        let scratch = TemporaryFolder()
        let root = scratch.path + "/root"
        let make = try Finished.run(
            "/usr/bin/make", ["-C", Machine.checkout.path, "DESTDIR=\(root)", "install"],
            environment: ["PATH": ProcessInfo.processInfo.environment["PATH"] ?? ""])
        try #require(make.status == 0, "\(make.output)")
        let drops = root + "/etc/systemd/system/hotspot-helper@online.service.d"
        try FileManager.default.createDirectory(atPath: drops, withIntermediateDirectories: true)
        try FileManager.default.copyItem(
            atPath: root + "/usr/share/hotspotd/hotspot-helper-network.conf", toPath: drops + "/network.conf")
        for name in ["alone", "online"] {
            let program = "\(root)/usr/libexec/hotspotd/helpers/\(name)"
            try "#!/bin/sh\n".write(toFile: program, atomically: true, encoding: .utf8)
            chmod(program, 0o755)
        }
        return scratch
    }

    /// The score of `systemd-analyze security`: 0 is confined, 10 is exposed.
    private func exposure(_ unit: String, in root: String) throws -> Double {
        let run = try Finished.run(
            "/usr/bin/systemd-analyze", ["security", "--offline=yes", "--root=\(root)", "--no-pager", unit])
        let line = try #require(run.output.split(separator: "\n").last { $0.contains("Overall exposure level") }, "\(run.output)")
        return try #require(line.split(separator: " ").compactMap { Double($0) }.first, "\(line)")
    }

    @Test func theScoresAreKept() throws {
        let scratch = try install()
        let root = scratch.path + "/root"
        let scores = try [
            ("hotspotd.service", 2.9), ("hotspot-companion.service", 0.5),
            ("hotspot-helper@alone.service", 0.5), ("hotspot-helper@online.service", 1.5),
        ].map { (unit: $0, limit: $1, score: try exposure($0, in: root)) }
        for (unit, limit, score) in scores {
            print("\(unit): exposure \(score), at most \(limit)")
            #expect(score <= limit, "\(unit)")
        }
    }

    /// The example that switches L2CAP channels on gives up the network namespace, and allows one more family of sockets.
    @Test func theCompanionWithL2CAPIsAccepted() throws {
        let scratch = try install()
        let root = scratch.path + "/root"
        let unit = "hotspot-companion.service"
        let drops = "\(root)/etc/systemd/system/\(unit).d"
        try FileManager.default.createDirectory(atPath: drops, withIntermediateDirectories: true)
        let example = root + "/usr/share/hotspotd/hotspot-companion-l2cap.conf"
        try FileManager.default.copyItem(atPath: example, toPath: drops + "/l2cap.conf")
        #expect(
            try String(contentsOfFile: example, encoding: .utf8).contains(
                "\nExecStart=/usr/libexec/hotspotd/hotspot-companion --l2cap\n"))
        let score = try exposure(unit, in: root)
        print("\(unit) with L2CAP: exposure \(score), at most 1.2")
        #expect(score <= 1.2)
        let verify = try Finished.run(
            "/usr/bin/systemd-analyze", ["verify", "--root=\(root)", "--man=no", "--recursive-errors=no", unit])
        #expect(verify.status == 0, "\(verify.output)")
    }

    @Test func theUnitsOfHelpersAreAccepted() throws {
        let scratch = try install()
        let root = scratch.path + "/root"
        for unit in ["hotspot-helper@alone.socket", "hotspot-helper@alone.service", "hotspot-helper@online.service"] {
            let verify = try Finished.run(
                "/usr/bin/systemd-analyze", ["verify", "--root=\(root)", "--man=no", "--recursive-errors=no", unit])
            #expect(verify.status == 0, "\(unit): \(verify.output)")
        }
    }
}
