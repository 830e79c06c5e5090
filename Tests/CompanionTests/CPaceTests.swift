import ForeignText
import Testing
import Vault

@testable import Companion

/// CPace against the vectors of draft-irtf-cfrg-cpace-21, appendix "CPace using group ristretto255 and hash SHA-512".
@Suite struct CPaceTests {
    private static let channel = octets("0b415f696e69746961746f720b425f726573706f6e646572")
    private static let session = octets("7e4b4791d6a8ef019b936c79fb7f2c57")
    private static let scalars = (
        initiator: octets("da3d23700a9e5699258aef94dc060dfda5ebb61f02a5ea77fad53f4ff0976d08"),
        responder: octets("d2316b454718c35362d83d69df6320f38578ed5984651435e2949762d900b80d")
    )

    private func side(_ scalar: [UInt8], code: String = "Password") throws -> CPace {
        try CPace(
            code: .copy(of: Array(code.utf8)), channel: Self.channel, session: Self.session, scalar: .copy(of: scalar))
    }

    @Test func generator() throws {
        let generator = try CPace.generator(
            code: .copy(of: Array("Password".utf8)), channel: Self.channel, session: Self.session)
        #expect(Hex.encode(generator) == "222b6b195fe84b1652badb6f6a3ae3d24341e7306967f0b8115b40d5698c7e56")
    }

    @Test func sharesAndKey() throws {
        let initiator = try side(Self.scalars.initiator)
        let responder = try side(Self.scalars.responder)
        #expect(Hex.encode(initiator.share) == "d6bac480f2c386c394efc7c47adb9925dcd2630b64f240c50f8d0eec482b9157")
        #expect(Hex.encode(responder.share) == "3ea7e0b19560d7c0b0f5734f63b955286dfa8232b5ebe63324e2d9e7433f7258")
        let product = try CPace.product(of: .copy(of: Self.scalars.initiator), responder.share)
        #expect(product.hex == "80b69a8a76457ab6a4d7f887a4bf6b55a2f80ac19c333f917a05fc9887c8b40f")
        let data = (initiator: Array("ADa".utf8), responder: Array("ADb".utf8))
        let expected =
            "b69effbf61b51d56401c0f65601abe428de8206feaaf0e32198896dcae7b35cd2b38950a39dfd5d4a79164614c2984f7daa460b588c1e80c3fa2068af7900447"
        let keys = (
            try initiator.key(with: responder.share, isInitiator: true, data: data).hex,
            try responder.key(with: initiator.share, isInitiator: false, data: data).hex
        )
        #expect(keys == (expected, expected))
    }

    @Test func multiplication() throws {
        let scalar = octets("7cd0e075fa7955ba52c02759a6c90dbbfc10e6d40aea8d283e407d88cf538a05")
        let point = octets("2c3c6b8c4f3800e7aef6864025b4ed79bd599117e427c41bd47d93d654b4a51c")
        #expect(
            try CPace.product(of: .copy(of: scalar), point).hex
                == "7c13645fe790a468f62c39beb7388e541d8405d1ade69d1778c5fe3e7f6b600e")
    }

    /// The draft's two invalid points, the second of which is the neutral element, and octets that encode no point.
    @Test(arguments: [
        "2b3c6b8c4f3800e7aef6864025b4ed79bd599117e427c41bd47d93d654b4a51c", String(repeating: "00", count: 32),
        String(repeating: "ff", count: 32), "01" + String(repeating: "00", count: 31),
    ])
    func refusedPoints(_ point: String) throws {
        let side = try CPace(
            code: .copy(of: Array("12345678".utf8)), channel: [], session: Self.session,
            scalar: .copy(of: octets("7cd0e075fa7955ba52c02759a6c90dbbfc10e6d40aea8d283e407d88cf538a05")))
        #expect(throws: CompanionError.invalidPoint) { _ = try side.key(with: octets(point), isInitiator: true).count }
        #expect(throws: CompanionError.malformed) { _ = try side.key(with: [1, 2, 3], isInitiator: true).count }
    }

    @Test func anythingElseIsAnotherKey() throws {
        func key(code: String = "12345678", channel: [UInt8] = [1], session: [UInt8] = [2], asInitiator: Bool = true) throws
            -> String
        {
            let scalars = (try SecretBytes.copy(of: Self.scalars.initiator)).hex
            let side = try CPace(
                code: .copy(of: Array(code.utf8)), channel: channel, session: session, scalar: .copy(of: octets(scalars)))
            let peer = octets("3ea7e0b19560d7c0b0f5734f63b955286dfa8232b5ebe63324e2d9e7433f7258")
            return try side.key(with: peer, isInitiator: asInitiator).hex
        }
        let keys = [
            try key(), try key(code: "12345679"), try key(channel: [3]), try key(session: [3]), try key(asInitiator: false),
        ]
        #expect(Set(keys).count == keys.count)
    }

    @Test func lengthsInSevenBits() {
        #expect(CPace.joined([[], [UInt8](repeating: 7, count: 127)]).prefix(3) == [0, 127, 7])
        #expect(CPace.joined([[UInt8](repeating: 7, count: 128)]).prefix(3) == [0x80, 1, 7])
    }
}
