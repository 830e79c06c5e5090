import Answers
import Companion
import ControlAPI
import EventLoop
import Glibc
import HotspotCore
import TestSupport
import Testing
import Varlink

@testable import CompanionService

/// Two services over a memory air, with clients on their sockets.
@Suite(.serialized, .timeLimit(.minutes(10))) struct CompanionServiceTests {
    init() {
        // The service may write to a client that has left, which would end the process.
        signal(SIGPIPE, SIG_IGN)
        EventLoop.startThread()
    }

    // MARK: Pairing

    @Test @LoopActor func aCodePairsTwoLaptopsForGood() async throws {
        let (air, ida, ben) = try await MemoryAir.paired()
        defer { ben.close() }
        #expect(!ida.radio.advertises && !ben.radio.scans, "nothing is on the air without a wish")
        var info = stat()
        for file in ["key", "peers"] {
            #expect(stat("\(ida.folder.path)/\(file)", &info) == 0 && info.st_mode & 0o777 == 0o600, "\(file)")
        }
        ida.close()
        let again = try TestLaptop("Ida", air, folder: ida.folder)
        defer { again.close() }
        let status = try await again.reply("Status").last(CompanionStatus.self)
        #expect(status.peers.map(\.name) == ["Ben"] && status.state == "ready" && status.message == nil && !status.daemon)
        #expect(again.service.peers == ida.service.peers)
    }

    @Test @LoopActor func threeWrongCodesEndTheCode() async throws {
        let air = MemoryAir()
        let (ida, ben) = (try TestLaptop("Ida", air), try TestLaptop("Ben", air))
        defer { for laptop in [ida, ben] { laptop.close() } }
        let shows = try ida.call("Pair", more: true)
        try await air.until("a code is shown") { !shows.replies.isEmpty }
        let code = try #require(shows.replies[0]["code"]?.string.flatMap { Int($0) })
        let wrong = String((code + 1) % 100_000_000)
        let padded = String(repeating: "0", count: 8 - wrong.utf8.count) + wrong
        let enters = try await ben.reply("Pair", ["code": .string(padded)], more: true)
        try await air.until("the code is spent") { shows.isDone }
        let spent = CompanionFault.failed("The code is no longer valid after three wrong tries. Pair again.")
        #expect(shows.fault == spent && enters.fault == spent)
        #expect(shows.replies.compactMap { $0["notice"]?.string } == Array(repeating: "The code was wrong.", count: 3))
        #expect(ida.service.peers.isEmpty && ben.service.peers.isEmpty)
        #expect(access(ida.folder.path + "/peers", F_OK) != 0)
    }

    @Test @LoopActor func aPairingEndsWithItsCallAndWithAnother() async throws {
        let air = MemoryAir()
        let ida = try TestLaptop("Ida", air)
        defer { ida.close() }
        let first = try ida.call("Pair", more: true)
        try await air.until("the code is on the air") { ida.radio.advertises }
        let second = try ida.call("Pair", more: true)
        try await air.until("the second began") { !second.replies.isEmpty }
        #expect(first.fault == .failed("Another pairing began."))
        #expect(try await ida.reply("Status").last(CompanionStatus.self).pairing)
        second.leave()
        try await air.until("nothing is on the air") { !ida.radio.advertises }
        #expect(try await ida.reply("Status").last(CompanionStatus.self).pairing == false)
        #expect(try await ida.reply("Pair", ["code": "12"], more: true).fault == .failed("A code has eight digits."))
    }

    @Test @LoopActor func anEarlierCodesEndIsNotTheNextPairings() async throws {
        let air = MemoryAir()
        let ida = try TestLaptop("Ida", air)
        defer { ida.close() }
        let first = try ida.call("Pair", more: true)
        try await air.until("a code is shown") { !first.replies.isEmpty }
        ida.skip(.seconds(121))
        let second = try ida.call("Pair", more: true)
        try await air.until("another code is shown") { !second.replies.isEmpty || second.isDone }
        #expect(first.fault == .failed("The code has expired after two minutes. Pair again."))
        #expect(second.fault == nil && second.replies.first?["code"] != nil)
    }

    /// A peer chooses its own name, which may look like another peer's identifier.
    @Test func anIdentifierCountsBeforeANameThatIsAlike() throws {
        let ben = Peer(id: PeerID([UInt8](repeating: 0xAB, count: 32))!, name: "Ben")
        var other = Peer(id: PeerID([UInt8](repeating: 7, count: 32))!, name: "Ida")
        #expect(try CompanionService.find("ABab", among: [other, ben]) == ben)
        other.name = "\(ben.id)"
        for text in [other.name, other.name.uppercased()] {
            #expect(try CompanionService.find(text, among: [other, ben]) == ben)
        }
    }

    /// Anyone nearby may open links and channels, so they are not logged.
    @Test @LoopActor func aStrangersChannelIsNotLogged() async throws {
        let laptop = try TestLaptop("Ida", MemoryAir())
        defer { laptop.close() }
        let id = PeerLinkID(1)
        for event in [Companion.Event.linkOpened(id, .peripheral, mtu: 185), .l2capOpened(id), .l2capClosed(id)] {
            laptop.radio.onEvent(event)
        }
        #expect(laptop.logged.lines.isEmpty)
    }

    // MARK: Questions

    @Test @LoopActor func aPairedLaptopAnswersAQuestion() async throws {
        let (air, ida, ben) = try await MemoryAir.paired()
        defer { for laptop in [ida, ben] { laptop.close() } }
        let watch = try ben.call("Status", ["awaitsQuestions": true], more: true)
        ida.arrive(at: Sample.place, prompt: Sample.prompt)
        var question: QuestionStatus?
        try await air.until("the question is shown") {
            question = try? watch.last(CompanionStatus.self).questions.first
            return question != nil
        }
        #expect(question?.peer.name == "Ida" && question?.ssid == "Cafe Aroma" && question?.portal == Sample.portal.origin)
        #expect(question?.fields.map(\.name) == ["room", "name"])
        // Stored answers do not become defaults on another laptop.
        #expect(question?.fields.allSatisfy { $0.value == nil } == true)
        let wrong = try await ben.reply("Answer", ["id": "p1", "peer": "Ida", "answers": ["other": "1"]])
        #expect(wrong.fault != nil && ida.daemon.answered.isEmpty)
        let answer: JSONValue = ["id": "p1", "peer": "Ida", "answers": ["room": "214", "name": .string(Sample.canary)]]
        #expect(try await ben.reply("Answer", answer).fault == nil)
        try await air.until("the daemon has the answers") { !ida.daemon.answered.isEmpty }
        let sent = ida.daemon.answered[0]
        #expect(sent.id == "p1" && sent.answers == ["room": "214", "name": Sample.canary] && sent.from == "Ben")
        #expect(sent.remember && sent.confirmed == nil && sent.stored == nil)
        #expect(try await ben.reply("Answer", answer).fault == .noSuchQuestion("p1"))
        #expect(!"\(try await ida.reply("Status").replies)".contains(Sample.canary))
    }

    @Test @LoopActor func answersThatTheDaemonRefusesAreAskedForAgain() async throws {
        let (air, ida, ben) = try await MemoryAir.paired()
        defer { for laptop in [ida, ben] { laptop.close() } }
        let watch = try ben.call("Status", ["awaitsQuestions": true], more: true)
        ida.daemon.refusal = "An answer is needed."
        ida.arrive(at: Sample.place, prompt: Sample.prompt)
        func asks() -> Bool { (try? watch.last(CompanionStatus.self).questions.isEmpty) == false }
        try await air.until("the question is shown", asks)
        #expect(try await ben.reply("Answer", ["id": "p1", "peer": "Ida", "answers": ["room": "1"]]).fault == nil)
        try await air.until("it is shown again") { ida.daemon.answered.count == 1 && asks() }
        let notices = try await ida.reply("Status").last(CompanionStatus.self).notices.map(\.message)
        #expect(notices.last == "The answers of \"Ben\" were not accepted. An answer is needed.")
        // The user answers on the asking laptop itself.
        ida.arrive(at: Sample.place)
        try await air.until("it is withdrawn") { !asks() }
    }

    @Test @LoopActor func anAnswerDoesNotFailByTheEndOfAnOffer() async throws {
        let (air, ida, ben) = try await MemoryAir.paired()
        defer { for laptop in [ida, ben] { laptop.close() } }
        let watch = try ben.call("Status", ["awaitsQuestions": true], more: true)
        ida.arrive(at: Sample.place, prompt: Sample.prompt)
        try await air.until("the question is shown") {
            (try? watch.last(CompanionStatus.self).questions.isEmpty) == false
        }
        let share = try ben.call("Share", Sample.share(seconds: 60), more: true)
        try await air.until("the offer is made") { !share.replies.isEmpty }
        ben.skip(.seconds(61))
        #expect(try await ben.reply("Answer", ["id": "p1", "peer": "Ida", "answers": ["room": "214"]]).fault == nil)
        try await air.until("the offer has ended") { share.isDone }
    }

    // MARK: Offers

    /// Ida shares, and Ben waits for the offer at a place. Returns Ida's call and the offer as Ben sees it.
    @LoopActor private func shared(
        _ air: MemoryAir, _ ida: TestLaptop, _ ben: TestLaptop, at place: Place = Sample.place,
        _ parameters: JSONValue = Sample.share(to: "Ben")
    ) async throws -> (share: CallUnderTest, offer: OfferStatus) {
        ben.arrive(at: place)
        let watch = try ben.call("Status", ["awaitsOffers": true], more: true)
        let share = try ida.call("Share", parameters, more: true)
        var offer: OfferStatus?
        try await air.until("the offer is shown") {
            offer = try? watch.last(CompanionStatus.self).offers.first
            return offer != nil
        }
        return (share, try #require(offer))
    }

    private func decision(_ offer: OfferStatus, _ accept: Bool) -> JSONValue {
        ["id": .string(offer.id), "peer": .string(offer.peer.id), "accept": .bool(accept)]
    }

    @Test @LoopActor func anAcceptedOfferGoesToTheDaemonForItsOwnPortal() async throws {
        let (air, ida, ben) = try await MemoryAir.paired()
        defer { for laptop in [ida, ben] { laptop.close() } }
        let (share, offer) = try await shared(air, ida, ben)
        #expect(offer.fits && offer.fields == ["name", "room"] && offer.ssid == "Cafe Aroma" && offer.secondsRemaining > 3000)
        #expect(!"\(offer)".contains(Sample.canary) && ben.daemon.offered.isEmpty, "nothing without a yes")
        let decided = try await ben.reply("Decide", decision(offer, true))
        #expect(try decided.last(DecideReply.self) == DecideReply(answered: true, interface: "wlan0"))
        let stored = try #require(ben.daemon.offered.first)
        #expect(stored.network == Sample.network.key && stored.portal == Sample.portal.origin && stored.portalKey == "cGlu")
        #expect(stored.answers == ["room": "214", "name": Sample.canary] && stored.from == "Ida")
        try await air.until("Ida hears of it") { share.isDone }
        let end = try share.last(ShareReply.self)
        #expect(end.notice == "\"Ben\" has the login now." && end.taken == true)
        #expect(try await ida.reply("Status").last(CompanionStatus.self).made.isEmpty)
    }

    @Test(arguments: [
        Place(network: .wireless(SSID(printable: "Cafe Aroma")!, .psk), portal: Sample.portal),
        Place(network: Sample.network, portal: Portal(origin: "https://other.example", pin: "cGlu", kind: "form")),
        Place(network: Sample.network, portal: Portal(origin: Sample.portal.origin, pin: "b3RoZXI=", kind: "form")),
        Place(network: Sample.network, portal: Portal(origin: Sample.portal.origin, pin: nil, kind: "form")),
    ])
    @LoopActor func anOfferIsNotStoredForAnotherNetworkOrPortal(_ place: Place) async throws {
        let (air, ida, ben) = try await MemoryAir.paired()
        defer { for laptop in [ida, ben] { laptop.close() } }
        let (share, offer) = try await shared(air, ida, ben, at: place)
        #expect(!offer.fits)
        let decided = try await ben.reply("Decide", decision(offer, true))
        #expect(decided.fault == .failed("The login of \"Ida\" is for another network or portal. Nothing was stored."))
        try await air.until("Ida hears of it") { share.isDone }
        #expect(try share.last(ShareReply.self).notice == "\"Ben\" is at another network or portal.")
        #expect(ben.daemon.offered.isEmpty)
    }

    @Test @LoopActor func theSecondInterfaceMayBeAtTheOffersPortal() async throws {
        let (air, ida, ben) = try await MemoryAir.paired()
        defer { for laptop in [ida, ben] { laptop.close() } }
        let (_, offer) = try await shared(air, ida, ben, at: Place(network: Sample.network, portal: Sample.portal))
        let statuses = ["eth0", "wlan0"].map { name in
            var status = InterfaceStatus(interface: name, state: .authenticated, since: 1)
            status.network = name == "eth0" ? "wired:02:00:00:00:00:09" : Sample.network.key
            (status.portal, status.portalKey) = (Sample.portal.origin, Sample.portal.pin)
            return status
        }
        ben.daemon.onStatus(statuses)
        #expect(try await ben.reply("Decide", decision(offer, true)).fault == nil && ben.daemon.offered.count == 1)
    }

    @Test @LoopActor func theDaemonsRefusalReachesTheUser() async throws {
        let (air, ida, ben) = try await MemoryAir.paired()
        defer { for laptop in [ida, ben] { laptop.close() } }
        ben.daemon.refusal = "No answers are kept (Remember=never)."
        let (share, offer) = try await shared(air, ida, ben)
        #expect(try await ben.reply("Decide", decision(offer, true)).fault == .failed("No answers are kept (Remember=never)."))
        #expect(try await ben.reply("Decide", decision(offer, true)).fault == .noSuchOffer(offer.id))
        try await air.until("Ida hears of it") { share.isDone }
        let end = try share.last(ShareReply.self)
        #expect(end.notice == "\"Ben\" accepted the login, but could not store it." && end.taken == nil)
    }

    @Test(arguments: [[:], ["room": "214"]])
    @LoopActor func aPortalFileIsHandedToTheUser(_ answers: [String: String]) async throws {
        let (air, ida, ben) = try await MemoryAir.paired()
        defer { for laptop in [ida, ben] { laptop.close() } }
        // Longer than the control channel allows.
        let text = "[Portal]\n" + String(repeating: "# Lindenhof\n", count: 1000)
        let (share, offer) = try await shared(
            air, ida, ben, Sample.share(to: "Ben", answers: answers, portalFile: text))
        #expect(offer.portalFile == true && offer.fields == answers.keys.sorted())
        let decided = try await ben.reply("Decide", decision(offer, true))
        #expect(try decided.last(DecideReply.self).portalFile == text)
        #expect(ben.daemon.offered.map(\.answers) == (answers.isEmpty ? [] : [answers]))
        try await air.until("Ida hears of it") { share.isDone }
    }

    @Test @LoopActor func withoutARadioNothingBegins() async throws {
        let (_, ida, ben) = try await MemoryAir.paired()
        defer { for laptop in [ida, ben] { laptop.close() } }
        ida.radio.onStateChange(.adapterOff)
        let fault = CompanionFault.failed("Bluetooth is switched off. Switch it on: bluetoothctl power on.")
        for (method, parameters) in [("Pair", [:]), ("Share", Sample.share())] as [(String, JSONValue)] {
            #expect(try await ida.reply(method, parameters, more: true).fault == fault)
        }
        #expect(ida.service.made.isEmpty && !ida.radio.scans && !ida.radio.advertises)
        #expect(try await ida.reply("Status").last(CompanionStatus.self).state == "adapterOff")
    }

    @Test @LoopActor func aDeclinedOfferIsGone() async throws {
        let (air, ida, ben) = try await MemoryAir.paired()
        defer { for laptop in [ida, ben] { laptop.close() } }
        let (share, offer) = try await shared(air, ida, ben)
        #expect(try await ben.reply("Decide", decision(offer, false)).fault == nil)
        try await air.until("Ida hears of it") { share.isDone }
        let end = try share.last(ShareReply.self)
        #expect(end.notice == "The user of \"Ben\" declined the login." && end.taken == nil)
        #expect(ben.daemon.offered.isEmpty)
        #expect(try await ben.reply("Status").last(CompanionStatus.self).offers.isEmpty)
    }

    @Test @LoopActor func anOfferEndsWithTheCallThatMadeIt() async throws {
        let (air, ida, ben) = try await MemoryAir.paired()
        defer { for laptop in [ida, ben] { laptop.close() } }
        let (share, _) = try await shared(air, ida, ben)
        share.leave()
        try await air.until("Ben sees no offer") { ben.service.offers.isEmpty }
        #expect(try await ida.reply("Status").last(CompanionStatus.self).made.isEmpty && !ida.radio.scans)
        // Without a stream, the offer lasts until it is withdrawn.
        let made = try await ida.reply("Share", Sample.share()).last(ShareReply.self).offers
        #expect(made.map(\.peer.name) == ["Ben"] && ida.service.made.count == 1)
        #expect(try await ida.reply("Withdraw", ["id": .string(made[0].id)]).fault == nil && ida.service.made.isEmpty)
    }

    @Test @LoopActor func aLaterOfferReplacesTheEarlierOne() async throws {
        let (air, ida, ben) = try await MemoryAir.paired()
        defer { for laptop in [ida, ben] { laptop.close() } }
        let (share, offer) = try await shared(air, ida, ben)
        _ = try await ida.reply("Share", Sample.share())
        #expect(share.isDone && ida.service.made.count == 1)
        try await air.until("Ben sees the later one") {
            ben.service.offers.count == 1 && ben.service.offers[0].shown.name != offer.id
        }
        #expect(try await ida.reply("Share", Sample.share(seconds: 0)).fault != nil)
        #expect(try await ida.reply("Share", Sample.share(to: "Eve")).fault == .noSuchPeer("Eve"))
    }

    @Test @LoopActor func aYesIsForTheOfferThatWasShown() async throws {
        let (air, ida, ben) = try await MemoryAir.paired()
        defer { for laptop in [ida, ben] { laptop.close() } }
        let (_, offer) = try await shared(air, ida, ben)
        // A peer that sends different content under the same ID.
        let sent = ida.service.made[0].offer
        var other = sent
        other.answers = ["room": SecretText("215")]
        ida.service.handle(.offerMade(other, to: ida.service.peers[0].id))
        try await air.until("Ben sees the other one") { ben.service.offers.first?.shown.offer == other }
        #expect(ben.service.offers[0].key.id == sent.id)
        #expect(try await ben.reply("Decide", decision(offer, true)).fault == .noSuchOffer(offer.id))
        #expect(ben.daemon.offered.isEmpty)
    }

    @Test @LoopActor func moreLaptopsThanCanWaitAreOfferedNothing() async throws {
        let (folder, air) = (TemporaryFolder(), MemoryAir())
        let store = CompanionStore(folder: folder.path)
        _ = try store.key().publicKey
        try store.save((1...5).map { Peer(id: PeerID([UInt8](repeating: $0, count: 32))!, name: "peer\($0)") })
        let ida = try TestLaptop("Ida", air, folder: folder)
        defer { ida.close() }
        let fault = CompanionFault.failed(
            "A login can be offered to 4 laptops at a time. Name one: hotspotctl companion share NETWORK LAPTOP")
        #expect(try await ida.reply("Share", Sample.share()).fault == fault)
        #expect(ida.service.made.isEmpty && !ida.radio.scans)
        for number in 1...4 { #expect(try await ida.reply("Share", Sample.share(to: "peer\(number)")).fault == nil) }
        #expect(try await ida.reply("Share", Sample.share(to: "peer5")).fault == fault)
        #expect(try await ida.reply("Share", Sample.share(to: "peer4")).fault == nil && ida.service.made.count == 4)
    }

    // MARK: Forgetting, permission

    @Test @LoopActor func aForgottenLaptopIsToldToPairAgain() async throws {
        let (air, ida, ben) = try await MemoryAir.paired()
        defer { for laptop in [ida, ben] { laptop.close() } }
        let start = String(ben.service.peers[0].id.description.prefix(8))
        #expect(try await ben.reply("Forget", ["peer": .string(start)]).last(ForgottenReply.self).peer.name == "Ida")
        #expect(try await ben.reply("Status").last(CompanionStatus.self).peers.isEmpty)
        #expect(try CompanionStore(folder: ben.folder.path).peers().isEmpty)
        // Ben shows a code to another laptop, and Ida finds him because of that.
        let pairs = try ben.call("Pair", more: true)
        let share = try ida.call("Share", Sample.share(), more: true)
        let words = "\"Ben\" is no longer paired. Pair again."
        try await air.until("Ida hears of it") { share.replies.contains { $0["notice"]?.string == words } }
        #expect(try await ida.reply("Status").last(CompanionStatus.self).notices.last?.message == words)
        pairs.leave()
    }

    @Test @LoopActor func strangersMayNothing() async throws {
        let air = MemoryAir()
        let ida = try TestLaptop("Ida", air, isTrusted: false)
        defer { ida.close() }
        for (method, parameters) in [
            ("Status", [:]), ("Pair", [:]), ("Forget", ["peer": "Ben"]), ("Share", Sample.share()), ("Withdraw", ["id": "1"]),
            ("Answer", ["id": "1", "peer": "Ben", "answers": [:]]), ("Decide", ["id": "1", "peer": "Ben", "accept": true]),
        ] as [(String, JSONValue)] {
            guard case .notPermitted = try await ida.reply(method, parameters, more: true).fault else {
                Issue.record("\(method)")
                continue
            }
        }
        #expect(!ida.radio.advertises)
    }
}
