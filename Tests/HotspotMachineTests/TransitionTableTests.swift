import FoundationEssentials
import HotspotCore
import Testing

@testable import HotspotMachine

@Suite(.serialized) struct TransitionTableTests {
    static let ours = TransitionTable()
    static let strict = TransitionTable(policy: Policy(rules: .strict))

    /// A file that the machine prints, whole or between two lines.
    struct Printed: Sendable, CustomTestStringConvertible {
        let file: String
        let marks: (begin: String, end: String)?
        let lines: [String]
        var testDescription: String { file }
    }

    static let printed = [
        Printed(
            file: "docs/machine.md", marks: ("<!-- the edges: make table -->", "<!-- end of the edges -->"),
            lines: ours.lines(.edges)),
        Printed(file: "Tests/HotspotMachineTests/Golden/default-rules.md", marks: nil, lines: ours.lines(.table)),
        Printed(file: "Tests/HotspotMachineTests/Golden/strict-rules.md", marks: nil, lines: strict.lines(.table)),
    ]

    @Test("The documents and the golden tables are what the machine does", arguments: printed) func documents(printed: Printed)
        throws
    {
        // Set by `make table`.
        let isWriting = ProcessInfo.processInfo.environment["HOTSPOTD_WRITE_TABLES"] != nil
        let old = isWriting && printed.marks == nil ? "" : try Checkout.text(printed.file)
        var lines = old.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        var part = lines.startIndex..<lines.endIndex
        if let marks = printed.marks {
            let begin = try #require(lines.firstIndex(of: marks.begin), "\(printed.file) has no \(marks.begin)")
            part = (begin + 1)..<(try #require(lines.firstIndex(of: marks.end), "\(printed.file) has no \(marks.end)"))
        }
        let new = printed.marks == nil ? printed.lines + [""] : printed.lines
        guard isWriting else {
            #expect(Array(lines[part]) == new, "\(printed.file) is not what the machine does; make table writes it")
            return
        }
        lines.replaceSubrange(part, with: new)
        try lines.joined(separator: "\n").write(toFile: "\(Checkout.path)/\(printed.file)", atomically: true, encoding: .utf8)
    }

    @Test("The edge list is short enough to be read") func length() { #expect(Self.ours.lines(.edges).count <= 60) }

    @Test("Every state and every place of the walks is there", arguments: [ours, strict]) func complete(table: TransitionTable) {
        #expect(Set(table.places.map(\.state)) == Set(StateName.allCases))
        #expect(Set(table.places).count == table.places.count)
        for row in table.rows {
            #expect(table.places.contains(row.place) && table.places.contains(row.next), "\(row)")
        }
        // The table has every place that a random walk reaches, except races with another number of helpers.
        var walker = Walker(seed: 3, policy: table.policy)
        var strangers: Set<TransitionTable.TablePlace> = []
        while walker.events < 20_000 {
            walker.step()
            let place = walker.bench.machine.state.place(table.policy)
            if place.state != .evaluating, !table.places.contains(place) { strangers.insert(place) }
        }
        #expect(strangers.isEmpty)
    }

    @Test("Rows that other tests assert by hand") func rows() {
        func row(_ state: StateName, _ phase: String, _ event: String) -> TransitionTable.TableRow? {
            Self.ours.rows.first { $0.place == .init(state: state, phase: phase) && $0.events.contains(event) }
        }
        let won = row(.evaluating, "2 silent, verdict awaited", "answer high")
        #expect(won?.next == .init(state: .authenticating, phase: "command runs"))
        #expect(won?.actions == ["acquit", "send authenticate", "start timer command"])
        #expect(row(.authenticated, "claimed", "timer maintain")?.next.state == .maintaining)
        #expect(row(.authenticated, "claimed", "logoff requested by another helper") == nil)
        #expect(row(.loggingOff, "probe of the logoff runs", "verdict captive")?.next == .init(state: .inactive, phase: "held"))
        let unended = TransitionTable.TablePlace(state: .inactive, phase: "held, logoff not confirmed")
        #expect(row(.loggingOff, "command runs", "answer failure")?.next.phase == "probe of the logoff runs, not confirmed")
        #expect(row(.loggingOff, "last probe of the logoff runs, not confirmed", "verdict online")?.next == unended)
        #expect(row(.inactive, unended.phase, "logoff requested by the user")?.actions.contains("send logoff") == true)
        #expect(row(.authenticating, "last probe of the proof runs", "verdict captive")?.next.state == .failure)
        #expect(Self.strict.rows.contains { $0.actions.contains("end link") })
        #expect(!Self.ours.rows.contains { $0.actions.contains("end link") })
    }

    @Test("An answer in time is no miss") func answers() {
        for table in [Self.ours, Self.strict] {
            for row in table.rows where row.actions.contains(where: { $0.hasPrefix("strike") }) {
                #expect(!row.events.contains { $0.hasPrefix("answer") }, "\(row)")
            }
        }
    }

    @Test("Invariants hold in every row of both tables") func invariants() {
        for table in [Self.ours, Self.strict] {
            for row in table.rows where row.events.contains("address lost") {
                #expect(row.next == .init(state: .inactive, phase: "no address"))
            }
            for place in table.places where place.state != .inactive {
                #expect(!table.ignored(in: place).contains("address lost"), "\(place)")
            }
            for row in table.rows where row.next.state == .authenticated && row.place.state != .authenticated {
                #expect(
                    !row.events.contains("verdict captive")
                        && row.actions.contains("open gate")
                            != (row.place.state == .maintaining && row.place.phase.hasPrefix("by the timer")),
                    "\(row)")
            }
        }
    }

    @Test("The same machine gives the same table") func deterministic() { #expect(TransitionTable() == Self.ours) }

    @Test("The edges and the table name each state", arguments: TransitionTable.Format.allCases) func names(
        format: TransitionTable.Format
    ) {
        let text = Self.ours.lines(format).joined(separator: "\n")
        for state in StateName.allCases { #expect(text.contains(state.rawValue), "\(state) in \(format)") }
    }
}
