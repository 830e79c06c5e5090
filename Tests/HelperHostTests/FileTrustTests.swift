import EventLoop
import Glibc
import HotspotCore
import Testing

@testable import HelperHost

/// Who decides what the daemon runs, and where helpers may write.
@Suite struct FileTrustTests {
    init() { EventLoop.startThread() }

    /// A folder that is removed with the value.
    private final class Folder {
        let path: String
        init() {
            var template = Array("/tmp/hotspot-trust-XXXXXX".utf8CString)
            mkdtemp(&template)
            path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        }
        deinit { removeFolder(path) }

        @discardableResult func make(_ name: String, _ mode: mode_t) -> String {
            mkdir("\(path)/\(name)", 0o700)
            chmod("\(path)/\(name)", mode)
            return "\(path)/\(name)"
        }
        @discardableResult func write(_ name: String, _ mode: mode_t) -> String {
            close(open("\(path)/\(name)", O_CREAT | O_WRONLY | O_CLOEXEC, 0o600))
            chmod("\(path)/\(name)", mode)
            return "\(path)/\(name)"
        }
        @discardableResult func script(_ name: String, _ text: String, _ mode: mode_t = 0o755) -> String {
            let stream = fopen("\(path)/\(name)", "w")!
            fputs(text, stream)
            fclose(stream)
            chmod("\(path)/\(name)", mode)
            return "\(path)/\(name)"
        }
        @discardableResult func link(_ name: String, to target: String) -> String {
            symlink(target, "\(path)/\(name)")
            return "\(path)/\(name)"
        }
    }

    @Test func everyLinkOnTheWayIsLookedAt() {
        let folder = Folder()
        folder.make("good", 0o755)
        folder.write("good/program", 0o755)
        folder.make("open", 0o777)
        // A good program, reached through a link that anybody could replace, at the end and on the way.
        folder.link("open/end", to: "\(folder.path)/good/program")
        folder.link("open/way", to: "\(folder.path)/good")
        folder.link("twice", to: "open/way")
        folder.link("fine", to: "./good/../good")
        folder.link("loop", to: "loop")
        func code(_ path: String) -> String? { FileTrust.problem(with: folder.path + path, kind: .program)?.code.rawValue }
        #expect(code("/good/program") == nil)
        #expect(code("/fine/program") == nil)
        #expect(code("/open/end") == "helperNotTrusted")
        #expect(code("/open/way/program") == "helperNotTrusted")
        #expect(code("/twice/program") == "helperNotTrusted")
        #expect(code("/loop/program") == "helperProgramMissing")
        #expect(code("/good/program/more") == "helperProgramMissing")
        #expect(FileTrust.problem(with: "/bin/sh", kind: .program) == nil)
        // Sticky, as /tmp: nobody replaces what is another's.
        folder.make("sticky", 0o1777)
        folder.link("sticky/way", to: "\(folder.path)/good")
        #expect(code("/sticky/way/program") == nil)
    }

    @Test func theScriptOfAnInterpreterIsLookedAt() {
        let folder = Folder()
        let good = folder.write("good.py", 0o644)
        let open = folder.write("open.py", 0o666)
        #expect(FileTrust.problem(withCommand: ["/bin/sh", good, "/dev/null", "/nowhere", "--x=\(open)"]) == nil)
        #expect(FileTrust.problem(withCommand: ["/bin/sh", "-x", open])?.code == .helperNotTrusted)
        #expect(FileTrust.problem(withCommand: [good])?.code == .helperProgramNotExecutable)
        #expect(FileTrust.problem(withCommand: ["/nowhere"])?.code == .helperProgramMissing)
    }

