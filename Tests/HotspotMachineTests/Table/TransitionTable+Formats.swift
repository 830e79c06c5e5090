import HotspotCore

@testable import HotspotMachine

extension TransitionTable {
    enum Format: String, CaseIterable, Sendable {
        /// A state diagram for Mermaid.
        case mermaid
        /// The table for documents.
        case markdown
    }

    func lines(_ format: Format) -> [String] {
        switch format {
        case .mermaid: mermaid
        case .markdown: markdown
        }
    }

    /// One arrow of the picture.
    private struct Arrow {
        let from: StateName
        let to: StateName
        var events: [String]
    }

    /// The arrows between states. What leads to the same state from everywhere is listed apart.
    private var arrows: [Arrow] {
        let common = Set(everywhere.map(\.event))
        var arrows: [Arrow] = []
        for row in rows where row.place.state != row.next.state {
            let events = row.events.filter { !(common.contains($0) && row.place.state != .inactive) }
            guard !events.isEmpty else { continue }
            if let index = arrows.firstIndex(where: { $0.from == row.place.state && $0.to == row.next.state }) {
                arrows[index].events += events.filter { !arrows[index].events.contains($0) }
            } else {
                arrows.append(Arrow(from: row.place.state, to: row.next.state, events: events))
            }
        }
        return arrows
    }

    private var everywhereWords: [String] { everywhere.map { "\($0.event) → \($0.next.rawValue)" } }

    private func wrapped(_ events: [String], by separator: String) -> String {
        var lines: [String] = []
        for event in events {
            if let last = lines.last, last.utf8.count + event.utf8.count < 40 {
                lines[lines.count - 1] = last + ", " + event
            } else {
                lines.append(event)
            }
        }
        return lines.joined(separator: separator)
    }

    private var mermaid: [String] {
        var lines = ["stateDiagram-v2", "    [*] --> inactive"]
        for arrow in arrows {
            lines.append("    \(arrow.from.rawValue) --> \(arrow.to.rawValue) : \(wrapped(arrow.events, by: "<br/>"))")
        }
        lines.append("    note right of inactive")
        lines.append("        From every other state")
        lines += everywhereWords.map { "        \($0)" }
        lines.append("    end note")
        return lines
    }

    private var markdown: [String] {
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
