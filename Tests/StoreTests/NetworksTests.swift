import Glibc
import HotspotCore
import TestSupport
import Testing

@testable import Store

@Suite struct NetworksTests {
    let folder = TemporaryFolder()

    @Test func aChoiceSurvivesAndExpires() throws {
        let portal = Portal(origin: "https://portal.example", pin: "cGlu", kind: "form", title: "Café")
        let choice = RememberedChoice(
            helper: "form", contenders: ["form", "wispr"], portal: portal, hardware: HardwareAddress("02:00:00:00:00:07"),
            committed: 1000)
        try folder.open().remember(cafe, choice)
        try folder.open().setSealedSession(cafe, [1])
        let store = try folder.open()
        #expect(store.remembered(cafe, now: 1000 + 89 * day) == choice)
        #expect(store.remembered(cafe, now: 1000 + 90 * day) == nil)
        #expect(store.remembered(twin, now: 1000) == nil)
        try store.dropChoice(cafe)
        #expect(store.remembered(cafe, now: 1000) == nil)
        #expect(store.sealedSession(cafe) == nil)
    }

    @Test func anAssociationEndsWithoutItsChoice() throws {
        let association = StoredAssociation(
            interface: 3, helper: "form", link: "boot 3 02:00:00:00:00:01 1", id: "abc", ends: 5000)
        let choice = RememberedChoice(helper: "form", committed: 1000)
        try folder.open().remember(cafe, choice, in: association)
        let store = try folder.open()
        #expect(store.association(cafe, of: 3) == association)
        try store.endAssociation(cafe, of: 3)
        #expect(store.association(cafe, of: 3) == nil && store.remembered(cafe, now: 1000) == choice)
    }

    @Test func anAssociationWaitsForItsProofWithoutAChoice() throws {
        let waiting = StoredAssociation(interface: 3, helper: "form", link: "boot 3 - 1 -", id: "a", ends: 9000, until: 5000)
        let store = try folder.open()
        try store.setAssociation(cafe, waiting, sealed: [7])
        #expect(store.association(cafe, of: 3) == waiting && store.sealedSession(cafe, of: 3) == [7] && store.hasSealedRows)
        try store.prune(now: 4999)
        #expect(store.association(cafe, of: 3) == waiting)
        try store.prune(now: 5000)
        #expect(store.association(cafe, of: 3) == nil)
        try store.setAssociation(cafe, waiting, sealed: [7])
        var proven = waiting
        proven.until = nil
        try store.remember(cafe, RememberedChoice(helper: "form", committed: 1000), in: proven)
        #expect(store.association(cafe, of: 3) == proven && store.sealedSession(cafe, of: 3) == nil)
    }

    @Test func twoInterfacesInOneNetworkHaveAnAssociationEach() throws {
        let store = try folder.open()
        let choice = RememberedChoice(helper: "form", committed: 1000)
        for index in [3, 4] {
            let association = StoredAssociation(interface: index, helper: "form", link: "boot \(index) - 1 -", id: "id\(index)")
            try store.remember(cafe, choice, in: association)
        }
        for index in [3, 4] { try store.setSealedSession(cafe, of: index, [UInt8(index)]) }
        #expect(store.sealedSession(cafe, of: 3) == [3] && store.sealedSession(cafe, of: 4) == [4])
        #expect(store.sealedSession(cafe, of: 5) == [4], "the last one")
        try store.setSealedSession(cafe, of: 4, nil)
        #expect(store.sealedSession(cafe, of: 3) == [3] && store.sealedSession(cafe, of: 4) == nil && store.hasSealedRows)
        try store.endAssociation(cafe, of: 4)
        #expect(store.association(cafe, of: 3)?.id == "id3" && store.association(cafe, of: 4) == nil)
        try store.dropChoice(cafe)
        #expect(store.association(cafe, of: 3) == nil)
    }

    /// The database may be older than the rules for origins, or written by another program.
    @Test func invalidOriginsAreNotRead() throws {
        let store = try folder.open()
        let portal = Portal(origin: "https://bank.example@evil.example", kind: "form")
        try store.remember(cafe, RememberedChoice(helper: "form", portal: portal, committed: 1000))
        try store.setCredential(cafe, helper: "form", origin: portal.origin, pin: nil, fieldNames: ["room"], sealed: [7])
        let read = try #require(store.remembered(cafe, now: 1000))
        #expect(read.helper == "form" && read.portal == nil)
        #expect(store.credentials(cafe).isEmpty)
    }

