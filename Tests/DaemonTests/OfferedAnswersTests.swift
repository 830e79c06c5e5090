import Answers
import ControlAPI
import EventLoop
import HotspotCore
import HotspotMachine
import Store
import Testing
import Vault

@testable import hotspotd

/// Stored answers on their way to a paired laptop, and answers that a paired laptop offers.
@Suite(.serialized, .timeLimit(.minutes(10))) struct OfferedAnswersTests {
    init() { EventLoop.startThread() }

    private static func offer(
        network: NetworkID = Hotel.network, portal: String = "https://p.example", key: String? = "cGlu",
        _ answers: [String: String] = Hotel.typed
    ) -> OfferedParameters {
        OfferedParameters(network: network.key!, portal: portal, portalKey: key, answers: answers, from: "Ida")
    }

    @LoopActor private func refusal(_ hotel: Hotel, _ offer: OfferedParameters) -> ProblemCode? {
        do throws(ControlError) { _ = try hotel.keeper.addOffered(offer, from: "Ida") } catch {
            if case .failed(let code, _) = error { return code }
            Issue.record("\(error)")
        }
        return nil
    }

    @Test @LoopActor func anOfferAnswersTheQuestionOfItsPortal() async throws {
        let hotel = try Hotel(Hotel.secure)
        let shown = try await hotel.ask()
        let reply = try hotel.keeper.addOffered(Self.offer(), from: "Ida")
        #expect(reply.answered && reply.helper == "form" && reply.interface == "hot7")
        #expect(await hotel.bench.eventually { hotel.controller.machine.state.name == .authenticated })
        #expect(hotel.sent?["name"]?.string == Hotel.canary)
        #expect(hotel.bench.steps.contains { $0.kind == "answered" && $0.detail == "by the user on Ida" })
        #expect(hotel.desk.answers.last?.token == shown.token)
        #expect(hotel.desk.answers.last?.sentence == "The question was answered on the paired laptop \"Ida\".")
        // The login is proven, so the answers are kept, except codes.
        #expect(hotel.bench.services.store.allCredentials.map(\.fieldNames) == [["name", "room"]])
        await hotel.close()
    }

    @Test @LoopActor func anOfferIsForItsOwnNetworkOriginAndKeyAlone() async throws {
        let hotel = try Hotel(Hotel.secure)
        _ = try await hotel.ask()
        let other = NetworkID.wireless(SSID(printable: "Hotel")!, .psk)
        for wrong in [
            Self.offer(network: other), Self.offer(portal: "https://q.example"), Self.offer(key: "b3RoZXI="),
            Self.offer(key: nil), Self.offer(portal: "http://p.example", key: nil),
        ] {
            #expect(refusal(hotel, wrong) == .noPortal)
        }
        #expect(hotel.desk.prompt != nil && hotel.bench.services.store.allCredentials.isEmpty)
        hotel.leave()
        #expect(refusal(hotel, Self.offer()) == .noPortal, "no network is joined")
        await hotel.close()
    }

    @Test @LoopActor func answersThatAreNotEnoughAreStoredForTheQuestion() async throws {
        let hotel = try Hotel(Hotel.secure)
        hotel.asks(for: [("room", "text", true), ("name", "text", true)], at: Hotel.secure)
        let shown = try await hotel.ask()
        let reply = try hotel.keeper.addOffered(Self.offer(["room": "214", "sms": "998877"]), from: "Ida")
        #expect(!reply.answered && hotel.desk.prompt?.stored == ["room"])
        #expect(hotel.desk.prompt?.token == shown.token)
        #expect(refusal(hotel, Self.offer(["sms": "998877"])) == .noPortal, "it asks for no code")
        // Answers that were stored before stay stored.
        _ = try hotel.keeper.addOffered(Self.offer(["name": "Brandt", "other": "1"]), from: "Ida")
        #expect(hotel.bench.services.store.allCredentials.map(\.fieldNames) == [["name", "room"]])
        await hotel.close()
    }

    @Test @LoopActor func withoutMemoryNothingIsStored() async throws {
        let hotel = try Hotel(Hotel.secure) { $0.remember = .never }
        hotel.asks(for: [("room", "text", true), ("name", "text", true)], at: Hotel.secure)
        _ = try await hotel.ask()
        #expect(refusal(hotel, Self.offer(["room": "214"])) == .disabled)
        await hotel.close()
    }

    @Test @LoopActor func storedAnswersAreReadForOnePortalAndAfterThePIN() async throws {
        let hotel = try await Hotel.guarded("2580", Hotel.secure)
        do throws(ControlError) {
            _ = try hotel.keeper.shared("Hotel", helper: nil, portal: nil)
            Issue.record("read without the PIN")
        } catch {
            if case .failed(.vaultLocked, _) = error {} else { Issue.record("\(error)") }
        }
        #expect(hotel.left("2580") == nil)
        let shared = try hotel.keeper.shared("Hotel", helper: nil, portal: nil)
        #expect(shared.answers == ["room": "214", "name": Hotel.canary] && shared.portalKey == "cGlu")
        #expect(shared.network == Hotel.network.key && shared.portal == "https://p.example" && shared.helper == "form")
        #expect(throws: ControlError.self) { try hotel.keeper.shared("Hotel", helper: "other", portal: nil) }
        await hotel.close()
    }

    /// The user accepts another laptop's offer, and types the PIN to store it.
    @Test @LoopActor func thePINForAnOfferSendsNoStoredAnswers() async throws {
        let hotel = try await Hotel.guarded("2580", Hotel.secure)
        hotel.asks(for: [("room", "text", true), ("name", "text", true)], at: Hotel.secure)
        let shown = try await hotel.ask()
        #expect(shown.isLocked)
        let sent = hotel.sent
        try hotel.keeper.unlock("2580", resumes: false)
        #expect(hotel.keeper.pinWord == "open" && hotel.desk.prompt?.stored == ["room", "name"])
        let reply = try hotel.keeper.addOffered(Self.offer(["room": "555", "name": "Brandt"]), from: "Ida")
        #expect(reply.answered)
        #expect(await hotel.bench.eventually { hotel.controller.machine.state.name == .authenticated })
        #expect(hotel.sent == ["room": "555", "name": "Brandt"] && hotel.sent != sent)
        #expect(!hotel.bench.steps.contains { $0.detail == "the PIN was typed" })
        await hotel.close()
    }
}
