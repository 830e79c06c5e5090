import Glibc
import Netlink
import Testing

@testable import Gate

/// Other programs undo rules, and changes fail: the gate still reaches the wanted state, closed or open. Needs root; in CI it must be there.
@Suite(.serialized, .enabled(if: geteuid() == 0 || getenv("CI") != nil, "a network namespace needs root"))
struct GateRepairTests {
    /// The kernel, except that some calls fail.
    private final class Stubborn: GateKernel {
        /// The group of this link cannot be changed.
        var link: Int?
        /// No rule can be added.
        var takesNoRules = false
        /// The answer to a new rule is lost.
        var losesAnswers = false

        override func setGroup(_ group: UInt32, of index: Int) throws(NetlinkError) -> Bool {
            if index == link { throw NetlinkError(operation: "changing a group", code: EBUSY) }
            return try super.setGroup(group, of: index)
        }

        override func add(_ rule: GateRule) throws(NetlinkError) {
            if takesNoRules { throw NetlinkError(operation: "adding a rule", code: ENOBUFS) }
            try super.add(rule)
            if losesAnswers { throw NetlinkError(operation: "asking the kernel", code: ENOBUFS) }
        }
    }

    private func play(secondLink: Bool = false, _ scene: @escaping (GateStage) throws -> Void) throws {
        try GateStage.play(secondLink: secondLink, scene)
    }

    private func index(_ name: String) -> Int { Int(if_nametoindex(name)) }

    /// Whether the body threw an error.
    private func fails(_ body: () throws(GateError) -> Bool) -> Bool {
        do throws(GateError) {
            _ = try body()
            return false
        } catch {
            return true
        }
    }

    @Test func aChangedGroupIsChangedBack() throws {
        try play { stage in
            let rules = stage.rules
            let gate = try Gate()
            let wanted = [index("w0"): "w0"]
            try gate.apply(closed: wanted)
            stage.shell("ip link set w0 group 5")
            stage.expect(stage.reached() == GateStage.targets, "another program opened it")
            stage.expect(try gate.apply(closed: wanted), "it reports the change")
            stage.expect(stage.reached() == [] && stage.reached(device: "w0") == GateStage.targets)
            stage.expect(try gate.apply(closed: wanted) == false)
            // The link returns to the group that another program set last.
            try gate.apply(closed: [:])
            stage.expect(stage.output("ip link show w0").contains("group 5") && stage.reached() == GateStage.targets)
            try gate.stop()
            stage.expect(stage.rules == rules)
        }
    }

    @Test func aStrayLinkIsRemovedFromTheGroup() throws {
        try play { stage in
            let gate = try Gate()
            stage.shell("ip link set w0 group \(Gate.group)")
            stage.expect(stage.reached() == [])
            stage.expect(try gate.apply(closed: [:], strays: [index("w0")]) == false)
            stage.expect(stage.reached() == GateStage.targets)
            try gate.stop()
        }
    }

    @Test func anIndexThatStandsForAnotherLinkByNow() throws {
        try play(secondLink: true) { stage in
            let rules = stage.rules
            let gate = try Gate()
            let number = index("w1")
            try gate.apply(closed: [number: "w1"])
            // Between two calls, the link disappears, and another link takes its index.
            stage.shell("ip link del w1; ip link add other index \(number) type veth peer name p9; ip link set other group 7 up")
            try gate.apply(closed: [number: "other"])
            stage.expect(stage.output("ip link show other").contains("group \(Gate.group)"))
            stage.expect(stage.rules.contains("oif other lookup main") && !stage.rules.contains("w1"))
            try gate.apply(closed: [:])
            stage.expect(stage.output("ip link show other").contains("group 7"))
            try gate.stop()
            stage.expect(stage.rules == rules)
        }
    }