    @Test func aSealedSessionIsStoredAndDeleted() throws {
        let store = try folder.open()
        try store.setSealedSession(cafe, [9])
        try store.setSealedSession(cafe, [1, 2, 3])
        #expect(store.sealedSession(cafe) == [1, 2, 3])
        #expect(store.hasSealedRows)
        try store.setSealedSession(cafe, nil)
        #expect(store.sealedSession(cafe) == nil && !store.hasSealedRows)
    }

    @Test(arguments: StoredHold.Reason.allCases) func aHoldLastsUntilItsEnd(reason: StoredHold.Reason) throws {
        let store = try folder.open()
        try store.setHold(hotel, StoredHold(reason: reason, until: 500, sentence: "You logged off."))
        #expect(store.hold(hotel, now: 499)?.reason == reason)
        #expect(store.hold(hotel, now: 500) == nil)
        try store.setHold(hotel, StoredHold(reason: reason, sentence: "For good."))
        #expect(store.hold(hotel, now: Int.max) != nil)
        try store.releaseHold(hotel)
        #expect(store.hold(hotel, now: 0) == nil)
    }

    @Test func oldRecordsArePruned() throws {
        let store = try folder.open()
        let given = 1000 * day
        try store.remember(cafe, RememberedChoice(helper: "form", committed: given))
        try store.setSealedSession(cafe, [1])
        try store.setSealedSession(twin, [2])
        try store.setConsent(cafe, origin: "http://o", helper: "form", program: nil, terms: "t", hasMemory: true, now: given)
        try store.setOutcome(cafe, StoredOutcome(word: "online", time: given))
        try store.setCredential(cafe, helper: "form", origin: "http://o", pin: "p", fieldNames: ["room"], sealed: [7])
        try store.prune(now: given + 89 * day)
        #expect(store.sealedSession(cafe) == [1] && store.sealedSession(twin) == nil, "the second belongs to no choice")
        #expect(store.lastOutcome(cafe) != nil)
        try store.prune(now: given + 91 * day)
        #expect(store.sealedSession(cafe) == [1], "its helper sees by it whether the accepted terms have changed")
        #expect(store.remembered(cafe, now: given + 91 * day) == nil && store.lastOutcome(cafe) == nil)
        func consent() -> String? { store.consent(cafe, origin: "http://o", helper: "form", program: "/bin/x", hasMemory: true) }
        try store.prune(now: given + 400 * day)
        #expect(consent() == "t")
        try store.prune(now: given + 400 * day + 1)
        #expect(consent() == nil && store.sealedSession(cafe) == nil)
        try store.prune(now: given + 4000 * day)
        #expect(store.credential(cafe, helper: "form", origin: "http://o", pin: "p")?.sealed == [7])
        #expect(store.allCredentials[0].labels.isEmpty)
        try store.setCredential(
            cafe, helper: "form", origin: "http://o", pin: "p", fieldNames: ["room", "name", "a"],
            labels: ["name": "sur name", "a": "", "other": "x"], sealed: [7])
        #expect(store.allCredentials[0].labels == ["name": "sur name", "a": ""])
    }

    @Test func consentBelongsToOnePortalAsOneHelperShowsIt() throws {
        let store = try folder.open()
        func consent(
            _ network: NetworkID = cafe, _ origin: String = "https://a.example", _ helper: String = "form",
            _ program: String? = "/bin/x"
        ) -> String? { store.consent(network, origin: origin, helper: helper, program: program, hasMemory: true) }
        func set(_ terms: String?) throws {
            try store.setConsent(
                cafe, origin: "https://a.example", helper: "form", program: "/bin/x", terms: terms, hasMemory: true, now: 1)
        }
        try set("hash")
        #expect(consent() == "hash")
        #expect(consent(cafe, "https://b.example") == nil)
        #expect(consent(twin) == nil)
        #expect(consent(cafe, "https://a.example", "wispr") == nil)
        #expect(consent(cafe, "https://a.example", "form", "/bin/y") == nil)
        #expect(consent(cafe, "https://a.example", "form", nil) == nil)
        func withoutMemory() -> String? {
            store.consent(cafe, origin: "https://a.example", helper: "form", program: "/bin/x", hasMemory: false)
        }
        #expect(withoutMemory() == nil, "the helper would not see that they have changed")
        try store.setConsent(
            cafe, origin: "https://a.example", helper: "form", program: "/bin/x", terms: "hash", hasMemory: false, now: 1)
        #expect(withoutMemory() == "hash" && consent() == "hash", "it never kept a memory")
        try set(nil)
        #expect(consent() == nil)
    }

