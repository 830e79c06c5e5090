import Glibc
import TestSupport
import Testing

@testable import HelperHost

/// The sandbox as a value: the paths that a helper can see, as bubblewrap's arguments.
@Suite struct SandboxTests {
    private static func sandbox(_ exec: [String], _ adjust: (inout Sandbox) -> Void = { _ in }) -> [String] {
        var sandbox = Sandbox(exec: exec, processorTime: 60, limits: HostConfiguration.Limits())
        adjust(&sandbox)
        return sandbox.commandLine(filter: 3, status: 4)
    }

    /// The arguments that follow an option, each time that it occurs.
    private static func values(_ option: String, _ count: Int = 1, in words: [String]) -> [[String]] {
        let end = words.firstIndex(of: "--") ?? words.endIndex
        return words[..<end].indices.filter { words[$0] == option }.map { Array(words[($0 + 1)...($0 + count)]) }
    }

    private static func shown(_ words: [String]) -> [String] {
        (values("--ro-bind", 2, in: words) + values("--ro-bind-try", 2, in: words)).map { $0[1] }
    }

    /// A folder of a test's own with an empty program in it.
    private static func withProgram(_ body: (_ folder: String, _ program: String) -> Void) {
        let folder = TemporaryFolder()
        body(folder.path, folder.write("program", mode: 0o755))
    }

    @Test func everythingIsDeniedThatIsNotNamed() {
        let words = Self.sandbox(["/usr/bin/true"])
        for option in [
            "--unshare-user", "--unshare-pid", "--unshare-ipc", "--die-with-parent", "--proc", "--dev", "--seccomp",
        ] { #expect(words.contains(option), "\(option)") }
        #expect(Self.values("--cap-drop", in: words) == [["ALL"]])
        #expect(Self.values("--bind", 2, in: words) + Self.values("--bind-try", 2, in: words) == [])
        let shown = Self.shown(words)
        #expect(shown.contains("/usr") && shown.contains("/etc/ssl/certs"))
        for path in ["/", "/etc", "/home", "/root", "/run", "/var", "/sys", "/etc/shadow", "/etc/NetworkManager"] {
            #expect(!shown.contains(path), "\(path)")
        }
        #expect(!words.contains("--unshare-net"))
        #expect(Self.sandbox(["/usr/bin/true"]) { $0.hasNetwork = false }.contains("--unshare-net"))
    }

    @Test func temporaryFoldersAreMemoryWithALimit() {
        let words = Self.sandbox(["/usr/bin/true"]) { $0.limits.temporaryFolder = 4096 }
        let folders = Self.values("--tmpfs", in: words).map { $0[0] }
        #expect(folders == ["/dev/shm", "/tmp"])
        #expect(Self.values("--size", in: words) == [["4096"], ["4096"]])
    }

    @Test func theLimitsComeBeforeTheHelper() throws {
        let words = Self.sandbox(["/usr/bin/true", "x"]) { $0.limits.processes = 7 }
        let command = words[try #require(words.firstIndex(of: "--"))...].dropFirst()
        #expect(command.first == "/usr/bin/prlimit" && command.suffix(3) == ["--", "/usr/bin/true", "x"])
        #expect(command.contains("--nproc=7:7") && command.contains("--cpu=60:61") && command.contains("--core=1:1"))
        let bare = Sandbox(exec: ["/usr/bin/true"], listeners: 3, processorTime: 60, limits: HostConfiguration.Limits())
        #expect(!bare.uncontainedCommandLine.contains { $0.hasPrefix("--nproc") })
        #expect(bare.uncontainedCommandLine.contains("--nofile=131:131"))
    }

    @Test func theHelpersOwnFolderIsShown() {
        Self.withProgram { folder, program in
            #expect(Self.shown(Self.sandbox([program])).contains(folder))
            // The same if an interpreter runs the program.
            #expect(Self.shown(Self.sandbox(["/usr/bin/python3", program])).contains(folder))
            // If a folder is not the helper's own, only the file is shown.
            let among = Self.shown(Self.sandbox([program]) { $0.hiddenPaths = [folder] })
            #expect(among.contains(program) && !among.contains(folder))
        }
        #expect(!Self.shown(Self.sandbox(["/etc/hostname"])).contains("/etc"))
    }

    @Test func pathsOfTheHelperFileAreShownAndTheDaemonsStayHidden() {
        Self.withProgram { folder, program in
            let words = Self.sandbox(["/usr/bin/true"]) {
                $0.readPaths = ["/srv/read"]
                $0.readWritePaths = [folder]
                $0.hiddenPaths = [program]
                $0.helperSocket = "/run/x/socket"
                $0.resolverFile = "/run/x/resolv.conf"
            }
            #expect(Self.shown(words).contains("/srv/read") && Self.shown(words).contains("/run/x/socket"))
            #expect(Self.values("--bind-try", 2, in: words) == [[folder, folder]])
            #expect(Self.values("--ro-bind", 2, in: words).contains(["/dev/null", program]))
            #expect(Self.values("--ro-bind", 2, in: words).contains(["/run/x/resolv.conf", "/etc/resolv.conf"]))
        }
    }
}
