import EventLoop
import Glibc
import HotspotCore
import TestSupport
import Testing

@testable import Varlink

/// The server on the loop, and clients that speak octets on a real socket.
@Suite struct ServerTests {
    @Test func introspection() async throws {
        try await Service.with { _, path in
            let client = try Client(path)
            client.call("org.varlink.service.GetInfo")
            let info = try client.answer()?.parameters
            #expect(info?["product"] == "desk" && info?["version"] == "1.0")
            #expect(info?["interfaces"] == ["org.varlink.service", "org.example.Desk"])
            client.call("org.varlink.service.GetInterfaceDescription", ["interface": "org.example.Desk"])
            #expect(try client.answer()?.parameters?["description"]?.string?.hasPrefix("interface org.example.Desk") == true)
            client.call("org.varlink.service.GetInterfaceDescription", ["interface": "org.varlink.service"])
            #expect(try client.answer()?.parameters?["description"]?.string?.contains("method GetInfo()") == true)
            for parameters: JSONValue in [["interface": "org.example.No"], [:], ["interface": 7]] {
                client.call("org.varlink.service.GetInterfaceDescription", parameters)
                #expect(try client.answer()?.error == "org.varlink.service.InterfaceNotFound")
            }
        }
    }

    @Test func unknownMethodsAndInterfacesAreToldAndTheClientStays() async throws {
        try await Service.with { _, path in
            let client = try Client(path)
            client.call("org.example.Desk.Nothing")
            let method = try client.answer()
            #expect(method?.error == "org.varlink.service.MethodNotFound" && method?.parameters?["method"] == "Nothing")
            client.call("org.varlink.service.Nothing")
            #expect(try client.answer()?.error == "org.varlink.service.MethodNotFound")
            for name in ["org.example.No.Echo", "Echo", "", ".", "org.example.Desk", "\u{1B}[2J.x"] {
                client.call(name)
                let answer = try client.answer()
                #expect(answer?.error == "org.varlink.service.InterfaceNotFound", "\(name)")
                #expect(answer?.parameters?["interface"]?.string?.contains("\u{1B}") == false)
            }
            client.call("org.example.Desk.Echo", ["text": "still here"])
            #expect(try client.answer()?.parameters == ["text": "still here"])
        }
    }

    @Test func parametersThatDoNotFitAreToldByName() async throws {
        try await Service.with { _, path in
            let client = try Client(path)
            client.call("org.example.Desk.Echo", ["txt": "x"])
            let answer = try client.answer()
            #expect(answer?.error == "org.varlink.service.InvalidParameter")
            #expect(answer?.parameters?["parameter"]?.string?.contains("\"text\"") == true)
            client.call("org.example.Desk.Fail")
            #expect(try client.answer()?.error == "org.example.Desk.Nonsense")
        }
    }

    @Test(
        "An invalid call gets an error, and the client is cut off",
        arguments: [
            "garbage\0", "\0", "[]\0", "{}\0", "{\"method\":7}\0",
            "{\"method\":\"a.B\",\"parameters\":" + String(repeating: "[", count: 60) + "\0",
        ])
    func garbage(text: String) async throws {
        try await Service.with { service, path in
            let client = try Client(path)
            client.send(text)
            #expect(try client.answer()?.error == "org.varlink.service.InvalidParameter")
            #expect(try client.answer() == nil)
            let other = try Client(path)
            other.call("org.example.Desk.Echo", ["text": "unharmed"])
            #expect(try other.answer()?.parameters == ["text": "unharmed"])
            #expect(await service.clientCount == 1)
        }
    }

    @Test func aMessageBeyondTheLimitCutsOff() async throws {
        var limits = Server.ClientLimits()
        limits.message = 1024
        try await Service.with(limits) { _, path in
            let client = try Client(path)
            client.send([UInt8](repeating: UInt8(ascii: "x"), count: 1025))
            #expect(try client.answer() == nil)
            let flood = try Client(path)
            for _ in 0..<1000 where flood.send([UInt8](repeating: UInt8(ascii: " "), count: 64 * 1024)) {}
            #expect(try flood.answer() == nil)
        }
    }