    /// Whether the folder's files contain the word: a thief of the disk reads their octets.
    private func isOnDisk(_ word: String) throws -> Bool {
        try folder.names.contains { name in
            let stream = try #require(fopen("\(folder.state)/\(name)", "r"))
            defer { fclose(stream) }
            var octets = [UInt8](repeating: 0, count: 1 << 22)
            let count = fread(&octets, 1, octets.count, stream)
            return octets[..<count].firstRange(of: Array(word.utf8)) != nil
        }
    }

    @Test(arguments: [false, true]) func forgettingErasesTheHistory(everything: Bool) throws {
        let store = try folder.open()
        for (id, network, label) in [("a1", cafe, "Cafe"), ("a2", twin, "Cafe"), ("a3", hotel, "wired:02:00:00:00:00:01")] {
            try store.beginAttempt(id, interface: "wlan0", network: network, ssid: label, began: 1000)
            try store.addSteps(id, [Step(at: 0, kind: "answer", detail: "room-canary-\(id)")])
        }
        try store.setEnabled(helper: "form", ssid: nil, enabled: false)
        try store.setEnabled(helper: nil, ssid: "43616665", enabled: false)
        try store.setPIN(StoredPIN(salt: [1], passes: 1, memory: 1, names: [2]), credentials: [])
        #expect(try isOnDisk("room-canary-a2"))
        if everything { try store.forgetEverything() } else { #expect(try store.forget(SSID(octets: Array("Cafe".utf8))!)) }
        #expect(store.attempts().map(\.id) == (everything ? [] : ["a3"]))
        #expect((store.pin == nil) == everything, "there is nothing left to guard")
        #expect(try !isOnDisk("room-canary-a1") && !isOnDisk("room-canary-a2"))
        #expect(try isOnDisk("room-canary-a3") != everything)
        #expect(store.allDisabled.count == (everything ? 1 : 2) && store.isDisabled(helper: "form", ssid: nil))
    }

    @Test func theHistoryIsKeptForTheGivenTime() throws {
        let store = try folder.open()
        store.journalLifetime = 2 * day
        func begin(_ id: String, _ began: Int) throws {
            try store.beginAttempt(id, interface: "wlan0", network: cafe, ssid: "Cafe", began: began)
        }
        try begin("old", 1 * day)
        try begin("new", 3 * day)
        #expect(store.attempts().map(\.id) == ["new", "old"])
        try begin("newest", 3 * day + 1)
        #expect(store.attempts().map(\.id) == ["newest", "new"])
        store.journalLifetime = 0
        try begin("only", 4 * day)
        #expect(store.attempts().map(\.id) == ["only"])
        #expect(store.attempts(interface: "wlan0").count == 1 && store.attempts(interface: "wlan1").isEmpty)
    }

    @Test func forgettingANameForgetsItUnderEverySecurityAndNothingElse() throws {
        let store = try folder.open()
        let other = NetworkID.wireless(SSID(octets: Array("Cafe*".utf8))!, .open)
        for network in [cafe, twin, other, hotel] {
            try store.remember(network, RememberedChoice(helper: "form", committed: 1))
            try store.setOutcome(network, StoredOutcome(word: "online", time: 1))
            try store.setConsent(network, origin: "http://o", helper: "form", program: nil, terms: "t", hasMemory: true, now: 1)
            try store.setHold(network, StoredHold(reason: .loggedOff, sentence: "s"))
            try store.setSealedSession(network, [1])
            try store.setCredential(network, helper: "form", origin: "http://o", pin: nil, fieldNames: ["a"], sealed: [1])
        }
        #expect(try store.forget(SSID(octets: Array("Cafe".utf8))!))
        #expect(try !store.forget(SSID(octets: Array("Cafe".utf8))!))
        for network in [cafe, twin] {
            #expect(store.remembered(network, now: 1) == nil && store.lastOutcome(network) == nil)
            #expect(store.hold(network, now: 1) == nil && store.sealedSession(network) == nil)
            #expect(store.consent(network, origin: "http://o", helper: "form", program: nil, hasMemory: true) == nil)
            #expect(store.credentials(network).isEmpty)
        }
        #expect(store.remembered(other, now: 1) != nil && store.remembered(hotel, now: 1) != nil)
        #expect(try store.forget(hotel))
        #expect(store.credentials(hotel).isEmpty && !store.credentials(other).isEmpty)
    }

    @Test func nothingIsKeptOfAnAnonymousNetwork() throws {
        let store = try folder.open()
        try store.remember(.anonymous, RememberedChoice(helper: "form", committed: 1))
        try store.setOutcome(.anonymous, StoredOutcome(word: "online", time: 1))
        #expect(store.remembered(.anonymous, now: 1) == nil && store.lastOutcome(.anonymous) == nil)
        #expect(try !store.forget(.anonymous))
    }

    @Test func switchesAreExact() throws {
        let store = try folder.open()
        let name = cafe.switchName!
        try store.setEnabled(helper: "form", ssid: name, enabled: false)
        #expect(store.isDisabled(helper: "form", ssid: name))
        #expect(!store.isDisabled(helper: "form", ssid: "00") && !store.isDisabled(helper: "wispr", ssid: name))
        try store.setEnabled(helper: "form", ssid: name, enabled: true)
        try store.setEnabled(helper: nil, ssid: name, enabled: false)
        try store.setEnabled(helper: "wispr", ssid: nil, enabled: false)
        #expect(store.isDisabled(helper: "form", ssid: name) && store.isDisabled(helper: nil, ssid: name))
        #expect(store.isDisabled(helper: "wispr", ssid: "00") && store.isDisabled(helper: "wispr", ssid: nil))
        #expect(!store.isDisabled(helper: "form", ssid: nil))
        #expect(store.allDisabled == [Disabled(helper: nil, ssid: name), Disabled(helper: "wispr", ssid: nil)])
        #expect(throws: StoreError.self) { try store.setEnabled(helper: nil, ssid: nil, enabled: false) }
        #expect(throws: StoreError.self) { try store.setEnabled(helper: "*", ssid: nil, enabled: false) }
    }

    @Test func switchingANameOnReleasesItUnderEverySecurityInOneTransaction() throws {
        let store = try folder.open()
        let longer = NetworkID.wireless(SSID(octets: Array("Cafe2".utf8))!, .open)
        let name = cafe.switchName!
        func off() throws {
            try store.setEnabled(helper: nil, ssid: name, enabled: false)
            for network in [cafe, twin, longer, hotel] {
                try store.setHold(network, StoredHold(reason: .autoJoinOff, sentence: "s"))
            }
        }
        try off()
        // If one part fails, nothing changes.
        do {
            let raw = try Database(path: store.path)
            try raw.run("CREATE TRIGGER no BEFORE DELETE ON holds BEGIN SELECT RAISE(ABORT, 'no'); END")
        }
        #expect(throws: StoreError.self) {
            try store.setEnabled(helper: nil, ssid: name, enabled: true, releasingHolds: true)
        }
        #expect(store.isDisabled(helper: nil, ssid: name) && store.hold(cafe, now: 0) != nil)
        do {
            let raw = try Database(path: store.path)
            try raw.run("DROP TRIGGER no")
        }
        try store.setEnabled(helper: nil, ssid: name, enabled: true, releasingHolds: true)
        #expect(!store.isDisabled(helper: nil, ssid: name))
        #expect(store.hold(cafe, now: 0) == nil && store.hold(twin, now: 0) == nil)
        #expect(store.hold(longer, now: 0) != nil && store.hold(hotel, now: 0) != nil)
        try store.setEnabled(helper: nil, ssid: hotel.switchName!, enabled: true, releasingHolds: true)
        #expect(store.hold(hotel, now: 0) == nil && store.hold(longer, now: 0) != nil)
        try store.setEnabled(helper: "form", ssid: longer.switchName!, enabled: true)
        #expect(store.hold(longer, now: 0) != nil, "a helper's switch holds nothing and releases nothing")
    }

