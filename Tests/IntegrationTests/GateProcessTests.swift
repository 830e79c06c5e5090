import Foundation
import TestSupport
import Testing

/// `Gate=routes` in the built daemon, in a network namespace of its own: the rules that remain when the daemon ends, in whatever way.
@Suite(
    .enabled(if: Machine.runs(Machine.hasRelease), "make build makes the release binaries that these tests run"),
    .enabled(if: Machine.runs(geteuid() == 0), "a network namespace needs root"))
struct GateProcessTests {
    /// Runs a shell script beside a daemon's settings, in a namespace with one wired link, `w0`. The script has:
    /// `start [WORDS]` and `closed` (waits until the link is), `rules`, `$before` (the rules at first), `$daemon` (its process).
    private func play(_ script: String) throws {
        let scratch = TemporaryFolder()
        // The user of the last test reads this folder too.
        chmod(scratch.path, 0o755)
        for folder in ["state", "run", "helpers"] {
            try FileManager.default.createDirectory(atPath: "\(scratch.path)/\(folder)", withIntermediateDirectories: true)
        }
        let file = scratch.write(
            "hotspotd.conf",
            """
            \(scratch.daemonSettings)
            [Interfaces]
            Match=w0
            ManageEthernet=yes
            [Policy]
            Gate=routes
            """)
        let whole = """
            set -u
            folder=\(scratch.path) settings=\(file) programs=\(Machine.release.path) daemon=
            trap '[ -z "$daemon" ] || kill -9 $daemon 2>/dev/null' EXIT
            fail() { echo "$1"; cat $folder/log; ip rule; ip -6 rule; exit 1; }
            rules() { ip -4 rule; ip -6 rule; ip -o link show group 1752134771 | cut -d: -f2; }
            start() { "$@" $programs/hotspotd --settings $settings 2>>$folder/log & daemon=$!; }
            until_true() { n=0; until "$@"; do n=$((n+1)); [ $n -lt 1000 ] || fail "not true in time: $*"; sleep 0.01; done; }
            is_closed() { ip -o link show group 1752134771 | grep -q w0 && ip rule | grep -q 'oif w0 lookup main'; }
            ip link set lo up; ip link add w0 type veth peer name p0; ip link set p0 up; ip link set w0 up
            ip addr add 10.9.0.2/24 dev w0
            before=$(rules)
            \(script)
            """
        let run = try Finished.run("/usr/bin/unshare", ["-n", "/bin/sh", "-c", whole])
        #expect(run.status == 0, "\(run.output)")
    }

    @Test func killNineStrandsNobodyForLongerThanARestart() throws {
        try play(
            """
            start; until_true is_closed
            kill -9 $daemon; wait $daemon 2>/dev/null
            is_closed || fail "the kill alone opened the gate: this test shows nothing"
            # What the unit does when the daemon has ended.
            $programs/hotspotd --restore-routes || fail "restoring failed"
            [ "$(rules)" = "$before" ] || fail "--restore-routes left something"
            $programs/hotspotd --restore-routes || fail "restoring nothing is no failure"

            # The next start takes away what the last one left, and begins anew.
            start; until_true is_closed; once=$(rules)
            kill -9 $daemon; wait $daemon 2>/dev/null
            start; until_true [ -S $folder/run/org.hotspotd.Control ]; until_true is_closed
            same() { [ "$(rules)" = "$once" ]; }; until_true same
            kill -9 $daemon; wait $daemon 2>/dev/null
            sed -i s/Gate=routes/Gate=none/ $settings
            start; restored() { [ "$(rules)" = "$before" ]; }; until_true restored
            """)
    }

    @Test func anOrdinaryEndAndAReloadOpenTheGate() throws {
        try play(
            """
            restored() { [ "$(rules)" = "$before" ]; }
            start; until_true is_closed
            sed -i s/Gate=routes/Gate=none/ $settings; kill -HUP $daemon; until_true restored
            sed -i s/Gate=none/Gate=routes/ $settings; kill -HUP $daemon; until_true is_closed
            kill $daemon; wait $daemon || fail "the daemon ended with $?"
            restored || fail "the end left something"
            """)
    }

    @Test func withoutTheCapabilityTheDaemonGoesOnAndSaysSo() throws {
        try play(
            """
            chown 65534:65534 $folder/state $folder/run
            mkdir -m 755 $folder/programs; cp -L $programs/hotspotd $folder/programs
            ctl=$programs/hotspotctl programs=$folder/programs
            start setpriv --reuid=65534 --regid=65534 --clear-groups
            until_true [ -S $folder/run/org.hotspotd.Control ]
            told() { $ctl --socket $folder/run/org.hotspotd.Control status --json=short | grep -q CAP_NET_ADMIN; }
            until_true told
            [ "$(rules)" = "$before" ] || fail "rules were changed"
            """)
    }
}
