import BoundHTTP
import Glibc
import HotspotCore
import Testing
import Varlink

@testable import Rendering

/// DevTools over a pair of sockets, with a browser that a test plays.
@Suite(.timeLimit(.minutes(2))) struct DevToolsTests {
    private func scope(_ milliseconds: Int = 10_000) -> Scope { Scope(deadline: .after(milliseconds: milliseconds)) }

    /// Returns the code and the words of the failure.
    private func failure(_ tools: DevTools, _ method: String, in scope: Scope) -> TransferError? {
        do throws(TransferError) {
            _ = try tools.call(method, in: scope)
            return nil
        } catch { return error }
    }

    @Test func answersGoToTheirCommands() throws {
        let (ours, theirs) = try Socket.pair()
        let tools = DevTools(descriptor: ours) { _, _ in }
        PlayedBrowser.serve(theirs) { message in
            let method = message["method"]?.string ?? ""
            if method == "Bad.one" { return ["error": ["message": "no such command"]] }
            return [
                "result": [
                    "method": .string(method), "session": message["sessionId"] ?? .null, "params": message["params"] ?? .null,
                ]
            ]
        }
        let answer = try tools.call("Page.enable", ["a": 1], session: "s", in: scope())
        #expect(answer == ["method": "Page.enable", "session": "s", "params": ["a": 1]])
        tools.tell("Page.close")
        #expect(try tools.call("Page.reload", in: scope())["method"]?.string == "Page.reload")
        let error = failure(tools, "Bad.one", in: scope())
        #expect(error?.code == .system && error?.detail == "the browser, Bad.one: no such command")
        tools.close()
    }

    @Test func eventsAreHandedOver() async throws {
        let (ours, theirs) = try Socket.pair()
        let events = Locked<[DevTools.Event]>([])
        let tools = DevTools(descriptor: ours) { _, event in events.with { $0.append(event) } }
        PlayedBrowser.say(["method": "Page.loadEventFired", "params": ["t": 1], "sessionId": "s"], on: theirs)
        PlayedBrowser.say(["method": "Target.targetCreated"], on: theirs)
        // This message is neither an answer nor an event.
        PlayedBrowser.say(["params": 1], on: theirs)
        #expect(await PlayedBrowser.eventually { events.with { $0.count } == 2 })
        let found = events.with { $0 }
        #expect(found.map(\.method) == ["Page.loadEventFired", "Target.targetCreated"])
        #expect(found.map(\.session) == ["s", nil] && found[0].parameters == ["t": 1] && !tools.isClosed)
        close(theirs)
        #expect(await PlayedBrowser.eventually { tools.isClosed })
    }

    @Test func aMessageThatIsTooLongEndsTheBrowser() async throws {
        let (ours, theirs) = try Socket.pair()
        let tools = DevTools(descriptor: ours) { _, _ in }
        PlayedBrowser.send([UInt8](repeating: UInt8(ascii: "x"), count: 5 << 20), on: theirs)
        #expect(await PlayedBrowser.eventually { tools.isClosed })
        #expect(failure(tools, "Page.enable", in: scope())?.code == .browserEnded)
        close(theirs)
    }

    /// Half a surrogate pair in a page's text is not JSON.
    @Test(arguments: [
        "{", "[]x", #"{"method":"A.b","params":{"text":"\ud83d"}}"#, #"{"id":-9223372036854775808}"#, #"{"id":77}"#,
    ])
    func whatCannotBeReadOrWasNotAskedForIsLeftOut(_ text: String) async throws {
        let (ours, theirs) = try Socket.pair()
        let events = Locked(0)
        let tools = DevTools(descriptor: ours) { _, _ in events.with { $0 += 1 } }
        PlayedBrowser.send(Array(text.utf8) + [0], on: theirs)
        PlayedBrowser.say(["method": "Page.loadEventFired"], on: theirs)
        #expect(await PlayedBrowser.eventually { events.with { $0 } == 1 })
        #expect(!tools.isClosed)
        close(theirs)
    }

    @Test func eventsWithoutAnEndEndTheBrowser() async throws {
        let (ours, theirs) = try Socket.pair()
        let count = Locked(0)
        let tools = DevTools(descriptor: ours) { _, _ in count.with { $0 += 1 } }
        let event = Coding.encode(["method": "A.b"] as JSONValue) + [0]
        PlayedBrowser.send(Array(repeatElement(event, count: 60_000).joined()), on: theirs)
        #expect(await PlayedBrowser.eventually { tools.isClosed })
        #expect(count.with { $0 } < 60_000)
        close(theirs)
    }

    @Test func aCommandEndsWithItsTimeWithTheCommandAndWithTheBrowser() throws {
        let (ours, theirs) = try Socket.pair()
        let tools = DevTools(descriptor: ours) { _, _ in }
        #expect(failure(tools, "Page.enable", in: scope(50))?.code == .timeout)
        let cancelled = scope()
        cancelled.cancellation.cancel()
        #expect(failure(tools, "Page.enable", in: cancelled)?.code == .cancelled)
        close(theirs)
        let error = failure(tools, "Page.enable", in: scope())
        #expect(error?.code == .browserEnded)
    }
}