    @Test func aListReadsAllRecordsAtOnce() throws {
        let store = try folder.open()
        try store.remember(cafe, RememberedChoice(helper: "form", committed: 1000))
        try store.setHold(cafe, StoredHold(reason: .loggedOff, until: 2000, sentence: "You logged off."))
        try store.setOutcome(cafe, StoredOutcome(word: "online", time: 7))
        for (helper, origin) in [("form", "https://a"), ("form", "https://b"), ("wispr", "https://a")] {
            try store.setCredential(cafe, helper: helper, origin: origin, pin: nil, fieldNames: ["a"], sealed: [1])
        }
        try store.setOutcome(hotel, StoredOutcome(word: "left", time: 8))
        for now in [1500, 2000, 1000 + 91 * day] {
            let records = store.records(now: now)
            for network in [cafe, twin, hotel, .anonymous] {
                var one = NetworkRecord()
                one.helper = store.remembered(network, now: now)?.helper
                one.hold = store.hold(network, now: now)
                one.outcome = store.lastOutcome(network)
                one.credentials = Set(store.credentials(network).map(\.helper))
                #expect(records[network] == one, "the same as each of them read alone")
            }
        }
        #expect(store.records(now: 1500)[cafe].credentials == ["form", "wispr"])
        let raw = try Database(path: store.path)
        try raw.run("UPDATE holds SET reason = 'struckByLightning'")
        #expect(store.records(now: 1500)[cafe].hold == nil && store.records(now: 1500)[cafe].helper == "form")
        #expect(store.skippedRows == 2)
    }