    /// All helpers are one user, so in a folder of another one only root's own can be told from what that one has put there.
    @Test func aProgramWhereAnotherMayWriteIsRoots() throws {
        let folder = Folder()
        let program = folder.write("program", 0o755)
        func problem(_ program: String, _ others: String..., user: uid_t = 12345) -> Problem? {
            FileTrust.problem(with: program, within: others, user: user)
        }
        #expect(problem(program) == nil && problem(program, "/nowhere", program) == nil)
        #expect(problem(program, folder.path + "x") == nil && problem(program, folder.path, user: 0) == nil)
        guard geteuid() == 0 else { return }
        #expect(problem(program, folder.path) == nil, "root's, and so is what leads to it")
        symlink(program, folder.path + "/link")
        #expect(problem(folder.path + "/link", folder.path) == nil)
        lchown(folder.path + "/link", 12345, 12345)
        #expect(problem(folder.path + "/link", folder.path)?.message.contains("\(folder.path)/link there") == true)
        chown(program, 12345, 12345)
        let told = try #require(problem(program, "/nowhere", folder.path))
        #expect(told.code == .helperNotTrusted && told.message.contains("another helper may write to \(folder.path)"))
    }

    @Test func whatRunsAScriptIsLookedAt() {
        let folder = Folder()
        func code(_ exec: String...) -> String? { FileTrust.problem(withCommand: exec)?.code.rawValue }
        let theirs = folder.write("theirs", 0o777)
        let shell = folder.script("shell", "#!/bin/sh\n")
        #expect(code(shell) == nil)
        #expect(code(folder.script("direct", "#!\(theirs)\n")) == "helperNotTrusted")
        #expect(code(folder.script("blanks", "#! \t\(theirs) -x \n")) == "helperNotTrusted")
        #expect(code(folder.script("nul", "#!\(theirs)\u{0}\n")) == "helperNotTrusted")
        #expect(code(folder.script("argument", "#!/bin/sh \(theirs)\n")) == "helperNotTrusted")
        #expect(code(folder.script("relative", "#!\(theirs.dropFirst())\n")) == "helperNotTrusted", "from /")
        #expect(code("/bin/sh", String(theirs.dropFirst())) == "helperNotTrusted", "from / as well")
        // One script behind another, four deep.
        var last = theirs
        for depth in 1...3 {
            last = folder.script("deep\(depth)", "#!\(last)\n")
            #expect(code(last) == "helperNotTrusted", "\(depth)")
        }
        last = shell
        for depth in 1...5 { last = folder.script("chain\(depth)", "#!\(last)\n") }
        #expect(code(folder.path + "/chain3") == nil && code(last) == "helperNotTrusted")
        // What is not there is for the kernel to say.
        #expect(code(folder.script("absent", "#!/nowhere/x\n")) == nil)
        let told = FileTrust.problem(withCommand: [folder.path + "/direct"])
        #expect(told?.message.hasPrefix("\(folder.path)/direct is not used: what runs it is not trusted: \(theirs)") == true)
        #expect(told?.hint == "chown root \(theirs) && chmod go-w \(theirs)")
        if geteuid() == 0 {
            chmod(theirs, 0o755)
            #expect(code(folder.path + "/direct") == nil)
            chown(theirs, 12345, 12345)
            #expect(code(folder.path + "/direct") == "helperNotTrusted")
        }
    }

    @Test func whatEnvRunsIsLookedAt() {
        let folder = Folder()
        let theirs = folder.write("theirs", 0o777)
        func code(_ line: String) -> String? {
            FileTrust.problem(withCommand: [folder.script("x", "#!/usr/bin/env \(line)\n")])?.code.rawValue
        }
        for fine in ["sh", "-S sh -e", "-Ssh", "-S A=b sh", "nonesuch-program"] {
            #expect(code(fine) == nil, "\(fine)")
        }
        let bad = [
            // Without a name env runs the script, and that env.
            "-", "A=b", theirs, "-S \(theirs) -x", "-S sh \(theirs)", "-S A=b \(theirs)", "-S -i \(theirs)", "PATH=/tmp",
            "-S PATH=/tmp sh",
            "--chdir=/tmp", "-S -C /tmp sh", "-S -u PATH sh", "-S \"sh\"", "-S ${X}", "-S sh\\_x", "-vS sh",
        ]
        for line in bad { #expect(code(line) == "helperNotTrusted", "\(line)") }
        #expect(FileTrust.problem(withCommand: ["/usr/bin/env", "A=b", theirs])?.code == .helperNotTrusted)
        #expect(
            FileTrust.problem(withCommand: ["/usr/bin/env", "A=b", "/usr/bin/env", "--", theirs])?.code == .helperNotTrusted)
        #expect(FileTrust.problem(withCommand: ["/usr/bin/env", "A=b", "sh", "-c", "true"]) == nil)
    }

