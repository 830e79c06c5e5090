import HotspotCore

/// Checks a portal file as a whole: its limits, and that it uses only declared names.
struct PortalFileCheck {
    let portal: PortalFile
    let keyfile: Keyfile

    func run() throws(Keyfile.Error) {
        guard let section = keyfile.entries.first(where: { $0.section == "Portal" })?.sectionLine, !portal.name.isEmpty else {
            throw mistake(0, "Name= is missing in [Portal]")
        }
        if portal.matches.isEmpty { throw mistake(0, "[Match] is missing") }
        if portal.steps.isEmpty { throw mistake(0, "[Step] is missing") }
        guard portal.fields.count <= 20, Set(portal.fields.map(\.name)).count == portal.fields.count else {
            throw mistake(section, "asks for a field twice, or for more than 20 fields")
        }
        try checkNames()
        try checkOrder()
        try checkSecrets()
        try checkJSON()
    }

    private func mistake(_ line: Int, _ text: String) -> Keyfile.Error {
        Keyfile.Error(file: keyfile.file, line: line, message: text)
    }

    /// Checks that the file uses only answers with an `Ask=`, and only kept values with a `Set=`.
    private func checkNames() throws(Keyfile.Error) {
        let asked = Set(portal.fields.map(\.name))
        let kept = Set(portal.steps.flatMap { $0.sets.map(\.name) })
        for entry in keyfile.entries where entry.value.contains("${") {
            // If the value is not a template, it is plain text: the section's own parser has already accepted it.
            guard let template = try? Template(entry.value) else { continue }
            if let name = template.answers.subtracting(asked).sorted().first {
                throw keyfile.error(entry, "uses ${answer:\(name)}, but no Ask= asks for it")
            }
            if let name = template.names.subtracting(kept).sorted().first {
                throw keyfile.error(entry, "uses the value \(name), which no Set= keeps")
            }
        }
    }

    /// Checks that no step uses a value before it is kept.
    private func checkOrder() throws(Keyfile.Error) {
        var kept: Set<String> = []
        for step in portal.steps {
            let entries = keyfile.entries.filter { $0.sectionLine == step.line && $0.value.contains("${") }
            // A repeated step may use the values that it kept in its previous round.
            if !step.until.isEmpty { kept.formUnion(step.sets.map(\.name)) }
            for entry in entries where entry.key != "Set" { try check(entry, kept) }
            for set in step.sets {
                for entry in entries where entry.key == "Set" && entry.value.hasPrefix(set.name + "=") { try check(entry, kept) }
                kept.insert(set.name)
            }
        }
    }

    private func check(_ entry: Keyfile.Entry, _ kept: Set<String>) throws(Keyfile.Error) {
        guard let name = (try? Template(entry.value))?.names.subtracting(kept).sorted().first else { return }
        throw keyfile.error(entry, "uses the value \(name) before it is set: its Set= must be in an earlier step")
    }

    /// Checks that no password is kept for later visits.
    private func checkSecrets() throws(Keyfile.Error) {
        var secret = Set(portal.fields.filter(\.kind.isSecret).map { "answer:" + $0.name })
        for _ in portal.steps {
            for set in portal.steps.flatMap(\.sets) where uses(secret, set.value) { secret.insert("value:" + set.name) }
        }
        for (part, message) in [("Session", portal.session.open), ("Logoff", portal.logoff)] {
            guard let message, (message.templates + [message.address]).contains(where: { uses(secret, $0) }) else { continue }
            let line = keyfile.entries.first { $0.section == part }?.sectionLine ?? 0
            throw mistake(line, "[\(part)] would keep a password for later visits")
        }
        // An address must not contain a password, because every log on the way would contain the password.
        for step in portal.steps {
            guard case .message(let message) = step.action, uses(secret, message.address) else { continue }
            throw mistake(step.line, "the address contains a password; send answers as fields")
        }
    }

    private func uses(_ secret: Set<String>, _ template: Template) -> Bool {
        template.answers.contains { secret.contains("answer:" + $0) }
            || template.names.contains { secret.contains("value:" + $0) }
    }

    /// Checks that a JSON body stays JSON with any inserted values.
    private func checkJSON() throws(Keyfile.Error) {
        for entry in keyfile.entries where entry.key == "JSON" {
            guard let template = try? Template(entry.value) else { continue }
            let text = template.pieces.flatMap { piece -> [UInt8] in
                switch piece {
                case .text(let octets): octets
                case .value: [UInt8(ascii: "0")]
                }
            }
            guard (try? PortalJSON.check(text)) != nil else { throw keyfile.error(entry, "is not JSON") }
        }
    }
}
