@_spi(_Unicode) import Swift

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

    /// The same for all names that read alike: of what makes letters differ only what is seen at a glance, and nothing else than letters
    /// and digits. It takes more for alike than is, which costs a display name and nothing more.
    static func key(_ name: String) -> String {
        var key = ""
        // Marks are on their own then, and no letters.
        for scalar in name._nfd {
            // Full-width forms are the plain ones, moved.
            let plain = (0xFF01...0xFF5E).contains(scalar.value) ? Unicode.Scalar(scalar.value - 0xFEE0) ?? scalar : scalar
            for letter in String(plain).lowercased().unicodeScalars.map({ alike[$0] ?? $0 })
            where letter.properties.isAlphabetic || letter.properties.numericType != nil {
                key.unicodeScalars.append(letter)
            }
        }
        return key.replacing("rn", with: "m").replacing("vv", with: "w")
    }

    /// Letters of other alphabets, and digits, by the Latin letter that stands first in each group (after confusables.txt of UTS #39).
    private static let alike: [Unicode.Scalar: Unicode.Scalar] = {
        let groups = [
            "aаɑα", "bвьβ", "cсϲ", "dԁ", "eеє", "gɡ", "hһнη", "jјϳ", "kкκ", "li1іιӏıⅼ", "mм", "oоο0σ", "pрρ", "qԛ", "rг", "sѕ",
            "tтτ", "uυ", "vѵν", "wԝω", "xхχ", "yуγ", "zᴢ",
        ]
        var alike: [Unicode.Scalar: Unicode.Scalar] = [:]
        for group in groups {
            for letter in group.unicodeScalars { alike[letter] = group.unicodeScalars.first }
        }
        return alike
    }()
}
