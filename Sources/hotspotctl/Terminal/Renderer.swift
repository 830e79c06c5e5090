import ForeignText
import Glibc
import HotspotCore

struct Style: Equatable {
    var colour: Bool
    /// Whether lines may contain characters beyond ASCII.
    var unicode: Bool

    static let plain = Style(colour: false, unicode: true)

    /// Colour only on terminals, unless NO_COLOR is set; characters beyond ASCII if the locale supports them.
    static var ofThisTerminal: Style {
        func variable(_ name: String) -> String { getenv(name).map { String(cString: $0) } ?? "" }
        let locale = ["LC_ALL", "LC_CTYPE", "LANG"].map(variable).first { !$0.isEmpty } ?? ""
        let charset = locale.lowercased()
        return Style(
            colour: Output.isTerminal && variable("NO_COLOR").isEmpty && variable("TERM") != "dumb",
            unicode: charset.contains("utf-8") || charset.contains("utf8"))
    }
}

/// Turns replies into lines for people. All foreign text passes through ``safe(_:limit:)`` or ``name(_:)``.
struct Renderer {
    var style: Style
    /// Whether tables have a heading.
    var legend = true
    /// The width of the terminal, into which tables fit.
    var columns: Int?
    /// Unix time in milliseconds.
    var now: Int
    var portals = PortalNames()

    enum Tone: String {
        case good = "32", busy = "33", bad = "31", faint = "2", strong = "1"
    }

    /// Returns foreign text without control characters, and without runs of blanks, which could move a part of it to a line of its own. Parts that
    /// the daemon has escaped stay as they are.
    static func safe(_ text: String, limit: Int = 400) -> String { Printable.shown(Blanks.collapsed(text), limit: limit) }

    func safe(_ text: String, limit: Int = 400) -> String { Self.safe(text, limit: limit) }

    /// Returns the label of a prompt's field; without a label, its name; without a name, its number from 1.
    func label(_ field: Field, at place: Int) -> String {
        [field.label, field.name].lazy.map { safe($0, limit: 200) }.first { !$0.isEmpty } ?? "field \(place)"
    }

    /// Returns an SSID in its printable form. The daemon sends that form; anything else is escaped here.
    func name(_ ssid: String) -> String {
        guard !ssid.isEmpty else { return "(no name)" }
        guard let octets = Printable.octets(of: ssid) else { return Printable.text(ssid, limit: 128) }
        return Printable.text(of: octets.prefix(64))
    }

    /// Returns an SSID as it appears within or before a sentence.
    func quoted(_ ssid: String) -> String {
        ssid.isEmpty ? name(ssid) : "\"\(name(ssid).replacing("\"", with: "\\x22"))\""
    }

    func origin(_ text: String) -> String { Origin.shortened(safe(text, limit: 300)) }

    /// The bar before text from portals and helpers, including names of fields.
    var bar: String { sign("│", "|") }

    /// Returns a sentence of the daemon, and below it the words of a helper or portal, if there are any.
    func sentence(_ text: String, limit: Int = 400) -> (own: String, others: [String]) {
        let (sentence, words) = QuotedProblem.split(text)
        return (safe(sentence, limit: limit), words.map { ["  \(bar) \(safe($0, limit: limit))"] } ?? [])
    }

    func tone(_ text: String, _ tone: Tone) -> String { style.colour ? "\u{1B}[\(tone.rawValue)m\(text)\u{1B}[0m" : text }

    /// Returns a sign, or its substitute in ASCII.
    func sign(_ sign: String, _ ascii: String) -> String { style.unicode ? sign : ascii }

    var nothing: String { sign("–", "-") }

    /// Returns four bars and the power in dBm.
    func signal(_ dBm: Int) -> String {
        guard dBm < 0 else { return nothing }
        let bars = dBm >= -55 ? 4 : dBm >= -67 ? 3 : dBm >= -75 ? 2 : 1
        let shapes = style.unicode ? ["▂", "▄", "▆", "█"] : ["#", "#", "#", "#"]
        return shapes.prefix(bars).joined() + String(repeating: "_", count: 4 - bars) + " \(dBm)"
    }

    func security(_ word: String) -> String {
        switch Security(rawValue: word) {
        case .open: "open"
        case .owe: "OWE"
        case .wep: "WEP"
        case .psk: "WPA2"
        case .sae: "WPA3"
        case .enterprise: "802.1X"
        case .wired: "wired"
        case .unknown, nil: safe(word, limit: 16)
        }
    }

    func lines(_ problem: Problem) -> [String] { lines(problem, of: nil) }

    /// Returns a problem and its hint, with the owner's name unless the problem's sentence begins with that name.
    func lines(_ problem: Problem, of owner: String?) -> [String] {
        let name = owner.flatMap { problem.message.hasPrefix($0) ? nil : "\(safe($0, limit: 64)): " } ?? ""
        let (own, others) = sentence(problem.message)
        var lines = ["  \(tone("!", .bad)) \(name)\(own)"] + others
        if let hint = problem.hint, !hint.isEmpty { lines.append("    try: \(safe(hint))") }
        return lines
    }

    /// Returns a line about the elements that did not fit into the reply.
    func more(_ omitted: Int?, _ what: String) -> [String] {
        guard let omitted, omitted > 0 else { return [] }
        return ["\(omitted) more \(what) are not shown, because the reply would be too long."]
    }

    /// Returns the number of cells that a text occupies in a terminal: none for combining marks and colours, two for wide East Asian characters.
    static func width(_ text: String) -> Int {
        var width = 0
        var inEscape = false
        for scalar in text.unicodeScalars {
            if inEscape {
                inEscape = scalar != "m"
            } else if scalar == "\u{1B}" {
                inEscape = true
            } else {
                width += self.width(scalar)
            }
        }
        return width
    }

    /// Returns the number of cells that a character occupies. If terminals differ, the larger number counts, because a line that is too long would
    /// continue at the left edge.
    static func width(_ scalar: Unicode.Scalar) -> Int {
        switch scalar.properties.generalCategory {
        // The variation selector makes the character before it a picture of two cells, so the selector counts as the second cell.
        case .nonspacingMark, .enclosingMark, .format: scalar == "\u{FE0F}" ? 1 : 0
        default: isWide(scalar) ? 2 : 1
        }
    }

    /// Returns whether a character is two cells wide: the main blocks of Unicode's East Asian Width W and F, and pictures.
    private static func isWide(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x1100...0x115F, 0x2329...0x232A, 0x2630...0x2637, 0x268A...0x268F,
            0x2E80...0x303E, 0x3041...0xA4CF, 0xA960...0xA97F,
            0xAC00...0xD7A3,
            0xF900...0xFAFF, 0xFE10...0xFE19, 0xFE30...0xFE6F, 0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x16FE0...0x18DFF,
            0x1AFF0...0x1B2FF, 0x1D300...0x1D37F, 0x1F200...0x1F265, 0x1F300...0x1F6FF, 0x1F900...0x1FAFF, 0x20000...0x3FFFD:
            true
        default: scalar.properties.isEmojiPresentation
        }
    }
}
