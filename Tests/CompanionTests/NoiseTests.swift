import ForeignText
import Testing
import Vault

@testable import Companion

/// A handshake and the messages after it, as other implementations recorded them: each with its payload and its octets on the air.
/// The two sides send in turn; the initiator begins the handshake, and begins again after it.
struct NoiseVector: Sendable, CustomTestStringConvertible {
    var pattern: Handshake.Pattern
    var prologue: String
    var statics: (initiator: String, responder: String)
    var ephemerals: (initiator: String, responder: String)
    var sharedKey: String?
    var hash: String?
    var messages: [(payload: String, octets: String)]
    var source: String

    var testDescription: String { "\(pattern.rawValue), \(source)" }
}

/// Noise against vectors of other implementations, and against itself.
@Suite struct NoiseTests {
    @Test(arguments: NoiseVector.all) func vector(_ vector: NoiseVector) throws {
        let initiatorKey = try KeyPair(hex: vector.statics.initiator)
        let responderKey = try KeyPair(hex: vector.statics.responder)
        let known = vector.pattern == .session ? responderKey.publicKey : []
        var initiator = try Handshake(
            vector.pattern, isInitiator: true, prologue: octets(vector.prologue), own: initiatorKey, remoteStatic: known,
            sharedKey: vector.sharedKey.map { try .copy(of: octets($0)) },
            ephemeral: try KeyPair(hex: vector.ephemerals.initiator))
        var responder = try Handshake(
            vector.pattern, isInitiator: false, prologue: octets(vector.prologue), own: responderKey,
            sharedKey: vector.sharedKey.map { try .copy(of: octets($0)) },
            ephemeral: try KeyPair(hex: vector.ephemerals.responder))
        var turn = 0
        while !initiator.isDone {
            let (payload, expected) = (octets(vector.messages[turn].payload), vector.messages[turn].octets)
            let message =
                turn.isMultiple(of: 2)
                ? try initiator.write(payload, own: initiatorKey) : try responder.write(payload, own: responderKey)
            #expect(Hex.encode(message) == expected)
            let read =
                turn.isMultiple(of: 2)
                ? try responder.read(octets(expected), own: responderKey)
                : try initiator.read(octets(expected), own: initiatorKey)
            #expect(read == payload)
            turn += 1
        }
        let (isDone, names, learnt) = (
            responder.isDone, [initiator.name, responder.name], [responder.remoteStatic, initiator.remoteStatic]
        )
        #expect(isDone && names[0] == names[1] && learnt == [initiatorKey.publicKey, responderKey.publicKey])
        if let hash = vector.hash { #expect(names[0].octets == Array(octets(hash).prefix(4))) }
        let (first, second) = (Pair(try initiator.split()), Pair(try responder.split()))
        for (index, message) in vector.messages.enumerated().dropFirst(turn) {
            #expect(Hex.encode(try first.seal(octets(message.payload), from: (index - turn).isMultiple(of: 2))) == message.octets)
            #expect(
                Hex.encode(try second.open(octets(message.octets), from: (index - turn).isMultiple(of: 2))) == message.payload)
        }
    }

    /// The ciphers of one side, which seal or open for either direction; `initiator` is the sender.
    private final class Pair {
        private var ciphers: CipherPair
        init(_ ciphers: consuming CipherPair) { self.ciphers = ciphers }
        func seal(_ plain: [UInt8], from initiator: Bool) throws -> [UInt8] {
            initiator ? try ciphers.sending.seal(plain) : try ciphers.receiving.seal(plain)
        }
        func open(_ sealed: [UInt8], from initiator: Bool) throws -> [UInt8] {
            initiator ? try ciphers.receiving.open(sealed) : try ciphers.sending.open(sealed)
        }
    }

    private func cipher() throws -> CipherState { CipherState(key: try .copy(of: [UInt8](1...32))) }

    @Test func aWrongTagChangesNothing() throws {
        let (sender, receiver) = (Box(try cipher()), Box(try cipher()))
        let sealed = try sender.cipher.seal([1, 2, 3])
        for index in sealed.indices {
            var altered = sealed
            altered[index] ^= 0x40
            #expect(throws: CompanionError.notOpened) { try receiver.cipher.open(altered) }
        }
        #expect(try receiver.cipher.open(sealed) == [1, 2, 3])
        // The same message a second time.
        #expect(throws: CompanionError.notOpened) { try receiver.cipher.open(sealed) }
    }

    private final class Box {
        var cipher: CipherState
        init(_ cipher: consuming CipherState) { self.cipher = cipher }
    }

    @Test func aKeyWearsOut() throws {
        let (sender, receiver) = (Box(try cipher()), Box(try cipher()))
        for _ in 0..<CipherState.messageLimit { _ = try receiver.cipher.open(try sender.cipher.seal([])) }
        #expect(throws: CompanionError.keyWornOut) { try sender.cipher.seal([]) }
        #expect(throws: CompanionError.keyWornOut) { try receiver.cipher.open([UInt8](repeating: 0, count: 16)) }
        try sender.cipher.rekey()
        try receiver.cipher.rekey()
        #expect(sender.cipher.number == UInt64(CipherState.messageLimit), "the number goes on (section 11.3)")
        #expect(try receiver.cipher.open(try sender.cipher.seal([9])) == [9])
    }

    @Test func derivedKeysDiffer() throws {
        let state = Box(try cipher())
        let other = Box(try state.cipher.derived(for: "bulk"))
        #expect(try state.cipher.seal([1]) != other.cipher.seal([1]))
    }

    @Test func pointsOfSmallOrderAreRefused() throws {
        let pair = try KeyPair()
        for point in [[UInt8](repeating: 0, count: 32), [1] + [UInt8](repeating: 0, count: 31)] {
            #expect(throws: CompanionError.invalidPoint) { _ = try pair.product(with: point).count }
        }
    }

    @Test func shortMessagesAreRefused() throws {
        let own = try KeyPair()
        for count in [0, 31, 32, 95] {
            let message = [UInt8](repeating: 9, count: count)
            #expect(throws: CompanionError.self) {
                var responder = try Handshake(.session, isInitiator: false, prologue: [], own: own)
                _ = try responder.read(message, own: own)
            }
        }
    }
}
