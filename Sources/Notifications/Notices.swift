import ControlAPI
import ForeignText
import HotspotCore

/// One notification.
struct Notice: Equatable {
    enum Kind { case question, offer, online, ending, failed }

    var kind: Kind
    var title: String
    /// Plain text; ``NotificationBus`` escapes it if the server reads markup.
    var body: String
    /// The command to type if the notification server shows no buttons.
    var command: String?
    /// The buttons, in their order on the screen.
    var actions: [Action] = []
}

/// The subject of a notification; a later notice of the same subject replaces it.
enum Subject: Hashable {
    case interface(String)
    /// An offer of a paired laptop, by the offer's ID.
    case offer(String)
    /// A question of a paired laptop, by the question's ID and the laptop's ID.
    case question(String, of: String)
}

/// A button.
enum Action: String, CaseIterable {
    case answer, browse, retry, accept

    var label: String {
        switch self {
        case .answer: "Answer"
        case .browse: "Open browser"
        case .retry: "Try again"
        case .accept: "Use this login"
        }
    }

    /// Whether a click on the notification itself counts as a click on this button. An offer is accepted only with its own button, because accepting
    /// stores or sends the offered answers.
    var isDefault: Bool { self != .accept }
}

/// Decides which notifications a status calls for: at most one for each visit, unless something needs the user.
struct Notices {
    enum Order: Equatable {
        /// Shows a notice; it replaces the notice of this subject, if there is one.
        case show(Notice, of: Subject)
        case close(Subject)
    }

    /// How long before the end of a session a notification announces it, in milliseconds.
    static let notice = 5 * 60_000

    private struct Visit {
        let ssid: String
        /// The identifier of the question that was shown.
        var asked: String?
        /// The identifier of the question that a click answers.
        var clicked: String?
        var isAsking = false
        var isWelcomed = false
        /// The failure that was shown since the last question.
        var failure: String?
        /// The end of the session: Unix time in milliseconds.
        var ends: Int?
        var isWarned = false
    }

    private var visits: [String: Visit] = [:]
    private var hasBegun = false
    private var last: StatusReply?
    /// The interfaces for which a click opened a dialog, terminal or browser that still runs. That program asks the user, so no notification
    /// does.
    private(set) var open: Set<String> = []
    /// Returns the fields of a prompt, if this user may see them.
    private let fields: (String) -> PendingPrompt?

    init(fields: @escaping (String) -> PendingPrompt? = { _ in nil }) { self.fields = fields }

    /// The next time at which ``orders(at:)`` has an order, in milliseconds of Unix time.
    var next: Int? { visits.values.filter { !$0.isWarned }.compactMap(\.ends).min().map { $0 - Self.notice } }

    /// Returns the orders for a status. Logins that had ended before the first status are not mentioned.
    mutating func orders(for status: StatusReply, at now: Int) -> [Order] {
        var orders: [Order] = []
        last = status
        for (name, visit) in visits where !status.interfaces.contains(where: { $0.interface == name && $0.ssid == visit.ssid }) {
            visits[name] = nil
            if visit.isAsking { orders.append(.close(.interface(name))) }
        }
        for interface in status.interfaces {
            guard let ssid = interface.ssid else { continue }
            var visit = visits[interface.interface] ?? Visit(ssid: ssid)
            orders += self.orders(for: interface, &visit, at: now, isFirst: !hasBegun)
            visits[interface.interface] = visit
        }
        hasBegun = true
        return orders + self.orders(at: now)
    }

    /// Returns the orders for the sessions that end soon.
    mutating func orders(at now: Int) -> [Order] {
        visits.keys.sorted().compactMap { name in
            guard let visit = visits[name], let ends = visit.ends, !visit.isWarned, ends - now <= Self.notice else { return nil }
            visits[name]?.isWarned = true
            let minutes = max(1, (ends - now + 59_999) / 60_000)
            let notice = Notice(
                kind: .ending, title: Self.title(visit.ssid),
                body: "The session ends in \(minutes) min; hotspotd logs in again then.")
            return .show(notice, of: .interface(name))
        }
    }

    /// Notes that a click opened a program for this interface.
    mutating func opened(on interface: String) {
        open.insert(interface)
        guard var visit = visits[interface] else { return }
        visit.clicked = visit.asked
        visits[interface] = visit
    }

    /// Notes that the program has ended. Shows a waiting question again, unless the program was opened for this question and succeeded: then the
    /// question may still be open in a terminal.
    ///
    /// - Parameter problem: why the program failed, in the program's words; `nil` if it did not fail.
    mutating func closed(on interface: String, hasAnswered: Bool, problem: String?, at now: Int) -> [Order] {
        open.remove(interface)
        guard let status = last?.interfaces.first(where: { $0.interface == interface }), status.ssid != nil else { return [] }
        if status.prompt == nil {
            guard let problem, status.state != StateName.failure.rawValue else { return [] }
            return [.show(Self.failed(status, problem), of: .interface(interface))]
        }
        guard !hasAnswered || status.prompt != visits[interface]?.clicked else { return [] }
        var notice = question(status)
        if let problem { notice.body = "\(problem)\n\(notice.body)" }
        return [.show(notice, of: .interface(interface))]
    }

