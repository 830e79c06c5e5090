import EventLoop
import Glibc
import HotspotCore
import Testing
import Varlink

@testable import HelperHost

/// Helpers that someone else runs, with their own sockets.
@Suite(.serialized, .timeLimit(.minutes(10))) struct ExternalHelperTests {
    init() { EventLoop.startThread() }

    /// Listens at a path, and answers each connection with the confidence `low`.
    @LoopActor private final class Elsewhere {
        let listener: Int32
        var asked = 0
        private var watch: EventSource?

        init(_ path: String) throws {
            listener = try Socket.listen(path: path, mode: 0o666).take()
            let listener = listener
            watch = try EventLoop.shared.watch(listener) { [weak self] _ in
                let peer = accept(listener, nil, nil)
                self?.asked += 1
                let text = Array("{\"parameters\":{\"confidence\":\"low\"}}\0".utf8)
                _ = write(peer, text, text.count)
                Glibc.close(peer)
            }
        }

        func close() {
            watch?.cancel()
            Glibc.close(listener)
        }
    }

    @Test @LoopActor func itIsReachedAtItsPath() async throws {
        let shop = Workshop()
        shop.add(HelperSpec(name: "away", activation: .external(path: shop.folder + "/away.sock")))
        #expect(await shop.ask("away").fault?.code == .helperNotStarted)
        let elsewhere = try Elsewhere(shop.folder + "/away.sock")
        #expect(await shop.ask("away").evaluation?.confidence == .low)
        #expect(!shop.host.isRunning("away") && shop.host.mayHaveCredentials("away"))
        symlink(shop.folder + "/away.sock", shop.folder + "/link.sock")
        shop.add(HelperSpec(name: "link", activation: .external(path: shop.folder + "/link.sock")))
        #expect(await shop.ask("link").evaluation?.confidence == .low)
        elsewhere.close()
        await shop.close()
    }

    @LoopActor private func expectRefusal(_ shop: Workshop, _ name: String, _ word: String) async {
        let fault = await shop.ask(name, .authenticate, ["credential": ["pass": "opensesame"]]).fault
        #expect(fault?.code == .helperNotTrusted && fault?.isCrash == true, "\(name): \(fault?.sentence ?? "answered")")
        #expect(
            fault?.sentence.contains(word) == true && fault?.problem.hint?.contains("systemd") == true, "\(fault?.sentence ?? "")"
        )
    }

    @Test @LoopActor func whatCouldBeSomebodyElsesIsRefusedBeforeAnythingIsSent() async throws {
        let shop = Workshop()
        mkdir(shop.folder + "/open", 0o700)
        let path = shop.folder + "/open/a.sock"
        let elsewhere = try Elsewhere(path)
        shop.add(HelperSpec(name: "open", activation: .external(path: path)))
        symlink(path, shop.folder + "/around")
        shop.add(HelperSpec(name: "around", activation: .external(path: shop.folder + "/around")))
        shop.write("file", "")
        shop.add(HelperSpec(name: "file", activation: .external(path: shop.folder + "/file")))
        await expectRefusal(shop, "file", "not a socket")
        chmod(shop.folder + "/open", 0o777)
        for name in ["open", "around"] {
            await expectRefusal(shop, name, "written by group or others")
            #expect(!shop.host.mayHaveCredentials(name))
        }
        chmod(shop.folder + "/open", 0o1777)
        #expect(await shop.ask("open").evaluation?.confidence == .low, "in a sticky folder no other user takes its place")
        if geteuid() == 0 {
            chown(path, 12345, 12345)
            await expectRefusal(shop, "open", "belongs to user 12345")
        }
        #expect(elsewhere.asked == 1)
        elsewhere.close()
        await shop.close()
    }

    /// Root owns the file, but another user listens at the socket.
    @Test(.enabled(if: geteuid() == 0, "needs root")) @LoopActor func whoListensMattersToo() async {
        let shop = Workshop()
        let path = shop.folder + "/given.sock"
        chmod(shop.folder, 0o755)
        let script = """
            import os, socket, sys
            s = socket.socket(socket.AF_UNIX); s.bind(sys.argv[1])
            os.setuid(12345); s.listen(5); s.accept(); print("asked")
            """
        let words = ["python3", "-ISc", script, path]
        var arguments = words.map { strdup($0) }
        arguments.append(nil)
        defer { for argument in arguments { free(argument) } }
        var child = pid_t()
        #expect(posix_spawn(&child, "/usr/bin/python3", nil, nil, &arguments, nil) == 0)
        shop.add(HelperSpec(name: "given", activation: .external(path: path)))
        var fault: HelperFault?
        // Nothing listens yet.
        for _ in 0..<2000 {
            fault = await shop.ask("given").fault
            if fault?.code != .helperNotStarted { break }
            await pause(.milliseconds(5))
        }
        #expect(
            fault?.code == .helperNotTrusted && fault?.sentence.contains("user 12345 listens") == true, "\(fault?.sentence ?? "")"
        )
        kill(child, SIGKILL)
        waitpid(child, nil, 0)
        await shop.close(expectingSurvivors: false)
    }
}
