@_spi(_Unicode) import Swift

import ForeignText
import HotspotCore

/// Sees to it that no helper passes for another, or for the daemon, by the names that people read.
enum DisplayNames {
    /// Of two helpers whose names read alike the one in the later folder stays, which is the system's, and the other is left out; in one
    /// folder both are. The same is true of display names, and of one that reads like another's name, but that they are only not
    /// shown: the helper is shown by its name.
    static func settle(_ catalog: inout HelperCatalog, _ directories: [String]) {
        func folder(of entry: HelperEntry) -> Int {
            directories.firstIndex(of: String(entry.file.prefix(upTo: entry.file.lastIndex(of: "/") ?? entry.file.startIndex)))
                ?? directories.count
        }
        var candidates = catalog.entries.map { Candidate(entry: $0, folder: folder(of: $0)) }
        func leaveOut(_ rivals: (Candidate) -> String?) {
            let refused = candidates.map { rivals($0) }
            for case let (candidate, rival?) in zip(candidates, refused) {
                catalog.problems.append(leftOut(candidate.entry, rival))
            }
            candidates = zip(candidates, refused).filter { $0.1 == nil }.map(\.0)
        }
        let names = Dictionary(grouping: candidates, by: \.nameKey)
        leaveOut { candidate in
            if candidate.nameKey == ownKey { return ownName }
            return names[candidate.nameKey]?.first { $0.entry != candidate.entry && $0.folder >= candidate.folder }?.entry.spec
                .name
        }
        let shown = Dictionary(grouping: candidates, by: \.shownKey)
        leaveOut { candidate in
            shown[candidate.nameKey]?.first { $0.entry != candidate.entry && $0.folder > candidate.folder }?.entry.spec
                .displayName
        }
        let staying = Dictionary(grouping: candidates, by: \.nameKey)
        let alike = Dictionary(grouping: candidates, by: \.shownKey)
        catalog.entries = candidates.map { candidate in
            var (entry, spec) = (candidate.entry, candidate.entry.spec)
            guard spec.displayName != spec.name else { return entry }
            let taken =
                staying[candidate.shownKey]?.first { $0.entry != entry }
                ?? alike[candidate.shownKey]?.first { $0.entry != entry && $0.folder >= candidate.folder }
            let why: String
            if let taken {
                why = "is what the helper «\(taken.entry.spec.name)» is called too"
            } else if candidate.shownKey == ownKey {
                why = "is the daemon's"
            } else if candidate.shownKey.isEmpty {
                why = "has nothing to be seen"
            } else if !Alphabet.isPlain(spec.displayName) {
                why = "mixes alphabets, or has letters or signs that pass for others"
            } else {
                return entry
            }
            catalog.problems.append(HelperProblem(spec.name, notShown(entry.file, spec, why)))
            spec.displayName = spec.name
            entry.spec = spec
            return entry
        }
    }

    /// A helper, where it comes from, and how its names read.
    private struct Candidate {
        let entry: HelperEntry
        let folder: Int
        let nameKey: String
        let shownKey: String

        init(entry: HelperEntry, folder: Int) {
            self.entry = entry
            self.folder = folder
            nameKey = key(entry.spec.name)
            shownKey = key(entry.spec.displayName)
        }
    }

    private static let ownName = "hotspotd"
    private static let ownKey = key(ownName)

    private static func leftOut(_ entry: HelperEntry, _ rival: String) -> HelperProblem {
        let name = entry.spec.name
        return HelperProblem(
            entry.file,
            Problem(
                "helperNameAlike",
                "\(entry.file) is not used: its name «\(name)» reads like «\(Printable.text(rival, limit: 256))»",
                hint: "give it another Name="))
    }

    private static func notShown(_ file: String, _ spec: HelperSpec, _ why: String) -> Problem {
        Problem(
            "displayNameNotUsed",
            "\(file): the display name «\(Printable.text(spec.displayName, limit: 256))» \(why); it is shown as «\(spec.name)»",
            hint: "give it another DisplayName=")
    }

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
