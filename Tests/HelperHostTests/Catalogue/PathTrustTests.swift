import EventLoop
import Glibc
import HotspotCore
import TestSupport
import Testing

@testable import HelperHost

/// The files that decide what the daemon runs. Sockets are in `ExternalHelperTests`.
@Suite(.timeLimit(.minutes(10))) struct PathTrustTests {
    init() { EventLoop.startThread() }

    private let folder = TemporaryFolder()

    private func code(_ path: String) -> ProblemCode? { problem(folder.path + path)?.code }

    private func problem(_ program: String) -> Problem? { PathTrust.problem(with: program, as: .program) }

    @Test func everyFolderAboveIsChecked() {
        folder.make("good")
        folder.write("good/program", "", mode: 0o755)
        folder.make("open", 0o777)
        folder.write("open/program", "", mode: 0o755)
        // A good program behind a link that other users could replace; the link is the last part of the path, or an earlier part.
        folder.link("open/end", to: "\(folder.path)/good/program")
        folder.link("open/way", to: "\(folder.path)/good")
        folder.link("into", to: "open")
        folder.link("twice", to: "open/way")
        folder.link("fine", to: "./good/../good")
        folder.link("loop", to: "loop")
        #expect(code("/good/program") == nil)
        #expect(code("/fine/program") == nil)
        for path in ["/open/program", "/open/end", "/open/way/program", "/into/program", "/into/end", "/twice/program"] {
            #expect(code(path) == .helperNotTrusted, "\(path)")
        }
        #expect(code("/loop/program") == .helperProgramMissing)
        #expect(code("/good/program/more") == .helperProgramMissing)
        #expect(problem("/bin/sh") == nil)
        #expect(problem("/nowhere")?.code == .helperProgramMissing)
        #expect(problem("bin/sh")?.code == .helperProgramMissing)
        // In a sticky folder such as /tmp, only owners can rename.
        folder.make("sticky", 0o1777)
        folder.link("sticky/way", to: "\(folder.path)/good")
        #expect(code("/sticky/way/program") == nil)
        #expect(PathTrust.problem(with: folder.path + "/sticky", as: .folder)?.code == .helperNotTrusted, "not the last one")
    }

    @Test func modeAndKindCount() {
        folder.write("plain")
        #expect(code("/plain") == .helperProgramNotExecutable)
        for mode: mode_t in [0o775, 0o757] {
            folder.write("open", "", mode: mode)
            let problem = self.problem(folder.path + "/open")
            #expect(problem?.code == .helperNotTrusted)
            #expect(problem?.message == "\(folder.path)/open is not used: it can be written by group or others")
        }
        func reason(_ path: String, _ role: PathTrust.Role) -> String? { PathTrust.problem(with: path, as: role)?.message }
        #expect(reason(folder.path, .program)?.hasSuffix("it is not a regular file") == true)
        #expect(reason(folder.path, .file)?.hasSuffix("it is not a regular file") == true)
        #expect(reason(folder.path + "/plain", .folder)?.hasSuffix("it is not a folder") == true)
        #expect(reason(folder.path + "/plain", .socket)?.hasSuffix("it is not a socket") == true)
        #expect(reason(folder.path + "/plain", .file) == nil && reason(folder.path, .folder) == nil)
        #expect(PathTrust.problem(with: folder.path + "/absent", as: .file)?.code == .helperFileMissing)
    }

    @Test(.enabled(if: geteuid() == 0, "needs root")) func theOwnerCounts() {
        folder.make("good")
        let program = folder.write("good/program", "", mode: 0o755)
        lchown(folder.link("link", to: "good"), 12345, 12345)
        #expect(
            problem(folder.path + "/link/program")?.message.contains("the link \(folder.path)/link")
                == true)
        chown(program, 12345, 12345)
        #expect(
            problem(program)?.message
                == "\(program) is not used: it belongs to user 12345, not to root or the daemon's user")
        chown(program, 0, 0)
        chown(folder.path + "/good", 12345, 12345)
        #expect(problem(program)?.message.contains("the folder \(folder.path)/good belongs to") == true)
    }

    @Test func nothingBehindTheProgramIsChecked() {
        let theirs = folder.write("theirs", "", mode: 0o777)
        folder.write("script", "#!\(theirs)\n", mode: 0o755)
        #expect(code("/script") == nil)
    }

    /// A hint is copied into a shell, so each path must be one word.
    @Test func hintsAreOneWordEach() {
        let odd = folder.make("x;touch PWN;#", 0o700)
        folder.write("x;touch PWN;#/program")
        #expect(problem(odd + "/program")?.hint == "chmod 755 '\(odd)/program'")
        chmod(odd + "/program", 0o777)
        #expect(
            problem(odd + "/program")?.hint
                == "chown root '\(odd)/program' && chmod go-w '\(odd)/program'")
        folder.write("a\nb")
        #expect(problem(folder.path + "/a\nb").map { $0.hint == nil } == true)
    }

    /// If a program is refused at its start, the problem keeps the code and the hint of the reason.
    @Test @LoopActor func aRefusalKeepsItsCode() async {
        let shop = Workshop()
        shop.add("swap", python: "receive()")
        chmod(shop.folder + "/swap.py", 0o777)
        let fault = await shop.ask("swap").fault
        #expect(fault?.code == .helperNotStarted && fault?.problem.code == .helperNotTrusted)
        #expect(fault?.problem.hint?.hasPrefix("chown root") == true)
        await shop.close()
    }
}
