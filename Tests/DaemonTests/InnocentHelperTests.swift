import EventLoop
import Glibc
import HotspotCore
import HotspotMachine
import LinkState
import Store
import Testing
import Varlink
import Vault
import Wireless

@testable import HelperHost
@testable import hotspotd

/// A helper is not blamed for the faults of other helpers, and does not get their credentials and sessions.
@Suite(.serialized, .timeLimit(.minutes(10))) struct InnocentHelperTests {
    init() { EventLoop.startThread() }

    static let network = NetworkID.wireless(SSID(printable: "Cafe")!, .open)
    static let portal = Portal(origin: "https://p.test", pin: "cGlu", kind: "form")

    @LoopActor private func controller(_ bench: FilterBench) -> InterfaceController {
        InterfaceController(index: 7, name: "hot7", services: bench.services)
    }

    @LoopActor private var joined: Joined {
        Joined(
            association: Services.randomID(), network: Self.network, ssid: SSID(printable: "Cafe")!, security: .open,
            bssid: HardwareAddress("02:00:00:00:00:01"), signal: -50,
            snapshot: LinkSnapshot(
                index: 7, name: "hot7", isUp: true, hasCarrier: true, addresses: ["192.0.2.2/24"], gateways: ["192.0.2.1"]),
            facts: LinkFacts(nameservers: ["192.0.2.53"], source: "none"))
    }

    /// The losers of the race occupy all the processes, and do not end.
    @Test @LoopActor func aWinnerWithoutRoomHasNoStrike() async throws {
        let bench = try FilterBench()
        try bench.add("winner")
        let controller = controller(bench)
        var isFull = false
        bench.services.host.startRefusal = { isFull ? EAGAIN : 0 }
        bench.hold("winner")
        controller.join(joined)
        #expect(await bench.eventually { bench.told("winner", "Evaluate").count == 1 })
        isFull = true
        bench.letGo("winner")
        #expect(await bench.eventually { bench.steps.contains { $0.kind == "outcome" } })
        #expect(bench.services.strikes.count("winner") == 0 && bench.services.conduct("winner") == [])
        #expect(controller.status.problems.map(\.code) == [.helperNoRoom])
        let told = bench.steps.map(\.detail).joined(separator: "\n")
        #expect(told.contains("the machine is out of memory or processes") && !told.contains("without an answer"), "\(told)")
        let verdict = bench.steps.last { $0.kind == "outcome" }?.detail ?? ""
        #expect(
            verdict.contains("for now") && verdict.contains("out of memory or processes") && !verdict.contains("It said"),
            "\(verdict)")
        #expect(controller.machine.state.name == .failure, "to be tried again")
        controller.leave("the test ends")
        await bench.close()
    }

    @Test @LoopActor func aCredentialIsForTheProgramThatItWasStoredFor() async throws {
        let bench = try FilterBench()
        try bench.add("portal")
        let problems = ProblemList()
        let journal = Journal(interface: "hot7", services: bench.services)
        let desk = AnswerDesk(services: bench.services, journal: journal, problems: problems)
        func credential() -> [String: String]? {
            desk.released(desk.context(for: "portal", in: Self.network, at: Self.portal))?.values
        }
        let (store, vault) = (bench.services.store, bench.services.vault)
        // As an older daemon stored it.
        let old = Purpose.credential(network: Self.network, helper: "portal", origin: Self.portal.origin, pin: Self.portal.pin)
        try store.setCredential(
            Self.network, helper: "portal", origin: Self.portal.origin, pin: Self.portal.pin, fieldNames: ["pass"],
            sealed: try vault.seal(["pass": "opensesame"], for: old))
        #expect(credential() == ["pass": "opensesame"])
        // Once it was released, the credential belongs to this program.
        #expect(store.credentials(Self.network).map(\.program) == [bench.folder + "/programs/portal"])
        #expect(credential() == ["pass": "opensesame"])
        bench.steps = []
        let other = HelperSpec(name: "portal", activation: .stdio(exec: [bench.folder + "/programs/portal", "elsewhere"]))
        bench.services.host.setHelpers([HelperEntry(spec: other, file: "/x.helper")])
        #expect(credential() == nil)
        #expect(bench.steps.map(\.kind) == ["credential"] && bench.steps[0].detail.hasPrefix("kept back"))
        // Editing the database does not release the answers to another program: the seal names the program.
        let sealed = try #require(store.credentials(Self.network).first).sealed
        try store.setCredential(
            Self.network, helper: "portal", origin: Self.portal.origin, pin: Self.portal.pin, program: other.activation.identity,
            fieldNames: ["pass"], sealed: sealed)
        #expect(credential() == nil)
        await bench.close()
    }

    @Test @LoopActor func aSessionIsForTheProgramThatItWasStoredFor() async throws {
        let bench = try FilterBench()
        try bench.add("portal")
        let journal = Journal(interface: "hot7", services: bench.services)
        let sessions = SessionKeeper(interface: 7, services: bench.services, journal: journal, problems: ProblemList())
        func restored() -> Session? {
            sessions.restore(for: Self.network, of: "portal")
            return sessions.session(of: "portal")
        }
        let session = Session(memory: ["ticket": "opensesame"])
        sessions.setPresent(session, of: "portal")
        try bench.services.store.remember(
            Self.network, RememberedChoice(helper: "portal", portal: nil, committed: WallClock.now))
        try sessions.store(for: Self.network, of: "portal")
        #expect(restored() == session)
        let program = try #require(bench.services.host.helpers.first).spec
        let other = HelperSpec(name: "portal", activation: .stdio(exec: [bench.folder + "/programs/portal", "elsewhere"]))
        bench.services.host.setHelpers([HelperEntry(spec: other, file: "/x.helper")])
        #expect(restored() == nil)
        // As an older daemon stored it.
        let old = try bench.services.vault.seal(Coding.encode(session), for: .session(network: Self.network, helper: "portal"))
        try bench.services.store.setSealedSession(Self.network, old)
        bench.services.host.setHelpers([HelperEntry(spec: program, file: "/x.helper")])
        #expect(restored() == session)
        await bench.close()
    }

    @Test func identitiesAreUnambiguous() {
        let words: [[String]] = [["/a", "b c"], ["/a", "b", "c"], ["/a b", "c"], ["/a", #"b\x20c"#], ["/a", "b\nc"], ["/a"]]
        let identities = words.map { HelperSpec.Activation.stdio(exec: $0).identity }
        #expect(Set(identities).count == words.count && identities.last == "/a")
        #expect(HelperSpec.Activation.socket(exec: ["/a"]).identity == "/a", "how it is asked does not matter")
        #expect(HelperSpec.Activation.external(path: "/a").identity != "/a")
    }
}