    private func orders(for interface: InterfaceStatus, _ visit: inout Visit, at now: Int, isFirst: Bool) -> [Order] {
        let name = interface.interface
        let isOnline =
            interface.captive == false && interface.helper != nil
            && [StateName.authenticated.rawValue, StateName.maintaining.rawValue].contains(interface.state)
        visit.ends = isOnline ? interface.secondsRemaining.map { now + $0 * 1000 } : nil
        // After a renewal of the session, the new end is announced again.
        if let ends = visit.ends, ends - now > Self.notice { visit.isWarned = false }
        if let prompt = interface.prompt {
            guard prompt != visit.asked else { return [] }
            (visit.asked, visit.isAsking, visit.failure) = (prompt, true, nil)
            return open.contains(name) ? [] : [.show(question(interface), of: .interface(name))]
        }
        let wasAsking = visit.isAsking
        visit.isAsking = false
        if interface.state == StateName.failure.rawValue, interface.captive == true || visit.asked != nil {
            let reason = interface.problems.first?.message ?? "The login failed."
            guard visit.failure != reason else { return [] }
            visit.failure = reason
            return [.show(Self.failed(interface, Self.shown(reason)), of: .interface(name))]
        }
        guard isOnline, !visit.isWelcomed else { return wasAsking ? [.close(.interface(name))] : [] }
        visit.isWelcomed = true
        if isFirst { return [] }
        let left = interface.secondsRemaining.map { ", \(Self.duration($0)) left" } ?? ""
        // This notification already shows the remaining time, so the end of a short session is not announced again.
        if let ends = visit.ends, ends - now <= Self.notice { visit.isWarned = true }
        return [.show(Notice(kind: .online, title: Self.title(visit.ssid), body: "Online\(left)."), of: .interface(name))]
    }

    private static func failed(_ interface: InterfaceStatus, _ reason: String) -> Notice {
        let retry = interface.nextLogin == nil ? "" : " hotspotd tries again automatically."
        return Notice(
            kind: .failed, title: title(interface.ssid ?? ""), body: reason + retry, command: "hotspotctl login --wait",
            actions: interface.captive == true ? [.retry, .browse] : [.retry])
    }

    private func question(_ interface: InterfaceStatus) -> Notice {
        let isBrowser = interface.handsOver == true
        let title = Self.title(interface.ssid ?? "")
        // Offers only the dialog, which shows the warning before each way into the portal. A browser that starts without a terminal cannot ask.
        if let warning = interface.warning {
            return Notice(
                kind: .question, title: title, body: Printable.text(warning, limit: 600), command: "hotspotctl answer",
                actions: [.answer])
        }
        let portal = interface.portal.map { " (\(Origin.shortened(Printable.text($0, limit: 300))))" } ?? ""
        let asked = isBrowser ? nil : interface.prompt.flatMap(fields).flatMap(Self.things)
        let reason = isBrowser ? nil : interface.reason.map { "\n│ \(Printable.shown(Blanks.collapsed($0), limit: 300))" }
        return Notice(
            kind: .question, title: title,
            body: "The portal\(portal) "
                + (isBrowser ? "needs a browser." : "asks \(asked.map { "for \($0)" } ?? "something").") + (reason ?? ""),
            command: isBrowser ? "hotspotctl browse" : "hotspotctl answer", actions: isBrowser ? [.browse] : [.answer, .browse])
    }

    /// Returns the things that a prompt asks for. The portal's words are in quotation marks.
    private static func things(_ prompt: PendingPrompt) -> String? {
        guard prompt.withheld != true else { return nil }
        return things(prompt.fields, hasTerms: prompt.terms != nil || prompt.termsURL != nil)
    }

    /// Returns the names of the fields, terms and boxes in one list of words; `nil` if there are none.
    static func things(_ fields: [Field], hasTerms: Bool) -> String? {
        let asked = fields.filter { $0.kind != .checkbox }
        var things = asked.prefix(3).map { field in quoted([field.label, field.name].first { !$0.isEmpty } ?? "") }
        if asked.count > things.count { things.append("\(asked.count - things.count) more") }
        if hasTerms || asked.count < fields.count { things.append("your consent") }
        guard let last = things.popLast() else { return nil }
        return things.isEmpty ? last : "\(things.joined(separator: ", ")) and \(last)"
    }

    /// Returns words of others in quotation marks. Removes quotation marks from the words, so that they cannot end the quotation.
    static func quoted(_ words: String) -> String {
        "“\(Printable.shown(Blanks.collapsed(words), limit: 60).filter { !"“”\"".contains($0) })”"
    }

    /// Returns a sentence of the daemon, and below it the words of a helper or portal.
    private static func shown(_ message: String) -> String {
        let (own, others) = QuotedProblem.split(message)
        func safe(_ text: String) -> String { Printable.shown(Blanks.collapsed(text), limit: 400) }
        return safe(own) + (others.map { "\n│ \(safe($0))" } ?? "")
    }

    static func title(_ ssid: String) -> String {
        ssid.hasPrefix("wired:") ? "Wired network" : Printable.shown(ssid, limit: 128)
    }

    private static func duration(_ seconds: Int) -> String {
        seconds < 3600 ? "\(max(1, seconds / 60)) min" : "\(seconds / 3600) h \(seconds % 3600 / 60) min"
    }
}
