import ForeignText
import HelperKit
import HotspotCore
import PageLogin

/// Reads a `.portal` file. Every mistake names its line.
package struct PortalFileParser {
    private static let lineLimit = 1024
    /// The largest number of sections of each repeatable kind.
    private static let limits = ["Match": 8, "Step": 16, "Failure": 16]
    static let keys = [
        "Match": ["Host", "Path", "Query", "Status", "Header", "Body", "Lacks", "SSID"], "Portal": ["Name", "Ask", "Terms"],
        "Step": [
            "Open", "Post", "Submit", "Follow", "Probe", "Field", "JSON", "Body", "Type", "Header", "Redirects", "MayFail",
            "Wait",
            "When", "Until", "Times", "Set",
        ], "Success": ["When"], "Failure": ["When", "Means", "Text"], "Session": ["Open", "Seconds", "Used", "Bytes", "Header"],
        "Logoff": ["Open", "Post", "Field", "JSON", "Body", "Type", "Header"],
    ]
    /// The keys that repeat within a section.
    private static let repeated: Set = [
        "Ask", "Field", "Header", "When", "Until", "Set", "Host", "Path", "Query", "Status", "Body", "Lacks", "SSID",
    ]
    private static let sections = ["Match", "Portal", "Step", "Success", "Failure", "Session", "Logoff"]

    private typealias Entry = Keyfile.Entry
    private let keyfile: Keyfile

    /// Reads a file's octets; `nil` if the file is empty, so that it masks another file of the same name. Throws ``Keyfile/Error``.
    package static func parse(_ octets: [UInt8], file: String) throws(Keyfile.Error) -> PortalFile? {
        let keyfile = try Keyfile(octets, file: file)
        return keyfile.entries.isEmpty ? nil : try parse(keyfile)
    }

    /// Reads only the `[Match]` sections of a file; `nil` if the file is empty. Throws ``Keyfile/Error`` if they cannot be read;
    /// ``PortalOutline/whole()`` throws the mistakes in other sections.
    static func outline(_ octets: [UInt8], file: String) throws(Keyfile.Error) -> PortalOutline? {
        let keyfile = try Keyfile(octets, file: file)
        if keyfile.entries.isEmpty { return nil }
        let parser = PortalFileParser(keyfile: keyfile)
        var matches: [PortalFile.Match] = []
        do throws(Keyfile.Error) {
            for entries in parser.sections where entries[0].section == "Match" {
                try parser.check(entries)
                matches.append(try parser.match(entries, withLines: false))
            }
        } catch {
            // Reads the whole file, because its first mistake may be above this one.
            matches = try parser.read().matches
        }
        return PortalOutline(keyfile: keyfile, matches: matches)
    }

    /// Reads a whole file that is already split into entries. Throws ``Keyfile/Error``.
    static func parse(_ keyfile: Keyfile) throws(Keyfile.Error) -> PortalFile { try PortalFileParser(keyfile: keyfile).read() }

    /// Returns a file's name without its ending.
    static func id(of path: String) -> String {
        let base = path.split(separator: "/").last.map(String.init) ?? ""
        return base.hasSuffix(".portal") ? String(base.dropLast(7)) : base
    }

    /// The entries of each section.
    private var sections: [[Entry]] {
        var sections: [[Entry]] = []
        var rest = keyfile.entries[...]
        while let first = rest.first {
            sections.append(Array(rest.prefix { $0.sectionLine == first.sectionLine }))
            rest = rest.dropFirst(sections[sections.count - 1].count)
        }
        return sections
    }

    private func read() throws(Keyfile.Error) -> PortalFile {
        let id = Self.id(of: keyfile.file)
        guard HelperSpec.isName(id) else {
            throw mistake(0, "the file's name must be NAME.portal, with letters, digits, dots, hyphens or underscores")
        }
        var portal = PortalFile(id: id, file: keyfile.file)
        var lines: [String: [Int]] = [:]
        for entries in sections {
            let first = entries[0]
            try check(entries)
            let before = lines[first.section] ?? []
            lines[first.section] = before + [first.sectionLine]
            if let limit = Self.limits[first.section] {
                guard before.count < limit else {
                    throw mistake(first.sectionLine, "a file may contain at most \(limit) [\(first.section)]")
                }
            } else if let line = before.first {
                throw mistake(first.sectionLine, "[\(first.section)] is already in line \(line)")
            }
            switch first.section {
            case "Match": portal.matches.append(try match(entries, withLines: true))
            case "Portal": try readPortal(entries, &portal)
            case "Step": portal.steps.append(try step(entries))
            case "Success": portal.success = try conditions("When", entries)
            case "Failure": portal.failures.append(try failure(entries))
            case "Session": portal.session = try session(entries)
            default: portal.logoff = try message(entries, required: true)
            }
        }
        try PortalFileCheck(portal: portal, keyfile: keyfile).run()
        return portal
    }

    private func mistake(_ line: Int, _ text: String) -> Keyfile.Error {
        Keyfile.Error(file: keyfile.file, line: line, message: text)
    }

    /// Checks the keys of one section.
    private func check(_ entries: [Entry]) throws(Keyfile.Error) {
        guard let first = entries.first else { return }
        guard let known = Self.keys[first.section] else {
            let near = Nearest.word(to: first.section, in: Self.sections).map { "did you mean [\($0)]?" }
            throw mistake(
                first.sectionLine,
                "the section [\(Printable.text(first.section, limit: 64))] is unknown; \(near ?? "known are \(Self.sections.joined(separator: ", "))")"
            )
        }
        var seen: Set<String> = []
        for entry in entries {
            guard known.contains(entry.key) else {
                let near = Nearest.word(to: entry.key, in: known).map { "did you mean \($0)=?" }
                throw mistake(
                    entry.line,
                    "\(Printable.text(entry.key, limit: 64))= is unknown in [\(entry.section)]; \(near ?? "known are \(known.joined(separator: ", "))")"
                )
            }
            guard entry.value.utf8.count <= Self.lineLimit else {
                throw keyfile.error(entry, "is longer than \(Self.lineLimit) octets")
            }
            guard !entry.value.isEmpty else { throw keyfile.error(entry, "is empty") }
            let isRepeated = Self.repeated.contains(entry.key) && !(entry.key == "Body" && entry.section != "Match")
            guard seen.insert(entry.key).inserted || isRepeated else {
                throw keyfile.error(entry, "is repeated; a section may contain it only once")
            }
        }
        guard entries.count <= 64 else { throw mistake(first.sectionLine, "a section may contain at most 64 lines") }
    }

    // MARK: - Values

    private func at<T>(_ entry: Entry, _ body: () throws(Template.Mistake) -> T) throws(Keyfile.Error) -> T {
        do throws(Template.Mistake) { return try body() } catch { throw keyfile.error(entry, error.message) }
    }

    private func template(_ key: String, _ entries: [Entry]) throws(Keyfile.Error) -> Template? {
        guard let entry = entries.first(where: { $0.key == key }) else { return nil }
        return try at(entry) { () throws(Template.Mistake) in try Template(entry.value) }
    }

    private func conditions(_ key: String, _ entries: [Entry]) throws(Keyfile.Error) -> [Condition] {
        var result: [Condition] = []
        for entry in entries where entry.key == key {
            result.append(try at(entry) { () throws(Template.Mistake) in try Condition(entry.value) })
        }
        return result
    }

    private func assignments(_ key: String, _ entries: [Entry], separator: Character = "=") throws(Keyfile.Error)
        -> [PortalFile.Assignment]
    {
        var result: [PortalFile.Assignment] = []
        for entry in entries where entry.key == key {
            guard let end = entry.value.firstIndex(of: separator), end > entry.value.startIndex,
                !entry.value[..<end].contains("${")
            else { throw keyfile.error(entry, "must be written as NAME\(separator)VALUE") }
            let text = entry.value[entry.value.index(after: end)...].drop { separator == ":" && $0 == " " }
            let value = try at(entry) { () throws(Template.Mistake) in try Template(String(text)) }
            result.append(PortalFile.Assignment(name: String(entry.value[..<end]), value: value))
        }
        return result
    }

    private func number(_ key: String, _ entries: [Entry], in range: ClosedRange<Int>) throws(Keyfile.Error) -> Int? {
        guard let entry = entries.first(where: { $0.key == key }) else { return nil }
        guard let number = Int(entry.value), range.contains(number) else {
            throw keyfile.error(entry, "is not a whole number from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    private func truth(_ key: String, _ entries: [Entry]) throws(Keyfile.Error) -> Bool? {
        guard let entry = entries.first(where: { $0.key == key }) else { return nil }
        guard let truth = entry.boolean else { throw keyfile.error(entry, "is neither yes nor no") }
        return truth
    }

    // MARK: - Sections

    private func match(_ entries: [Entry], withLines: Bool) throws(Keyfile.Error) -> PortalFile.Match {
        var match = PortalFile.Match()
        for entry in entries {
            try add(entry, to: &match)
            guard withLines else { continue }
            var alone = PortalFile.Match()
            try add(entry, to: &alone)
            match.lines.append(.init(key: entry.key, value: entry.value, alone: alone))
        }
        guard !match.evidence.isEmpty else {
            throw mistake(
                entries[0].sectionLine,
                "[Match] contains no evidence; a network's name, or a text that must be absent, is not evidence")
        }
        match.demand = match.demanded()
        return match
    }

    private func add(_ entry: Entry, to match: inout PortalFile.Match) throws(Keyfile.Error) {
        let globs = { (contains: Bool) throws(Keyfile.Error) -> [Glob] in
            try at(entry) { () throws(Template.Mistake) in try Globs.read(entry.value, contains: contains) }
        }
        switch entry.key {
        case "Host": match.hosts.append(try globs(false))
        case "Path": match.paths.append(try globs(false))
        case "Status": match.statuses.append(try globs(false))
        case "Body": match.bodies.append(try globs(true))
        case "Lacks": match.absent += try globs(true)
        case "SSID": match.ssids.append(try globs(false))
        case "Query": match.queries.append(try pairs(entry, separator: "="))
        default:
            let pairs = try pairs(entry, separator: ":")
            match.headers.append(pairs.map { .init(name: $0.name.lowercased(), value: $0.value) })
        }
    }

    private func pairs(_ entry: Entry, separator: Character) throws(Keyfile.Error) -> [PortalFile.Match.Pair] {
        var pairs: [PortalFile.Match.Pair] = []
        for text in Glob.split(entry.value).prefix(32) {
            let name = text.prefix { $0 != separator }
            let value = text.dropFirst(name.count + 1).drop { separator == ":" && $0 == " " }
            guard !name.isEmpty, let glob = Glob(String(value)) else {
                throw keyfile.error(entry, "must be written as NAME or NAME\(separator)GLOB")
            }
            pairs.append(.init(name: String(name), value: text.contains(separator) ? glob : nil))
        }
        return pairs
    }

    private func readPortal(_ entries: [Entry], _ portal: inout PortalFile) throws(Keyfile.Error) {
        for entry in entries {
            switch entry.key {
            case "Name": portal.name = Printable.text(entry.value, limit: 64)
            case "Ask": portal.fields.append(try field(entry))
            default: portal.terms = try template("Terms", entries)
            }
        }
    }

    private func field(_ entry: Entry) throws(Keyfile.Error) -> Field {
        let words = entry.value.split(separator: " ", maxSplits: 2).map(String.init)
        guard words.count == 3, let kind = Field.Kind(rawValue: words[1]) else {
            throw keyfile.error(
                entry,
                "must be written as NAME KIND LABEL; the kinds are \(Field.Kind.allCases.map(\.rawValue).joined(separator: ", "))"
            )
        }
        let isOptional = words[0].hasSuffix("?")
        let name = isOptional ? String(words[0].dropLast()) : words[0]
        guard HelperSpec.isName(name) else {
            throw keyfile.error(entry, "must name the field with letters, digits, dots, hyphens or underscores")
        }
        var (label, choices) = (words[2], [String]?.none)
        if kind == .choice {
            let parts = label.split(separator: ":", maxSplits: 1)
            let list = parts.count == 2 ? parts[1].split(separator: ",").map { String($0.drop { $0 == " " }) } : []
            guard list.count > 1 else { throw keyfile.error(entry, "must be written as NAME choice LABEL: ONE, OTHER") }
            (label, choices) = (String(parts[0]), list)
        }
        return Field(
            name: name, label: Printable.text(label, limit: 120), kind: kind, required: !isOptional, choices: choices)
    }

    private func step(_ entries: [Entry]) throws(Keyfile.Error) -> PortalFile.Step {
        let line = entries[0].sectionLine
        let verbs = entries.filter { ["Open", "Post", "Submit", "Follow", "Probe"].contains($0.key) }
        guard verbs.count <= 1 else { throw keyfile.error(verbs[1], "is a second action; put each action into its own [Step]") }
        let action: PortalFile.Step.Action
        switch verbs.first?.key {
        case "Open", "Post":
            guard let message = try message(entries, required: true) else { throw mistake(line, "has no address") }
            action = .message(message)
        case "Submit": action = .submit(form: verbs[0].value.lowercased(), try assignments("Field", entries))
        case "Follow":
            let globs = try at(verbs[0]) { () throws(Template.Mistake) in try Globs.read(verbs[0].value) }
            guard globs.count == 1 else { throw keyfile.error(verbs[0], "takes one glob") }
            action = .follow(globs[0])
        case "Probe": action = .probe(seconds: try number("Probe", entries, in: 1...30) ?? 1)
        default: action = .set
        }
        var step = PortalFile.Step(action: action, line: line)
        step.followsRedirects = try truth("Redirects", entries) ?? true
        step.mayFail = try truth("MayFail", entries) ?? false
        step.wait = try number("Wait", entries, in: 0...30) ?? 0
        step.when = try conditions("When", entries)
        step.until = try conditions("Until", entries)
        step.times = try number("Times", entries, in: 1...PortalFile.Step.timesLimit) ?? PortalFile.Step.timesLimit
        step.sets = try assignments("Set", entries)
        if case .set = action {
            let others = entries.first { !["Set", "When"].contains($0.key) }
            if let others { throw keyfile.error(others, "needs an action: Open=, Post=, Submit=, Follow= or Probe=") }
        }
        return step
    }

    private func message(_ entries: [Entry], required: Bool) throws(Keyfile.Error) -> PortalFile.Message? {
        let address = entries.filter { $0.key == "Open" || $0.key == "Post" }
        guard let first = address.first, address.count == 1 else {
            if !required, address.isEmpty { return nil }
            throw mistake(entries[0].sectionLine, "[\(entries[0].section)] needs Open= or Post=")
        }
        let template = try at(first) { () throws(Template.Mistake) in try Template(first.value) }
        guard template.answers.isEmpty else { throw keyfile.error(first, "contains an answer; send answers as fields") }
        var message = PortalFile.Message(method: first.key == "Post" ? .post : .open, address: template)
        message.fields = try assignments("Field", entries)
        message.headers = try assignments("Header", entries, separator: ":")
        message.type = try self.template("Type", entries)
        if let json = try self.template("JSON", entries) { message.content = .json(json) }
        if let body = try self.template("Body", entries) { message.content = .other(body) }
        if message.content != .none {
            let contents = entries.filter { $0.key == "JSON" || $0.key == "Body" }
            guard message.method == .post, contents.count == 1 else {
                throw keyfile.error(contents.last ?? first, "is a second body, or the request is not Post=")
            }
            guard message.fields.isEmpty else {
                throw keyfile.error(contents[0], "cannot be used beside Field=; a request has one body")
            }
        }
        return message
    }

    private func failure(_ entries: [Entry]) throws(Keyfile.Error) -> PortalFile.Failure {
        let when = try conditions("When", entries)
        guard !when.isEmpty else { throw mistake(entries[0].sectionLine, "[Failure] needs When=") }
        guard let word = entries.first(where: { $0.key == "Means" }) else {
            throw mistake(entries[0].sectionLine, "[Failure] needs Means=")
        }
        guard let meaning = PortalFile.Failure.Meaning(rawValue: word.value) else {
            let known = PortalFile.Failure.Meaning.allCases.map(\.rawValue).joined(separator: ", ")
            throw keyfile.error(word, "is one of \(known)")
        }
        return PortalFile.Failure(when: when, meaning: meaning, text: try template("Text", entries))
    }

    private func session(_ entries: [Entry]) throws(Keyfile.Error) -> PortalFile.SessionPart {
        PortalFile.SessionPart(
            open: try message(entries, required: false), seconds: try template("Seconds", entries),
            used: try template("Used", entries), bytes: try template("Bytes", entries))
    }
}
