import Companion
import Glibc
import TestSupport
import Testing

@testable import CompanionService

/// The service's folder: checked when it is read, and written atomically.
@Suite struct CompanionStoreTests {
    private let folder = TemporaryFolder()
    private var store: CompanionStore { CompanionStore(folder: folder.path) }

    private func peer(_ name: String, _ octet: UInt8 = 7) -> Peer {
        Peer(id: PeerID([UInt8](repeating: octet, count: 32))!, name: name)
    }

    @Test func keyAndPeersComeBack() throws {
        let key = try store.key().publicKey
        #expect(try store.key().publicKey == key)
        #expect(try store.peers().isEmpty)
        for peers in [[peer("Ida"), peer("Ida's \"box\" ü", 8)], []] {
            try store.save(peers)
            #expect(try store.peers() == peers)
        }
    }

    @Test func aStoredNameThatLooksLikeAnIdentifierIsReplaced() throws {
        var peer = peer("Ida")
        peer.name = String(repeating: "ab", count: 32)
        try store.save([peer])
        #expect(try store.peers().map(\.name) == ["laptop"])
    }

    @Test func anotherKeyIsNotMadeForTheSamePeers() throws {
        try store.save([peer("Ida")])
        #expect(throws: CompanionStore.Fault.self) { _ = try store.key().publicKey }
        #expect(access(folder.path + "/key", F_OK) != 0)
    }

    @Test func filesThatOthersMayReadAreRefused() throws {
        _ = try store.key().publicKey
        try store.save([peer("Ida")])
        for file in ["key", "peers"] { chmod("\(folder.path)/\(file)", 0o644) }
        #expect(throws: CompanionStore.Fault.self) { _ = try store.key().publicKey }
        #expect(throws: CompanionStore.Fault.self) { try store.peers() }
    }

    @Test(arguments: [
        "", "{", #"{"peers":[{"id":"00","name":"x"}]}"#, #"{"peers":[{"id":"\#(String(repeating: "0", count: 64))","name":""}]}"#,
        #"{"peers":[{"id":"\#(String(repeating: "0", count: 64))","name":"a\u001b[31m"}]}"#,
        "{\"peers\":["
            + [String](repeating: #"{"id":"\#(String(repeating: "0", count: 64))","name":"x"}"#, count: 2).joined(separator: ",")
            + "]}", String(repeating: " ", count: 20_000),
    ])
    func aChangedFileIsRefused(_ text: String) {
        folder.write("peers", text, mode: 0o600)
        #expect(throws: CompanionStore.Fault.self) { try store.peers() }
    }

    @Test func aLinkIsRefused() throws {
        folder.write("other", #"{"peers":[]}"#, mode: 0o600)
        symlink(folder.path + "/other", folder.path + "/peers")
        #expect(throws: CompanionStore.Fault.self) { try store.peers() }
    }
}