    @Test func halfAFrameIsCutOffAfterItsTime() async throws {
        var limits = Server.ClientLimits()
        limits.partial = .milliseconds(50)
        try await Service.with(limits) { _, path in
            let silent = try Client(path)
            let client = try Client(path)
            client.call("org.example.Desk.Echo", ["text": "whole"])
            #expect(try client.answer()?.parameters == ["text": "whole"])
            client.send("{\"method\":\"org.exa")
            #expect(try client.answer() == nil)
            // A client that has begun nothing may stay.
            silent.call("org.example.Desk.Echo", ["text": "patient"])
            #expect(try silent.answer()?.parameters == ["text": "patient"])
        }
    }

    @Test func theThirtyThirdClientIsToldThatTheServerIsBusy() async throws {
        try await Service.with { service, path in
            var clients: [Client] = []
            for index in 0..<32 {
                let client = try Client(path)
                client.call("org.example.Desk.Echo", ["text": .string("\(index)")])
                #expect(try client.answer()?.parameters == ["text": .string("\(index)")])
                clients.append(client)
            }
            #expect(await service.clientCount == 32)
            let late = try Client(path)
            late.call("org.example.Desk.Echo", ["text": "late"])
            let answer = try late.answer()
            #expect(answer?.error == "org.example.Desk.Failed" && answer?.parameters?["code"] == "busy")
            #expect(try late.answer() == nil)
            // Once a client has left, there is a place again. The loop may serve its end and the newcomer's start in either order.
            clients.removeLast().leave()
            var isServed = false
            while !isServed {
                let next = try Client(path)
                next.call("org.example.Desk.Echo", ["text": "next"])
                isServed = try next.answer()?.parameters == ["text": "next"]
            }
            withExtendedLifetime(clients) {}
        }
    }