    @Test func manySwitchesAnswerAsEachOfThemDoes() throws {
        let store = try folder.open()
        let name = cafe.switchName!
        try store.setEnabled(helper: "form", ssid: name, enabled: false)
        try store.setEnabled(helper: "wispr", ssid: nil, enabled: false)
        try store.setEnabled(helper: nil, ssid: hotel.switchName!, enabled: false)
        let switches = store.switches
        for helper in ["form", "wispr", "other"] {
            for network in [cafe, twin, hotel] {
                #expect(
                    switches.isOff(helper: helper, network) == store.isDisabled(helper: helper, ssid: network.switchName),
                    "\(helper) \(network)")
            }
            #expect(switches.isOff(helper: helper, .anonymous) == (helper == "wispr"))
        }
        #expect(switches.isOff(hotel) && !switches.isOff(cafe))
        try store.setEnabled(helper: nil, ssid: hotel.switchName!, enabled: true)
        #expect(!store.switches.isOff(hotel))
    }

    @Test func aCredentialIsFoundOnlyByAllOfItsOwner() throws {
        let store = try folder.open()
        try store.setCredential(cafe, helper: "form", origin: "http://o", pin: "p", fieldNames: ["room", "name"], sealed: [7])
        #expect(store.credential(cafe, helper: "form", origin: "http://o", pin: "p")?.sealed == [7])
        #expect(store.credential(twin, helper: "form", origin: "http://o", pin: "p") == nil)
        #expect(store.credential(cafe, helper: "wispr", origin: "http://o", pin: "p") == nil)
        #expect(store.credential(cafe, helper: "form", origin: "x", pin: "p") == nil)
        #expect(store.credential(cafe, helper: "form", origin: "http://o", pin: nil) == nil)
        #expect(store.credentials(cafe).map(\.fieldNames) == [["room", "name"]])
        let large = [UInt8](repeating: 0, count: Int(Database.valueLimit) + 1)
        #expect(throws: StoreError.self) {
            try store.setCredential(cafe, helper: "form", origin: "http://o", pin: "p", fieldNames: [], sealed: large)
        }
        #expect(store.credential(cafe, helper: "form", origin: "http://o", pin: "p")?.sealed == [7])
        #expect(store.isSaving)
        #expect(store.hasSealedRows)
        #expect(try store.forget(cafe))
        #expect(!store.hasSealedRows)
    }
}
