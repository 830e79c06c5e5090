import CLaunch
import EventLoop
import Glibc
import HotspotCore
import Testing

@testable import HelperHost

/// What the daemon takes for a control group of its own, and how it divides one. The folders are plain ones with files of the same
/// names; the kernel's own are in `Tests/Support/under-systemd`.
@Suite(.serialized, .timeLimit(.minutes(1))) struct ControlGroupTests {
    init() { EventLoop.startThread() }

    /// A folder like the one that is mounted at /sys/fs/cgroup, with a unit in it.
    final class Tree {
        let root: String
        let unit = "/system.slice/hotspotd.service"

        init(procs: String = "\(getpid())\n", controllers: String = "cpuset cpu io memory pids\n") {
            var template = Array("/tmp/hotspot-groups-XXXXXX".utf8CString)
            mkdtemp(&template)
            root = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
            mkdir(root + "/system.slice", 0o755)
            group(unit)
            write(unit + "/cgroup.procs", procs)
            write(unit + "/cgroup.controllers", controllers)
            // The service manager's mark; where the file system has no such attributes, belonging to a user will do.
            setMark(unit)
        }

        deinit { Scratch.remove(root) }

        /// Files that the kernel would make.
        func group(_ path: String, limits: Bool = true) {
            mkdir(root + path, 0o755)
            for name in ["cgroup.procs", "cgroup.subtree_control", "cpu.weight"] { write(path + "/" + name, "") }
        }

        func write(_ path: String, _ text: String) {
            let descriptor = open(root + path, O_CREAT | O_WRONLY | O_TRUNC | O_CLOEXEC, 0o644)
            let octets = Array(text.utf8)
            #expect(Glibc.write(descriptor, octets, octets.count) == octets.count)
            close(descriptor)
        }

        func setMark(_ path: String, to mark: String = "1") { launch_mark_for_tests(root + path, mark) }
        func read(_ path: String) -> String { ControlFile.read(root + path) ?? "" }
        var isMarked: Bool { launch_is_given_away(root + unit) != 0 || geteuid() != 0 }
        var place: ControlGroupPlace {
            .find(root: root, membership: "0::\(unit)\n", process: getpid(), isReal: false)
        }
    }
}
