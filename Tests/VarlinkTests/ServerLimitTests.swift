import EventLoop
import Glibc
import HotspotCore
import Synchronization
import Testing

@testable import Varlink

/// The number of clients of a server, and the cost of one client.
@Suite struct ServerLimitTests {
    private static func isServed(_ client: Client) throws -> Bool {
        client.call("org.example.Desk.Echo", ["text": "x"])
        let answer = try client.answer()
        if answer?.error != nil { #expect(answer?.parameters?["code"] == "busy") }
        return answer?.parameters == ["text": "x"]
    }

    @Test func aStrangerHasEightSeatsAndNoMore() async throws {
        try await Service.with(standing: .stranger) { service, path in
            var clients: [Client] = []
            for _ in 0..<8 {
                clients.append(try Client(path))
                #expect(try Self.isServed(clients[clients.count - 1]))
            }
            let ninth = try Self.isServed(Client(path))
            #expect(!ninth)
            #expect(await service.clientCount == 8)
            withExtendedLifetime(clients) {}
        }
    }

    @Test func strangersLeaveTheReservedSeatsFree() async throws {
        EventLoop.startThread()
        var limits = Server.ClientLimits()
        limits.clients = 6
        limits.reserved = 2
        limits.perStranger = 100
        // Every client is this very process, so the order of arrival decides: first five strangers, then permitted clients.
        let come = Mutex(0)
        let service = try await Service(limits) { _ in
            come.withLock { count in
                count += 1
                return count <= 5 ? .stranger : .permitted
            }
        }
        let path = service.path
        var clients: [Client] = []
        for expected in [true, true, true, true, false, true, true, false] {
            clients.append(try Client(path))
            #expect(try Self.isServed(clients[clients.count - 1]) == expected)
        }
        #expect(come.withLock { $0 } == 7, "once for each connection, and not when all places are taken")
        withExtendedLifetime(clients) {}
        await service.close()
    }

    /// A client that sends without end waits for everybody else: each turn serves one of its calls.
    @Test func aFloodDelaysItsSenderAlone() async throws {
        try await Service.with { service, path in
            let flood = try Client(path)
            let call = Coding.encode(Call(method: "org.example.Desk.Echo", parameters: ["text": "flood"])) + [0]
            flood.send(Array(repeatElement(call, count: 2000).joined()))
            let polite = try Client(path)
            polite.call("org.example.Desk.Echo", ["text": "polite"])
            #expect(try polite.answer()?.parameters?["text"]?.string == "polite")
            for _ in 0..<2000 { #expect(try flood.answer()?.parameters?["text"]?.string == "flood") }
            let served = await service.desk.served
            let turn = try #require(served.firstIndex(of: "polite"))
            #expect(served.count == 2001 && turn < 1500, "served as number \(turn)")
        }
    }

    /// One person may have many user accounts, so a stranger's place goes to the client that makes calls.
    @Test func onlyAPermittedClientKeepsASeatIdle() async throws {
        var limits = Server.ClientLimits()
        limits.idle = .seconds(1)
        for (standing, isLost) in [(Standing.stranger, true), (.permitted, false)] {
            try await Service.with(limits, standing: standing) { service, path in
                let client = try Client(path)
                if isLost {
                    #expect(try client.answer() == nil)
                } else {
                    #expect(try Self.isServed(client))
                    try await Task.sleep(for: .seconds(3))
                    #expect(try Self.isServed(client))
                }
            }
        }
    }

    /// Connections without end leave the rest of the loop its turn, and a client that came with them is served after a pause.
    @Test func aBurstOfConnectionsWaitsForItsTurn() async throws {
        var limits = Server.ClientLimits()
        limits.burst = 3
        // A burst never ends by itself.
        limits.burstTime = .seconds(3600)
        limits.pause = .milliseconds(1)
        try await Service.with(limits, standing: .permitted) { service, path in
            let clients = try (0..<5).map { _ in try Client(path) }
            for client in clients[..<3] { #expect(try Self.isServed(client)) }
            // The loop goes on. Connections beyond the burst stay in the queue, however often the pause ends.
            try await Task.sleep(for: .milliseconds(100))
            #expect(await service.clientCount == 3)
            withExtendedLifetime(clients) {}
        }
        limits.burstTime = .milliseconds(1)
        try await Service.with(limits, standing: .permitted) { service, path in
            let clients = try (0..<12).map { _ in try Client(path) }
            for client in clients { #expect(try Self.isServed(client)) }
            #expect(await service.clientCount == 12)
        }
    }

    @Test func whoDoesNotReadIsCutOffBeyondTheOutputLimit() async throws {
        try await Service.with { service, path in
            let client = try Client(path)
            client.call("org.example.Desk.Much")
            #expect(try client.answer() == nil, "four mebioctets are more than may wait")
            #expect(await service.clientCount == 0)
        }
    }

    @Test func anAnswerBeyondTheSocketsBufferArrivesWhole() async throws {
        var limits = Server.ClientLimits()
        limits.output = 8 << 20
        try await Service.with(limits) { _, path in
            let client = try Client(path)
            client.call("org.example.Desk.Much")
            #expect(try client.answer()?.parameters?["text"]?.string?.utf8.count == 4 << 20)
            let isServed = try Self.isServed(client)
            #expect(isServed)
        }
    }

    @Test func withoutDescriptorsTheListenerRests() async throws {
        var limits = Server.ClientLimits()
        limits.pause = .seconds(3600)
        try await Service.with(limits) { service, path in
            let early = try Client(path)
            #expect(try Self.isServed(early))
            let asked = await Self.exhaust(service)
            let late = try Client(path)
            // Each answer takes a turn of the loop. A listener without a pause would try to accept a connection in each turn.
            for _ in 0..<50 { #expect(try Self.isServed(early)) }
            #expect(await asked.count == 1)
            withExtendedLifetime(late) {}
        }
    }

    @Test func afterTheRestTheClientIsServed() async throws {
        var limits = Server.ClientLimits()
        limits.pause = .milliseconds(1)
        try await Service.with(limits) { service, path in
            let asked = await Self.exhaust(service, times: 3)
            let isServed = try Self.isServed(Client(path))
            #expect(isServed)
            #expect(await asked.count > 3)
        }
    }

    @LoopActor final class Asked { var count = 0 }

    /// From now on, accept finds no free descriptor, this many times.
    @LoopActor static func exhaust(_ service: Service, times: Int = .max) -> Asked {
        let asked = Asked()
        service.server.acceptNext = { socket in
            asked.count += 1
            guard asked.count > times else {
                errno = EMFILE
                return -1
            }
            return accept(socket, nil, nil)
        }
        return asked
    }
}
