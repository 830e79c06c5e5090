import HotspotCore
import Testing

@testable import HotspotMachine

/// The result × command matrix of `docs/machine-rules.md`, cell by cell.
@Suite struct MatrixTests {
    struct Cell: Equatable {
        var state: StateName
        var held: [HoldReason] = []
        var excluded = false
    }

    enum Reaction: CaseIterable {
        case success, failure, uiRequired, commandNotRecognized, authenticationRequired, unsupportedNetwork, temporaryFailure
        case silence, death, garbage

        var answer: CommandAnswer? {
            switch self {
            case .success: .replied(.success)
            case .failure: .replied(.failure)
            case .uiRequired: .replied(.uiRequired)
            case .commandNotRecognized: .replied(.commandNotRecognized)
            case .authenticationRequired: .replied(.authenticationRequired)
            case .unsupportedNetwork: .replied(.unsupportedNetwork)
            case .temporaryFailure: .replied(.temporaryFailure)
            case .silence: nil
            case .death: .crashed
            case .garbage: .garbled(reason: nil)
            }
        }
    }

    /// filterScanList has no part in the machine (behaviour 31); FilterCycleTests has its column.
    static let commands: [Command] = [.evaluate, .authenticate, .presentUI, .maintain, .logoff]

    func expected(_ row: Reaction, _ command: Command, _ rules: Policy.Rules) -> Cell {
        let isStrict = rules == .strict
        // Strict rules end the link; the default rules keep it and rest.
        let failed: StateName = isStrict ? .inactive : .failure
        let end = Cell(state: .inactive, held: [.loggedOff])
        let fatal = Cell(state: failed, held: [.autoJoinOff])
        switch (command, row) {
        case (.evaluate, .silence), (.evaluate, .death): return Cell(state: .authenticated)
        case (.evaluate, _): return Cell(state: .authenticated)
        case (.authenticate, .success), (.presentUI, .success), (.maintain, .success): return Cell(state: .authenticated)
        case (.authenticate, .uiRequired): return Cell(state: .presentingUI)
        case (.authenticate, .unsupportedNetwork), (.presentUI, .unsupportedNetwork):
            return Cell(state: .evaluating, excluded: true)
        case (.authenticate, .temporaryFailure), (.presentUI, .temporaryFailure): return Cell(state: failed)
        case (.authenticate, .silence), (.authenticate, .death): return isStrict ? fatal : Cell(state: failed)
        case (.authenticate, .failure), (.authenticate, .commandNotRecognized), (.authenticate, .authenticationRequired),
            (.authenticate, .garbage), (.presentUI, .garbage):
            return fatal
        case (.presentUI, .uiRequired): return isStrict ? fatal : Cell(state: .presentingUI)
        case (.presentUI, .silence), (.presentUI, .death): return Cell(state: .presentingUI)
        case (.presentUI, .failure), (.presentUI, .commandNotRecognized), (.presentUI, .authenticationRequired): return fatal
        case (.maintain, .authenticationRequired): return Cell(state: .authenticating)
        case (.maintain, .uiRequired): return Cell(state: isStrict ? .evaluating : .authenticating)
        case (.maintain, _): return Cell(state: .evaluating)
        case (.logoff, _): return end
        case (.filterScanList, _): preconditionFailure("the machine never asks it")
        }
    }

    @Test("Result × command", arguments: Policy.Rules.allCases, commands) func matrix(rules: Policy.Rules, command: Command) {
        for row in Reaction.allCases {
            var bench = Bench(rules, "H1")
            bench.join(canDisassociate: true)
            switch command {
            case .filterScanList, .evaluate: break
            case .authenticate: bench.bid("H1", .high)
            case .presentUI:
                bench.ask("H1")
                bench.send(.promptAnswered(bench.prompt!.id))
            case .maintain:
                bench.login("H1")
                bench.wait(.seconds(300))
            case .logoff:
                bench.login("H1")
                bench.send(.logoffRequested(by: .user))
            }
            #expect(bench.open("H1")?.command == command)
            if command == .evaluate || command == .maintain { bench.probe(.online) }
            if let answer = row.answer { bench.answer("H1", answer) } else { bench.wait(.seconds(45)) }
            if row == .garbage {
                #expect(!bench.last.contains(.acquit(helper: "H1")) && bench.strikes["H1"] == nil, "\(command): neither (D7)")
            }
            if row == .success, command == .authenticate || command == .presentUI { bench.probe(.online) }
            if command == .logoff { bench.look(row == .success ? .captive : .online) }
            let cell = Cell(
                state: bench.state, held: bench.holds,
                excluded: bench.machine.state.joined?.record.excluded.contains("H1") ?? false)
            #expect(cell == expected(row, command, rules), "\(row) to \(command), \(rules)")
        }
    }

    @Test func theConfidencesOfEvaluate() {
        for (confidence, state) in [
            (Confidence.none, StateName.authenticated), (.low, .authenticating), (.high, .authenticating),
        ] {
            var bench = Bench(.default, "H1")
            bench.join()
            bench.probe(.online)
            bench.bid("H1", confidence)
            #expect(bench.state == state)
        }
    }
}
