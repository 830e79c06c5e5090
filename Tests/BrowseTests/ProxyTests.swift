import Foundation
import HelperKit
import HotspotCore
import Testing

@testable import BoundHTTP
@testable import Browse

/// The proxy over the loopback interface, which stands for a link.
@Suite(.serialized) struct ProxyTests {
    private let link = Link(attempt: "1", association: "1", interface: "lo", index: 1, addresses: ["127.0.0.1/8"])

    private func proxy(serves: Bool = true) throws -> Proxy {
        let proxy = try Proxy(listener: try Proxy.listen(), link: link, mayUse: { _, _ in serves })
        proxy.start()
        return proxy
    }

    private func ask(_ client: LoopbackSocket, for host: [UInt8], _ port: UInt16) throws -> [UInt8] {
        client.send([5, 1, 0])
        #expect(client.receive(2) == [5, 0])
        client.send([5, 1, 0] + host + [UInt8(port >> 8), UInt8(port & 0xFF)])
        return client.receive(10)
    }

    private let here: [UInt8] = [1, 127, 0, 0, 1]

    @Test func passesOctetsBothWaysUntilBothEnd() throws {
        let echo = try LoopbackSocket.echo()
        let client = try LoopbackSocket(to: proxy().port)
        #expect(try ask(client, for: here, echo) == SocksHandshake.Outcome.connected.reply)
        let sent = (0..<1_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        Thread.detachNewThread {
            client.send(sent)
            client.finishSending()
        }
        #expect(client.receive(sent.count) == sent)
        #expect(client.receive(1) == [], "the other end noticed the end, and ended too")
    }

    @Test func refusesAddressesThatThePolicyRefuses() throws {
        let client = try LoopbackSocket(to: proxy().port)
        #expect(try ask(client, for: [1, 192, 0, 2, 1], 80) == SocksHandshake.Outcome.refusedByRule.reply)
        let named = try LoopbackSocket(to: proxy().port)
        let address = Array("192.0.2.1".utf8)
        #expect(
            try ask(named, for: [3, UInt8(address.count)] + address, 80) == SocksHandshake.Outcome.refusedByRule.reply)
        #expect(client.receive(1) == [], "and closes")
    }

    @Test func aNameWithoutANameserverIsUnreachable() throws {
        let client = try LoopbackSocket(to: proxy().port)
        let name = Array("portal.example".utf8)
        #expect(try ask(client, for: [3, UInt8(name.count)] + name, 80) == SocksHandshake.Outcome.hostUnreachable.reply)
    }

    @Test func aStrangerGetsNoOctet() throws {
        let client = try LoopbackSocket(to: proxy(serves: false).port)
        client.send([5, 1, 0])
        #expect(client.receive(1) == [])
    }

    @Test func moreConnectionsThanTheLimitAreClosed() throws {
        let port = try proxy().port
        let waiting = try (0..<128).map { _ in try LoopbackSocket(to: port) }
        // The last connection is accepted after all the others.
        waiting[127].send([5, 1, 0])
        #expect(waiting[127].receive(2) == [5, 0])
        #expect(try LoopbackSocket(to: port).receive(1) == [])
    }

    @Test func onlyProcessesBelowThisOneAreKnown() throws {
        let listener = try LoopbackSocket.listener()
        defer { close(listener.socket) }
        let own = try LoopbackSocket(to: listener.port)
        #expect(!ProcessTree.made(connectionFrom: own.port, to: listener.port), "this process is not below itself")

        // A grandchild of this process makes the connection.
        let child = Process()
        child.executableURL = URL(fileURLWithPath: "/bin/sh")
        child.arguments = [
            "-c",
            "python3 -c 'import socket, sys; s = socket.create_connection((\"127.0.0.1\", \(listener.port))); sys.stdin.read()'; true",
        ]
        let input = Pipe()
        child.standardInput = input
        try child.run()
        defer {
            try? input.fileHandleForWriting.close()
            child.waitUntilExit()
        }
        _ = accept(listener.socket, nil, nil)
        let theirs = accept(listener.socket, nil, nil)
        defer { close(theirs) }
        let peer = LoopbackSocket.peerPort(of: theirs)
        #expect(ProcessTree.made(connectionFrom: peer, to: listener.port))
        #expect(!ProcessTree.made(connectionFrom: peer, to: listener.port &+ 1), "to another port")
    }

    @Test func theKernelsAnswerIsReadWithinItsBounds() {
        var answer = [UInt8](repeating: 0, count: 88)
        answer[4] = 20
        answer[80] = 232
        answer[81] = 3
        answer[84] = 222
        #expect(SocketOwner.read(answer[...]) == SocketOwner(user: 1000, inode: 222))
        for length in 0..<88 { #expect(SocketOwner.read(answer[..<length]) == nil) }
        answer[4] = 2
        #expect(SocketOwner.read(answer[...]) == nil, "an error")
        answer[4] = 20
        answer[84] = 0
        #expect(SocketOwner.read(answer[...]) == nil, "closed")
    }

    @Test func aProcessIsReadWhateverItsName() {
        #expect(ProcessTree.parent(in: "12 (a) 7 (b) S 34 12 12 0") == 34)
        #expect(ProcessTree.parent(in: "12 (ordinary) S 1 12") == 1)
        #expect(ProcessTree.parent(in: "") == nil)
    }
}