    @Test func streams() async throws {
        try await Service.with { service, path in
            let client = try Client(path)
            client.call("org.example.Desk.Watch", more: true)
            let first = try client.answer()
            #expect(first?.parameters == ["n": 0] && first?.continues == true)
            await Self.act(service) { call in
                call.replyMore(["n": 1] as JSONValue)
                call.replyMore(["n": 2] as JSONValue)
                call.reply(["n": 3] as JSONValue)
                // Replies after the last reply are not sent.
                call.replyMore(["n": 4] as JSONValue)
                call.reply(["n": 5] as JSONValue)
            }
            var answers: [Answer] = []
            for _ in 0..<3 { answers.append(try #require(try client.answer())) }
            #expect(answers.map(\.parameters) == [["n": 1], ["n": 2], ["n": 3]])
            #expect(answers.map(\.continues) == [true, true, nil])
            client.call("org.example.Desk.Echo", ["text": "next"])
            #expect(try client.answer()?.parameters == ["text": "next"])
        }
    }

    @Test func aClientThatLeavesCancelsItsCallOnce() async throws {
        try await Service.with { service, path in
            let client = try Client(path)
            client.call("org.example.Desk.Watch", more: true)
            _ = try client.answer()
            client.leave()
            await Self.until(service) { $0.cancelled == 1 }
            await Self.act(service) { $0.reply() }
            #expect(await service.clientCount == 0)
            #expect(await service.desk.cancelled == 1)
        }
    }

    @Test func pipelinedCallsAreAnsweredInOrder() async throws {
        try await Service.with { service, path in
            let client = try Client(path)
            var octets: [UInt8] = Coding.encode(Call(method: "org.example.Desk.Wait")) + [0]
            for index in 0..<10 {
                octets += Coding.encode(Call(method: "org.example.Desk.Echo", parameters: ["text": .string("\(index)")])) + [0]
            }
            client.send(octets)
            await Self.until(service) { !$0.open.isEmpty }
            #expect(await service.desk.served.isEmpty, "the first is not answered yet")
            await Self.act(service) { $0.reply(["text": "first"] as JSONValue) }
            #expect(try client.answer()?.parameters == ["text": "first"])
            for index in 0..<10 { #expect(try client.answer()?.parameters == ["text": .string("\(index)")]) }
        }
    }

    @Test func whoPipelinesWithoutMeasureIsCutOff() async throws {
        try await Service.with { service, path in
            let client = try Client(path)
            let call = Coding.encode(Call(method: "org.example.Desk.Wait")) + [0]
            for _ in 0..<18 { client.send(call) }
            #expect(try client.answer() == nil)
            await Self.until(service) { $0.cancelled == 1 }
            #expect(await service.clientCount == 0)
        }
    }

    @Test func aOnewayCallHasNoAnswer() async throws {
        try await Service.with { service, path in
            let client = try Client(path)
            client.send("{\"method\":\"org.example.Desk.Echo\",\"parameters\":{\"text\":\"mute\"},\"oneway\":true}\0")
            client.call("org.example.Desk.Echo", ["text": "loud"])
            #expect(try client.answer()?.parameters == ["text": "loud"])
            #expect(await service.desk.served == ["mute", "loud"])
        }
    }

    @Test func thePeerIsKnown() async throws {
        try await Service.with { _, path in
            let client = try Client(path)
            client.call("org.example.Desk.Who")
            #expect(try client.answer()?.parameters == ["uid": .integer(Int(getuid()))])
        }
    }

    @Test func closingCutsEveryoneOff() async throws {
        try await Service.with { service, path in
            let client = try Client(path)
            client.call("org.example.Desk.Wait")
            await Self.until(service) { !$0.open.isEmpty }
            await service.close()
            #expect(try client.answer() == nil)
            #expect(throws: VarlinkError.self) { try Client(path) }
        }
    }

    @Test func socketFiles() throws {
        let ownFolder = TemporaryFolder()
        let folder = ownFolder.path
        let path = folder + "/s"
        let first = try Socket.listen(path: path, mode: 0o600)
        var status = stat()
        #expect(stat(path, &status) == 0 && status.st_mode & 0o777 == 0o600)
        #expect(throws: VarlinkError.unreachable(path: path, code: EADDRINUSE)) {
            _ = try Socket.listen(path: path, mode: 0o600).raw
        }
        // Under the folder's lock, a listener can only belong to a child of a process that has ended, so a new socket replaces it.
        let locked = try Socket.listen(path: path, mode: 0o600, isLocked: true)
        _ = try Socket.connect(path: path).raw
        #expect(accept(locked.raw, nil, nil) >= 0)
        close(first.take())
        close(locked.take())
        // No server listens now: the file is replaced.
        let second = try Socket.listen(path: path, mode: 0o660)
        #expect(stat(path, &status) == 0 && status.st_mode & 0o777 == 0o660)
        _ = second.raw
        let long = folder + "/" + String(repeating: "x", count: 200)
        #expect(throws: VarlinkError.unreachable(path: long, code: ENAMETOOLONG)) {
            _ = try Socket.listen(path: long, mode: 0o600).raw
        }
        #expect(throws: VarlinkError.unreachable(path: folder + "/no", code: ENOENT)) {
            _ = try Socket.connect(path: folder + "/no").raw
        }
    }

    @Test func aBlockingClientCallsAndStreams() async throws {
        try await Service.with { service, path in
            let connection = try BlockingConnection(path: path)
            #expect(try connection.call("org.example.Desk.Echo", ["text": "hello"]) == ["text": "hello"])
            #expect(throws: VarlinkError.reply(name: "org.example.Desk.Nonsense", parameters: ["why": "because"])) {
                try connection.call("org.example.Desk.Fail")
            }
            var seen = 0
            try connection.stream("org.example.Desk.Watch") { _ in
                seen += 1
                return false
            }
            #expect(seen == 1)
            await service.close()
            #expect(throws: VarlinkError.self) {
                _ = try connection.call("org.example.Desk.Echo", ["text": "gone"])
                _ = try connection.call("org.example.Desk.Echo", ["text": "gone"])
            }
        }
    }

    /// Runs the body with the newest waiting call, on the loop.
    @LoopActor static func act(_ service: Service, _ body: @LoopActor @Sendable (ServerCall) -> Void) {
        if let call = service.desk.open.last { body(call) }
    }

    @LoopActor static func until(_ service: Service, _ condition: @escaping @LoopActor @Sendable (Desk) -> Bool) async {
        let desk = service.desk
        await desk.until { condition(desk) }
    }
}
