import HotspotCore

/// Sees to it that no helper passes for another by the name that people read.
enum DisplayNames {
    /// Shows a helper by its name where its display name reads like the name of another, or like the display name of another whose
    /// folder comes first; in one folder neither has it, as with names.
    static func settle(_ catalog: inout HelperCatalog, _ directories: [String]) {
        let specs = catalog.entries.map(\.spec)
        let folders = catalog.entries.map { directories.firstIndex(of: folder(of: $0.file)) ?? directories.count }
        let names = Dictionary(grouping: specs.map(\.name), by: key)
        let alike = Dictionary(grouping: specs.indices) { key(specs[$0].displayName) }
        for (index, spec) in specs.enumerated() where spec.displayName != spec.name {
            let shown = key(spec.displayName)
            let earlier = alike[shown, default: []].first { $0 != index && folders[$0] <= folders[index] }
            let taken = names[shown, default: []].first { $0 != spec.name } ?? earlier.map { specs[$0].name }
            guard shown.isEmpty || taken != nil else { continue }
            catalog.entries[index].spec.displayName = spec.name
            catalog.problems.append(HelperProblem(spec.name, problem(catalog.entries[index].file, spec, taken)))
        }
    }

    private static func problem(_ file: String, _ spec: HelperSpec, _ other: String?) -> Problem {
        let why = other.map { "is what the helper «\($0)» is called too" } ?? "has nothing to be seen"
        return Problem(
            "displayNameNotUsed",
            "\(file): the display name «\(Printable.text(spec.displayName, limit: 256))» \(why); it is shown as «\(spec.name)»",
            hint: "give it another DisplayName=")
    }

    private static func folder(of file: String) -> String { file.lastIndex(of: "/").map { String(file[..<$0]) } ?? "" }

    /// The same for all names that read alike.
    private static func key(_ name: String) -> String { Blanks.collapsed(name).lowercased() }
}
