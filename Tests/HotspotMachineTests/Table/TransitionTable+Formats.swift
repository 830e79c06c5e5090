import HotspotCore

@testable import HotspotMachine

extension TransitionTable {
    enum Format: String, CaseIterable, Sendable {
        /// The edges between states, one line each.
        case edges
        /// State × event → next state and actions, in full.
        case table
    }

    func lines(_ format: Format) -> [String] {
        switch format {
        case .edges: edges
        case .table: table
        }
    }

    /// One line of the edge list.
    private struct Edge {
        let from: StateName
        let to: StateName
        var events: [String]
    }

    /// The edges between states. Events that lead to the same state from everywhere are listed apart.
    private var stateEdges: [Edge] {
        let common = Set(everywhere.map(\.event))
        var edges: [Edge] = []
        for row in rows where row.place.state != row.next.state {
            let events = row.events.filter { !(common.contains($0) && row.place.state != .inactive) }
            guard !events.isEmpty else { continue }
            if let index = edges.firstIndex(where: { $0.from == row.place.state && $0.to == row.next.state }) {
                edges[index].events += events.filter { !edges[index].events.contains($0) }
            } else {
                edges.append(Edge(from: row.place.state, to: row.next.state, events: events))
            }
        }
        return edges
    }

    /// The events that end the standing login whatever its ground is.
    private var endsOfStanding: [String] {
        let ends = standing.filter { $0.from != nil && $0.to == nil }.map(\.events)
        return (ends.first ?? []).filter { event in
            ends.allSatisfy { $0.contains(event) }
                && standing.allSatisfy { $0.from == nil || $0.to == nil || !$0.events.contains(event) }
        }
    }

    /// The other changes of the standing login, by their grounds.
    private var standingEdges: [StandingEdge] {
        let grounds: [StandingLogin.Ground.Name?] = [nil] + StandingLogin.Ground.Name.allCases
        return grounds.flatMap { from in
            grounds.compactMap { to in
                guard var edge = standing.first(where: { $0.from == from && $0.to == to }) else { return nil }
                if from != nil, to == nil { edge.events.removeAll(where: endsOfStanding.contains) }
                return edge.events.isEmpty ? nil : edge
            }
        }
    }

    private var edges: [String] {
        func line(_ from: String, _ events: [String], _ to: String) -> String {
            "| \(from) | \(events.joined(separator: "; ")) | \(to) |"
        }
        var lines = ["| From | On | To |", "|---|---|---|"]
        lines += stateEdges.map { line($0.from.rawValue, $0.events, $0.to.rawValue) }
        for state in StateName.allCases {
            let events = everywhere.filter { $0.next == state }.map(\.event)
            if !events.isEmpty { lines.append(line("every state but inactive", events, state.rawValue)) }
        }
        lines += [
            "", "The login that stands beside the state (`StandingLogin.swift`):", "", "| From | On | To |", "|---|---|---|",
        ]
        lines += standingEdges.map { line($0.from?.rawValue ?? "none", $0.events, $0.to?.rawValue ?? "none") }
        if !endsOfStanding.isEmpty { lines.append(line("every login", endsOfStanding, "none")) }
        return lines
    }

    private var table: [String] {
        let common = Set(everywhere.map(\.event))
        var lines = ["From every state but inactive:", ""]
        lines += everywhere.map { "- \($0.event) leads to **\($0.next.rawValue)**" }
        for state in StateName.allCases {
            if !lines.isEmpty { lines.append("") }
            lines += ["### \(state.rawValue)"]
            for place in places where place.state == state {
                lines += ["", "**\(state.rawValue): \(place.phase)**", "", "| On | Next | Do |", "|---|---|---|"]
                for row in rows where row.place == place {
                    let events = state == .inactive ? row.events : row.events.filter { !common.contains($0) }
                    guard !events.isEmpty else { continue }
                    let next =
                        row.next == place
                        ? "*stays*"
                        : row.next.state == state ? row.next.phase : "**\(row.next.state.rawValue)**: \(row.next.phase)"
                    lines.append("| \(events.joined(separator: "; ")) | \(next) | \(row.actions.joined(separator: ", ")) |")
                }
            }
        }
        return lines
    }
}