    /// A hint is copied into a shell.
    @Test func hintsAreOneWordEach() {
        let folder = Folder()
        let odd = folder.make("x;touch PWN;#", 0o700)
        folder.write("x;touch PWN;#/program", 0o644)
        #expect(FileTrust.problem(with: odd + "/program", kind: .program)?.hint == "chmod 755 '\(odd)/program'")
        chmod(odd + "/program", 0o777)
        #expect(
            FileTrust.problem(with: odd + "/program", kind: .program)?.hint
                == "chown root '\(odd)/program' && chmod go-w '\(odd)/program'")
        folder.write("a\nb", 0o644)
        #expect(FileTrust.problem(with: folder.path + "/a\nb", kind: .program).map { $0.hint == nil } == true)
        #expect(pathProblem(odd + "/absent", hidden: [])?.hint == "mkdir -p '\(odd)/absent'")
        folder.script("w $(id)", "#!/bin/sh\r\n")
        let said = StartFailure.words(program: folder.path + "/w $(id)", code: ENOENT)
        #expect(said.hasSuffix("mend it with sed -i 's/\\r$//' '\(folder.path)/w $(id)'"), "\(said)")
    }

    private func pathProblem(_ path: String, hidden: [String], denied: Int32? = nil) -> Problem? {
        WritableFolders().refusal(of: path, exec: [], hidden: hidden) ?? WritablePath.problem(with: path, denied: denied)
    }

    @Test func writableFoldersHaveBounds() {
        let folder = Folder()
        let state = folder.make("state", 0o700)
        let own = folder.make("own", 0o700)
        folder.make("state/within", 0o700)
        folder.link("around", to: "state/within")
        func code(_ path: String) -> String? { pathProblem(path, hidden: [state])?.code.rawValue }
        #expect(code(own) == nil)
        let refused = [
            state, state + "/within", folder.path, folder.path + "/around", "/", "/etc", "/etc/hotspotd/helpers", "/usr",
            "/proc/sys",
        ]
        for path in refused {
            #expect(code(path) == "helperPathRefused", "\(path)")
        }
        folder.link("elsewhere", to: "state/../own")
        #expect(pathProblem(folder.path + "/elsewhere", hidden: [])?.code == .helperPathRefused, "a link")
        #expect(pathProblem(own, hidden: [own + "/settings.conf"])?.code == .helperPathRefused, "it lies in it")
        let absent = pathProblem(own + "/absent", hidden: [state])
        #expect(absent?.code == .helperPathMissing && absent?.hint == "mkdir -p \(own)/absent")
        #expect(code(folder.write("file", 0o644)) == "helperPathMissing")
        #expect(code(folder.make("closed", 0o500)) == "helperPathMissing")
        #expect(pathProblem(own, hidden: [state], denied: EROFS)?.hint?.contains("systemctl edit") == true)
    }

    @Test @LoopActor func aFolderThatIsNotThereIsSaid() async {
        EventLoop.startThread()
        let shop = Workshop()
        shop.add(
            "writer", writable: [shop.folder + "/absent", shop.folder + "/state"],
            python: "receive(); answer({'confidence': 'none'})")
        #expect(shop.host.pathProblems(of: "writer").map(\.code) == [.helperPathMissing, .helperPathRefused])
        let outcome = await shop.ask("writer")
        #expect(outcome.evaluation != nil, "\(outcome)")
        #expect(shop.host.pathProblems(of: "writer").map(\.code) == [.helperPathMissing, .helperPathRefused])
        await shop.close()
    }

    /// The reason that a program is refused for at its start has the code and the hint of the reason.
    @Test @LoopActor func aRefusalKeepsItsCode() async {
        EventLoop.startThread()
        let shop = Workshop()
        shop.add("swap", python: "receive()")
        chmod(shop.folder + "/swap.py", 0o777)
        let fault = await shop.ask("swap").fault
        #expect(fault?.code == .helperNotStarted && fault?.problem.code == .helperNotTrusted)
        #expect(fault?.problem.hint?.hasPrefix("chown root") == true)
        await shop.close()
    }
}
