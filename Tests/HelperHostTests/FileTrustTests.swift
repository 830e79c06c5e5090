import EventLoop
import Glibc
import HotspotCore
import Testing

@testable import HelperHost

/// Who decides what the daemon runs, and where helpers may write.
@Suite struct FileTrustTests {
    /// A folder that is removed with the value.
    private final class Folder {
        let path: String
        init() {
            var template = Array("/tmp/hotspot-trust-XXXXXX".utf8CString)
            mkdtemp(&template)
            path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        }
        deinit { Scratch.remove(path) }

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
        func code(_ path: String) -> String? { FileTrust.problem(with: folder.path + path, kind: .program)?.code }
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
        #expect(FileTrust.problem(withCommand: ["/bin/sh", "-x", open])?.code == "helperNotTrusted")
        #expect(FileTrust.problem(withCommand: [good])?.code == "helperProgramNotExecutable")
        #expect(FileTrust.problem(withCommand: ["/nowhere"])?.code == "helperProgramMissing")
    }

    @Test func writableFoldersHaveBounds() {
        let folder = Folder()
        let state = folder.make("state", 0o700)
        let own = folder.make("own", 0o700)
        folder.make("state/within", 0o700)
        folder.link("around", to: "state/within")
        func code(_ path: String) -> String? { WritablePath.problem(with: path, hidden: [state])?.code }
        #expect(code(own) == nil)
        let refused = [
            state, state + "/within", folder.path, folder.path + "/around", "/", "/etc", "/etc/hotspotd/helpers", "/usr",
            "/proc/sys",
        ]
        for path in refused {
            #expect(code(path) == "helperPathRefused", "\(path)")
        }
        folder.link("elsewhere", to: "state/../own")
        #expect(WritablePath.problem(with: folder.path + "/elsewhere", hidden: [])?.code == "helperPathRefused", "a link")
        #expect(WritablePath.problem(with: own, hidden: [own + "/settings.conf"])?.code == "helperPathRefused", "it lies in it")
        let absent = WritablePath.problem(with: own + "/absent", hidden: [state])
        #expect(absent?.code == "helperPathMissing" && absent?.hint == "mkdir -p \(own)/absent")
        #expect(code(folder.write("file", 0o644)) == "helperPathMissing")
        #expect(code(folder.make("closed", 0o500)) == "helperPathMissing")
        #expect(WritablePath.problem(with: own, hidden: [state], denied: EROFS)?.hint?.contains("systemctl edit") == true)
    }

    @Test @LoopActor func aFolderThatIsNotThereIsSaid() async {
        EventLoop.startThread()
        let shop = Workshop()
        shop.add(
            "writer", writable: [shop.folder + "/absent", shop.folder + "/state"],
            python: "receive(); answer({'confidence': 'none'})")
        #expect(shop.host.pathProblems(of: "writer").map(\.code) == ["helperPathMissing", "helperPathRefused"])
        let outcome = await shop.ask("writer")
        #expect(outcome.evaluation != nil, "\(outcome)")
        #expect(shop.host.pathProblems(of: "writer").map(\.code) == ["helperPathMissing", "helperPathRefused"])
        await shop.close()
    }

    /// The reason that a program is refused for at its start has the code and the hint of the reason.
    @Test @LoopActor func aRefusalKeepsItsCode() async {
        EventLoop.startThread()
        let shop = Workshop()
        shop.add("swap", python: "receive()")
        chmod(shop.folder + "/swap.py", 0o777)
        let fault = await shop.ask("swap").fault
        #expect(fault?.code == .helperNotStarted && fault?.problem.code == "helperNotTrusted")
        #expect(fault?.problem.hint?.hasPrefix("chown root") == true)
        await shop.close()
    }
}
