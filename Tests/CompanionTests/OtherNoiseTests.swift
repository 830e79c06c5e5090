import ForeignText
import Foundation
import Testing
import Vault

@testable import Companion

/// Handshakes, messages and new keys against another implementation: Debian's python3-dissononce.
@Suite(.timeLimit(.minutes(2))) struct OtherNoiseTests {
    private static let isInstalled =
        getenv("CI") != nil || access("/usr/lib/python3/dist-packages/dissononce/__init__.py", R_OK) == 0

    /// The program beside this file, controlled by hexadecimal lines.
    private final class Peer {
        private let process = Process()
        private let (input, output) = (Pipe(), Pipe())
        private var rest = Data()

        init(_ arguments: [String]) throws {
            process.executableURL = URL(fileURLWithPath: "/usr/bin/python3")
            let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            process.arguments = ["-I", folder.appendingPathComponent("noise-peer.py").path] + arguments
            (process.standardInput, process.standardOutput) = (input, output)
            try process.run()
        }

        func say(_ line: String) throws { try input.fileHandleForWriting.write(contentsOf: Data((line + "\n").utf8)) }

        func hear() throws -> [UInt8] {
            while true {
                if let end = rest.firstIndex(of: 10) {
                    defer { rest = Data(rest[rest.index(after: end)...]) }
                    return octets(String(decoding: rest[..<end], as: UTF8.self))
                }
                let more = output.fileHandleForReading.availableData
                try #require(!more.isEmpty, "the peer ended")
                rest += more
            }
        }

        func end() throws {
            try input.fileHandleForWriting.close()
            process.waitUntilExit()
            #expect(process.terminationStatus == 0)
        }
    }

    @Test(.enabled(if: isInstalled), arguments: Handshake.Pattern.allCases, [true, false])
    func session(_ pattern: Handshake.Pattern, isInitiator: Bool) throws {
        let (own, other) = (Keys(try KeyPair()), Keys(try KeyPair()))
        let (shared, prologue) = (randomOctets(32), Array("prologue".utf8))
        let isPairing = pattern == .pairing
        let peer = try Peer([
            isPairing ? "XXpsk0" : "IK", isInitiator ? "responder" : "initiator",
            other.pair.withSecret { Hex.encode(Array($0)) }, isPairing || isInitiator ? "-" : Hex.encode(own.pair.publicKey),
            isPairing ? Hex.encode(shared) : "-", Hex.encode(prologue),
        ])
        var handshake = try Handshake(
            pattern, isInitiator: isInitiator, prologue: prologue, own: own.pair,
            remoteStatic: isPairing || !isInitiator ? [] : other.pair.publicKey,
            sharedKey: isPairing ? try .copy(of: shared) : nil)
        var isOurs = isInitiator
        while !handshake.isDone {
            if isOurs {
                try peer.say(Hex.encode(try handshake.write(own: own.pair)))
            } else {
                #expect(try handshake.read(try peer.hear(), own: own.pair) == [])
            }
            isOurs.toggle()
        }
        let learnt = handshake.remoteStatic
        #expect(learnt == other.pair.publicKey)
        #expect(try peer.hear() == own.pair.publicKey)
        var ciphers = try handshake.split()
        for index in 0..<6 {
            if index % 2 == 1 {
                try peer.say("rekey")
                try ciphers.sending.rekey()
                try ciphers.receiving.rekey()
            }
            let plain = [UInt8](repeating: UInt8(index), count: 100 * index) + [7, 8, 9]
            try peer.say(Hex.encode(try ciphers.sending.seal(plain)))
            #expect(try peer.hear() == plain)
            #expect(try ciphers.receiving.open(try peer.hear()) == plain.reversed())
        }
        try peer.end()
    }

    private final class Keys {
        let pair: KeyPair
        init(_ pair: consuming KeyPair) { self.pair = pair }
    }
}
