import ControlAPI
import ForeignText
import HotspotCore

/// One notification.
struct Notice: Equatable {
    enum Kind { case question, online, ending }

    var kind: Kind
    var title: String
    /// Plain text; ``NotificationBus`` escapes it where the server reads markup.
    var body: String
    /// The command for people whose server shows no buttons.
    var command: String?
    /// The words on the buttons by their keys.
    var actions: [Action] = []
}

/// A button.
enum Action: String, CaseIterable {
    case answer, browse

    var label: String {
        switch self {
        case .answer: "Answer"
        case .browse: "Open browser"
        }
    }
}

/// Decides which notifications a status calls for: at most one for each visit, unless something needs the user.
struct Notices {
    enum Order: Equatable {
        /// In place of the one that this interface has, if it has one.
        case show(Notice, interface: String)
        case close(interface: String)
    }

    /// How long before its end a session is mentioned, in milliseconds.
    static let notice = 5 * 60_000

    private struct Visit {
        let ssid: String
        /// The question that was shown.
        var asked: String?
        var isAsking = false
        var isWelcomed = false
        /// Unix time in milliseconds.
        var ends: Int?
        var isWarned = false
    }

    private var visits: [String: Visit] = [:]
    private var hasBegun = false

    /// The moment at which ``orders(at:)`` has something to say, in milliseconds of Unix time.
    var next: Int? { visits.values.filter { !$0.isWarned }.compactMap(\.ends).min().map { $0 - Self.notice } }

    /// Returns what a status calls for. Logins that were done before the first one are not mentioned.
    mutating func orders(for status: StatusReply, at now: Int) -> [Order] {
        var orders: [Order] = []
        for (name, visit) in visits where !status.interfaces.contains(where: { $0.interface == name && $0.ssid == visit.ssid }) {
            visits[name] = nil
            if visit.isAsking { orders.append(.close(interface: name)) }
        }
        for interface in status.interfaces {
            guard let ssid = interface.ssid else { continue }
            var visit = visits[interface.interface] ?? Visit(ssid: ssid)
            orders += Self.orders(for: interface, &visit, at: now, isFirst: !hasBegun)
            visits[interface.interface] = visit
        }
        hasBegun = true
        return orders + self.orders(at: now)
    }

    /// Returns the sessions that are about to end.
    mutating func orders(at now: Int) -> [Order] {
        visits.keys.sorted().compactMap { name in
            guard let visit = visits[name], let ends = visit.ends, !visit.isWarned, ends - now <= Self.notice else { return nil }
            visits[name]?.isWarned = true
            let minutes = max(1, (ends - now + 59_999) / 60_000)
            let notice = Notice(
                kind: .ending, title: Self.title(visit.ssid),
                body: "The session ends in \(minutes) min; hotspotd logs in again then.")
            return .show(notice, interface: name)
        }
    }

    private static func orders(
        for interface: InterfaceStatus, _ visit: inout Visit, at now: Int, isFirst: Bool
    ) -> [Order] {
        let name = interface.interface
        let isOnline =
            interface.captive == false && interface.helper != nil
            && [StateName.authenticated.rawValue, StateName.maintaining.rawValue].contains(interface.state)
        visit.ends = isOnline ? interface.secondsRemaining.map { now + $0 * 1000 } : nil
        // It was renewed.
        if let ends = visit.ends, ends - now > notice { visit.isWarned = false }
        if let prompt = interface.prompt {
            guard prompt != visit.asked else { return [] }
            (visit.asked, visit.isAsking) = (prompt, true)
            return [.show(question(interface), interface: name)]
        }
        let wasAsking = visit.isAsking
        visit.isAsking = false
        guard isOnline, !visit.isWelcomed else { return wasAsking ? [.close(interface: name)] : [] }
        visit.isWelcomed = true
        if isFirst { return [] }
        let left = interface.secondsRemaining.map { ", \(duration($0)) left" } ?? ""
        // A short session needs no second notification.
        if let ends = visit.ends, ends - now <= notice { visit.isWarned = true }
        return [.show(Notice(kind: .online, title: title(visit.ssid), body: "Online\(left)."), interface: name)]
    }

    private static func question(_ interface: InterfaceStatus) -> Notice {
        let isBrowser = interface.handsOver == true
        let title = title(interface.ssid ?? "")
        // The dialogue shows the warning before each way into the portal. A browser that starts without a terminal cannot ask.
        if let warning = interface.warning {
            return Notice(
                kind: .question, title: title, body: Printable.text(warning, limit: 600), command: "hotspotctl answer",
                actions: [.answer])
        }
        let portal = interface.portal.map { " (\(Origin.shortened(Printable.text($0, limit: 300))))" } ?? ""
        return Notice(
            kind: .question, title: title,
            body: isBrowser ? "The portal\(portal) needs a browser." : "The portal\(portal) asks something.",
            command: isBrowser ? "hotspotctl browse" : "hotspotctl answer", actions: isBrowser ? [.browse] : [.answer, .browse])
    }

    private static func title(_ ssid: String) -> String {
        ssid.hasPrefix("wired:") ? "Wired network" : Printable.shown(ssid, limit: 128)
    }

    private static func duration(_ seconds: Int) -> String {
        seconds < 3600 ? "\(max(1, seconds / 60)) min" : "\(seconds / 3600) h \(seconds % 3600 / 60) min"
    }
}