    @Test func aLinkThatCannotBeClosedOrOpenedIsTriedAgainAndHoldsUpNoOther() throws {
        try play(secondLink: true) { stage in
            let rules = stage.rules
            let kernel = try Stubborn()
            let gate = try Gate(kernel: kernel)
            let (first, second) = (index("w0"), index("w1"))
            let both = [first: "w0", second: "w1"]
            kernel.link = first
            stage.expect(fails { () throws(GateError) in try gate.apply(closed: both) })
            stage.expect(stage.source(to: "10.0.0.1") != nil, "this one cannot be closed")
            stage.expect(stage.source(to: "10.1.0.1") != "10.1.0.2", "the other one is")
            kernel.link = nil
            try gate.apply(closed: both)
            stage.expect(stage.reached() == [])
            stage.expect(stage.reached(device: "w0") == GateStage.targets)

            kernel.link = first
            stage.expect(fails { () throws(GateError) in try gate.apply(closed: [:]) })
            stage.expect(stage.source(to: "10.0.0.1") != "10.0.0.2", "this one cannot be opened")
            stage.expect(stage.source(to: "10.1.0.1") == "10.1.0.2", "the other one is")
            stage.expect(stage.reached(device: "w0") == GateStage.targets, "and helpers have it")
            kernel.link = nil
            try gate.apply(closed: [:])
            stage.expect(stage.reached() == GateStage.targets && gate.closedLinks.isEmpty)

            // The end removes the rules, even if a link stays in the group.
            try gate.apply(closed: both)
            kernel.link = first
            stage.expect(
                fails { () throws(GateError) in
                    try { () throws(GateError) in
                        try gate.stop(); return true
                    }()
                })
            stage.expect(stage.rules == rules && stage.reached() == GateStage.targets)
            kernel.link = nil
            try gate.stop()
            stage.expect(try Gate.restore() == false)
        }
    }

    @Test func rulesThatCouldNotBeMadeAreMadeLater() throws {
        try play { stage in
            let rules = stage.rules
            let kernel = try Stubborn()
            let gate = try Gate(kernel: kernel)
            let wanted = [index("w0"): "w0"]
            kernel.takesNoRules = true
            stage.expect(fails { () throws(GateError) in try gate.apply(closed: wanted) })
            stage.expect(stage.reached(device: "w0") == GateStage.targets, "a helper is not shut out by a gate that failed")
            kernel.takesNoRules = false
            stage.expect(try gate.apply(closed: wanted) == false, "a failure of its own is no change by another program")
            stage.expect(stage.reached() == [] && stage.reached(device: "w0") == GateStage.targets)
            try gate.stop()
            stage.expect(stage.rules == rules)
        }
    }

    @Test func rulesOfALinkThatIsNotWantedAnyMoreAreTakenAway() throws {
        try play { stage in
            let kernel = try Stubborn()
            let gate = try Gate(kernel: kernel)
            kernel.losesAnswers = true
            stage.expect(fails { () throws(GateError) in try gate.apply(closed: [index("w0"): "w0"]) })
            stage.expect(stage.rules.contains("oif w0 lookup main"))
            kernel.losesAnswers = false
            stage.expect(try gate.apply(closed: [:]) == false && !stage.rules.contains("w0"))
            try gate.stop()
        }
    }

    /// The number of rules stays the same, but another program has exchanged one.
    @Test func anExchangedRuleIsNoticed() throws {
        try play { stage in
            let rules = stage.rules
            let gate = try Gate()
            let wanted = [index("w0"): "w0"]
            try gate.apply(closed: wanted)
            let closed = stage.rules
            stage.shell(
                """
                ip rule del pref 32766 lookup main suppress_ifgroup \(Gate.group)
                ip rule add pref 32766 fwmark 3 lookup main protocol 104
                """)
            stage.expect(stage.rules != closed)
            stage.expect(try gate.apply(closed: wanted))
            stage.expect(stage.rules == closed && stage.reached() == [])
            try gate.stop()
            stage.expect(stage.rules == rules)
        }
    }
}
