import Glibc
import HotspotCore
import Testing

@testable import HelperHost

@Suite struct HelperFileTests {
    private func parse(_ text: String) throws -> (spec: HelperSpec, problems: [Problem]) {
        try HelperFile.parse(Array("[Helper]\n\(text)".utf8), file: "x.helper")
    }

    @Test func everyKeyIsRead() throws {
        let (spec, problems) = try parse(
            """
            Name=cafe-aroma
            DisplayName=Café Aroma
            Exec=/usr/bin/env "two words" 'a"b' c\\x41\\s\\101
            SSID=Cafe Aroma*;Aroma Guest
            Security=open;owe
            Priority=60
            Enabled=no
            ScanList=yes
            ReadWritePaths=/var/a "/var/b c"
            """)
        #expect(problems == [])
        #expect(
            spec
                == HelperSpec(
                    name: "cafe-aroma", displayName: "Café Aroma",
                    activation: .stdio(exec: ["/usr/bin/env", "two words", "a\"b", "cA A"]),
                    ssids: try SSIDPattern.list("Cafe Aroma*;Aroma Guest"), security: [.open, .owe], priority: 60, enabled: false,
                    scanList: true, readWritePaths: ["/var/a", "/var/b c"]))
        #expect(try parse("Name=a\nSocket=/run/a.sock").spec.activation == .external(path: "/run/a.sock"))
        #expect(try parse("Name=a\nExec=/b\nActivation=socket").spec.activation == .socket(exec: ["/b"]))
    }

    @Test(arguments: [
        ("Exec=/b", "x.helper: Name= is missing"), ("Name=a", "Exec= or Socket= is missing"),
        ("Name=a/b\nExec=/b", "x.helper:2: Name= must have"), ("Name=probe\nExec=/b", "x.helper:2: Name= may not"),
        ("Name=a\nExec=b", "x.helper:3: Exec= must begin with the absolute path"),
        ("Name=a\nExec=/b \"c", "x.helper:3: Exec= has a quote"),
        ("Name=a\nExec=/b \\q", "x.helper:3: Exec= has the unknown escape"),
        ("Name=a\nExec=/b \"c\"d", "x.helper:3: Exec= has text directly"),
        ("Name=a\nExec=/b \\x00", "Exec= has the unknown escape"),
        ("Name=a\nExec=/b\nActivation=dbus", "x.helper:4: Activation= is «dbus»; known are stdio, socket"),
        ("Name=a\nExec=/b\nSocket=/c", "exclude each other"), ("Name=a\nSocket=c", "absolute path"),
        ("Name=a\nExec=/b\nPriority=101", "0 to 100"), ("Name=a\nExec=/b\nEnabled=maybe", "neither yes nor no"),
        ("Name=a\nExec=/b\nSecurity=wpa9", "known are open, owe"), ("Name=a\nExec=/b\nSSID=\\q", "unknown escape"),
        ("Name=a\nExec=/b\nSSID=", "SSID= is empty"), ("Name=a\nExec=/b\nSSID=x\nSSID=", "SSID= is empty"),
        ("Name=a\nExec=/b\nReadWritePaths=/", "absolute folders below /"),
        ("Name=a\nExec=/b\nReadWritePaths=/a/../b", "absolute folders"),
    ])
    func anErrorNamesFileLineAndChoices(_ text: String, _ expected: String) {
        do throws(Keyfile.Error) {
            _ = try HelperFile.parse(Array("[Helper]\n\(text)".utf8), file: "x.helper")
            Issue.record("accepted: \(text)")
        } catch {
            #expect(error.description.contains(expected), "\(error)")
        }
    }

    @Test func whatIsHarmlessIsAProblemOnly() throws {
        let (spec, problems) = try parse("Name=a\nExec=/b\nDisplayName=1234567890123456")
        #expect(spec.displayName == "123456789012345")
        #expect(problems.map(\.code) == ["displayNameTooLong"])
        #expect(problems[0].message == "x.helper:4: DisplayName= has 16 characters; 15 are shown: «123456789012345»")
    }

    nonisolated static let long: [(String, String)] = [
        ("DisplayName=a\(String(repeating: "\u{301}", count: 200))", "x.helper:4: DisplayName= has 401 octets; at most 256"),
        ("SSID=\(String(repeating: "Cafe*;", count: 257))", "x.helper:4: SSID= has more than 256 entries"),
        (String(repeating: "SSID=\(String(repeating: "Cafe*;", count: 100))\n", count: 3), "x.helper:6: SSID= has more than 256"),
        ("SSID=\(String(repeating: String(repeating: "\\xff", count: 32) + ";", count: 129))", "x.helper:4: SSID= has more than"),
        (
            "ReadWritePaths=\((0..<33).map { "/var/x\($0)" }.joined(separator: " "))",
            "x.helper:4: ReadWritePaths= has more than 32"
        ),
        ("ReadWritePaths=/\(String(repeating: "x", count: 1024))", "x.helper:4: ReadWritePaths= has a path of 1025 octets"),
        ("Exec=/b \(String(repeating: "x", count: 4096))", "x.helper:4: Exec= has 4099 octets; at most 4096"),
    ]

    /// What is long is refused when the file is read: all of it would be told whenever helpers are listed.
    @Test(arguments: long.indices) func whatIsLongIsRefused(_ index: Int) {
        let (text, expected) = Self.long[index]
        let error = #expect(throws: Keyfile.Error.self) { try parse("Name=a\nExec=/b\n" + text) }
        #expect(error?.description.hasPrefix(expected) == true, "\(error?.description.prefix(200) ?? "")")
    }

    @Test func whatIsJustShortEnoughIsTaken() throws {
        let spec = try parse("Name=a\nExec=/b\nSSID=\(String(repeating: "Cafe*;", count: 256))").spec
        #expect(spec.ssids.count == 256)
        let error = #expect(throws: Keyfile.Error.self) {
            try parse("Name=a\nExec=/b\nSSID=\(String(repeating: "x", count: 50_000))\\q")
        }
        #expect((error?.description.utf8.count ?? 0) < 300, "an error does not repeat all of it")
    }

    /// A misspelt SSID= must not open every network to the helper.
    @Test(arguments: [
        ("[Helper]\nName=a\nExec=/b\nSSDI=Cafe", "x.helper:4: SSDI= is unknown; did you mean SSID=?"),
        ("[Helper]\nName=a\nExec=/b\nssid=Cafe", "x.helper:4: ssid= is unknown; did you mean SSID=?"),
        ("[Helper]\nName=a\nExec=/b\nColour=red", "x.helper:4: Colour= is unknown; known are Name=, DisplayName="),
        ("# mine\n[Helpers]\nName=a\nExec=/b", "x.helper:2: the section [Helpers] is unknown; did you mean [Helper]?"),
        (
            "[Helper]\nName=a\nExec=/b\n\n[Networks]\nSSID=Cafe",
            "x.helper:5: the section [Networks] is unknown; there is [Helper]"
        ),
        ("\u{FEFF}[Helper]\nName=a\nExec=/b", "x.helper:1: the file begins with a byte order mark"),
    ])
    func whatIsUnknownIsRefused(_ text: String, _ expected: String) {
        let error = #expect(throws: Keyfile.Error.self) { try HelperFile.parse(Array(text.utf8), file: "x.helper") }
        #expect(error?.description.hasPrefix(expected) == true, "\(error?.description ?? "")")
    }

    @Test func foldersMaskAndShadow() throws {
        var template = Array("/tmp/hotspot-folders-XXXXXX".utf8CString)
        mkdtemp(&template)
        let root = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        defer { removeFolder(root) }
        func write(_ path: String, _ text: String, _ mode: mode_t = 0o644) {
            let descriptor = open("\(root)/\(path)", O_CREAT | O_WRONLY | O_CLOEXEC, 0o600)
            let octets = Array(text.utf8)
            #expect(Glibc.write(descriptor, octets, octets.count) == octets.count)
            fchmod(descriptor, mode)
            close(descriptor)
        }
        for folder in ["etc", "lib", "bad"] { mkdir("\(root)/\(folder)", 0o755) }
        write("ran.sh", "#!/bin/sh\ntouch \(root)/executed\n", 0o755)
        func helper(_ name: String, _ priority: Int = 50) -> String {
            "[Helper]\nName=\(name)\nExec=\(root)/ran.sh\nPriority=\(priority)\n"
        }
        write("lib/a.helper", helper("a", 1))
        write("etc/a.helper", helper("a", 2))
        write("lib/b.helper", helper("b"))
        write("etc/b.helper", "")
        write("lib/c.helper", helper("c"))
        symlink("/dev/null", "\(root)/etc/c.helper")
        write("lib/d.helper", helper("a"))
        // The first folder counts, although its file name comes later.
        write("etc/z.helper", helper("shared", 7))
        write("lib/aa.helper", helper("shared", 8))
        write("lib/e.helper", "nonsense")
        write("lib/f.helper", helper("f"), 0o664)
        write("lib/g.helper", "[Helper]\nName=g\nExec=/nowhere\n")
        write("lib/h.txt", helper("h"))
        write("bad/i.helper", helper("i"))
        chmod("\(root)/bad", 0o777)
        symlink("nowhere", "\(root)/lib/j.helper")
        mkfifo("\(root)/lib/k.helper", 0o644)
        let catalog = HelperFolders.load(directories: ["\(root)/etc", "\(root)/lib", "\(root)/bad", "\(root)/missing"])
        #expect(catalog.entries.map(\.spec.name) == ["a", "shared"])
        #expect(catalog.entries.last?.spec.priority == 7)
        #expect(catalog.entries.first?.spec.priority == 2 && catalog.entries.first?.file == "\(root)/etc/a.helper")
        let found = Dictionary(grouping: catalog.problems, by: \.problem.code).mapValues { $0.map(\.subject).sorted() }
        #expect(
            found == [
                "helperShadowed": ["a", "aa", "d"].map { "\(root)/lib/\($0).helper" },
                "helperMasked": ["\(root)/lib/b.helper", "\(root)/lib/c.helper"], "helperFileInvalid": ["\(root)/lib/e.helper"],
                "helperProgramMissing": ["g"],
                "helperFileMissing": ["\(root)/lib/j.helper"],
                "helperNotTrusted": ["\(root)/bad", "\(root)/lib/f.helper", "\(root)/lib/k.helper"],
            ])
        let said = catalog.problems.map(\.problem.message)
        #expect(said.contains("\(root)/lib/b.helper is masked by \(root)/etc/b.helper"))
        #expect(said.contains { $0.hasPrefix("\(root)/lib/aa.helper is shadowed by \(root)/etc/z.helper") })
        #expect(access("\(root)/executed", F_OK) != 0)
        chown("\(root)/ran.sh", 12345, 12345)
        if geteuid() == 0 { #expect(HelperFolders.load(directories: ["\(root)/etc"]).entries.isEmpty) }
    }
}

/// Who may have a name: what is kept for it is kept under the name.
@Suite final class HelperNameTests {
    private let root = Scratch.make(in: "/tmp")!

    deinit { removeFolder(root) }

    private func write(_ path: String, _ text: String) {
        mkdir("\(root)/\(path.split(separator: "/")[0])", 0o755)
        let stream = fopen("\(root)/\(path)", "w")!
        fputs(text, stream)
        fclose(stream)
        chmod("\(root)/\(path)", 0o644)
    }

    private func load() -> HelperCatalog { HelperFolders.load(directories: ["\(root)/etc", "\(root)/lib"]) }

    @Test func twoFilesOfOneFolderWithOneNameAreBothRefused() {
        write("lib/portal.helper", "[Helper]\nName=portal\nExec=/bin/true\n")
        #expect(load().entries.map(\.spec.name) == ["portal"])
        write("lib/00.helper", "[Helper]\nName=portal\nExec=/bin/false\n")
        write("lib/other.helper", "[Helper]\nName=other\nExec=/bin/true\n")
        let catalog = load()
        #expect(catalog.entries.map(\.spec.name) == ["other"], "neither takes what is kept for the other")
        #expect(catalog.problems.map(\.problem.code) == ["helperNameTwice", "helperNameTwice"])
        #expect(catalog.problems.map(\.subject) == ["\(root)/lib/00.helper", "\(root)/lib/portal.helper"])
        #expect(catalog.problems.first?.problem.message.contains("\(root)/lib/portal.helper, in the same folder") == true)
        #expect(catalog.problems.last?.problem.message.contains("\(root)/lib/00.helper, in the same folder") == true)
        #expect(catalog.problems.allSatisfy { $0.problem.hint?.contains("another Name=") == true })
        // The name is taken all the same: a later folder does not get it by a quarrel in an earlier one.
        write("etc/a.helper", "[Helper]\nName=twice\nExec=/bin/true\n")
        write("etc/b.helper", "[Helper]\nName=twice\nExec=/bin/true\n")
        write("lib/twice.helper", "[Helper]\nName=twice\nExec=/bin/true\n")
        #expect(load().entries.map(\.spec.name) == ["other"])
        // The administrator's folder decides.
        write("etc/mine.helper", "[Helper]\nName=portal\nExec=/bin/true\n")
        let decided = load()
        #expect(decided.entries.map(\.file).contains("\(root)/etc/mine.helper"))
        #expect(decided.problems.filter { $0.problem.code == "helperShadowed" }.count == 3)
    }
}

/// Who may have a display name: it is all that people see of a helper in many places.
@Suite final class DisplayNameTests {
    private let root = Scratch.make(in: "/tmp")!

    deinit { removeFolder(root) }

    private func write(_ path: String, display: String?) {
        mkdir("\(root)/\(path.split(separator: "/")[0])", 0o755)
        let name = path.split(separator: "/")[1]
        let stream = fopen("\(root)/\(path).helper", "w")!
        fputs("[Helper]\nName=\(name)\nExec=/bin/true\n" + (display.map { "DisplayName=\($0)\n" } ?? ""), stream)
        fclose(stream)
        chmod("\(root)/\(path).helper", 0o644)
    }

    private func load() -> HelperCatalog { HelperFolders.load(directories: ["\(root)/etc", "\(root)/lib"]) }

    private func shown(_ catalog: HelperCatalog) -> [String: String] {
        Dictionary(uniqueKeysWithValues: catalog.entries.map { ($0.spec.name, $0.spec.displayName) })
    }

    @Test(arguments: [
        "Portal fоrm", "Ｐortal form", "PORTAL  FORM", "Portal\u{1D159}form", "Po\u{338}rtal f\u{F6}rm",
        "Portai form", "P0rta1 forrn",
        "portalform",
    ]) func whatReadsAlikeIsTheSameName(_ name: String) {
        #expect(DisplayNames.key(name) == DisplayNames.key("Portal form"))
    }

    @Test func whatReadsOtherwiseIsAnotherName() {
        let names = ["Portal form", "Portal forms", "Café Aroma", "Cafe Roma", "ホテル", "ホテル2", "Отель", ""]
        #expect(Set(names.map(DisplayNames.key)).count == names.count)
    }

    @Test(arguments: [
        "Café Aroma", "Cafe\u{301} 2", "Straße & Gärten", "Phở Hà Nội", "Отель Юг",
        "Ξενοδοχείο", "ホテル Wi-Fi", "호텔 2", "فندق ٣", "מלון", "होटल", "โรงแรม", "Café \u{2615}\u{FE0F}", "Ye’s Place",
    ]) func everyAlphabetIsGood(_ name: String) { #expect(Alphabet.isPlain(name)) }

    @Test(arguments: [
        "Portaǀ form", "𝖯𝗈𝗋𝗍𝖺𝗅 𝖿𝗈𝗋𝗆", "Pօrtal form", "Ⲣortal form", "Ꮲortal form", "Pоrtаl fоrⅿ", "Portal ſorm", "Portal foꭇm",
        "ℙortal form", "Porta| form", "🇵ortal form", "🅿ortal form", "P\u{338}ortal", "Ｐortal", "Portal\u{3000}form",
        "Por\u{200D}tal",
    ]) func oneAlphabetAtATime(_ name: String) {
        write("lib/plain", display: name)
        let catalog = load()
        #expect(shown(catalog) == ["plain": "plain"] && catalog.problems.map(\.problem.code) == ["displayNameNotUsed"])
    }

    /// The system's own lie in the later one.
    @Test func theLaterFolderHasTheDisplayName() {
        write("lib/form", display: "Portal form")
        write("etc/evil", display: "PORTAL \u{3000} form")
        let catalog = load()
        #expect(shown(catalog) == ["form": "Portal form", "evil": "evil"])
        #expect(
            catalog.problems == [
                HelperProblem(
                    "evil",
                    Problem(
                        "displayNameNotUsed",
                        "\(root)/etc/evil.helper: the display name «PORTAL \u{3000} form» is what the helper «form» is called too; it is shown as «evil»",
                        hint: "give it another DisplayName="))
            ])
    }

    @Test func inOneFolderNeitherHasIt() {
        write("lib/evil", display: "Portal form")
        write("lib/form", display: "Portal form")
        write("lib/other", display: "Other")
        let catalog = load()
        #expect(shown(catalog) == ["evil": "evil", "form": "form", "other": "Other"])
        #expect(catalog.problems.map(\.subject) == ["evil", "form"])
        // Neither does a helper in an earlier folder.
        write("etc/mine", display: "portal form")
        #expect(shown(load()) == ["mine": "mine", "evil": "evil", "form": "form", "other": "Other"])
    }

    /// Names are read as well.
    @Test(arguments: ["Portal-form", "f0rm", "forrn", "W1SPr", "wi.spr", "hotsp0td"]) func aNameThatReadsLikeAnothersIsNone(
        _ name: String
    ) {
        write("lib/form", display: "Portal form")
        write("lib/wispr", display: "WISPr")
        write("etc/\(name)", display: nil)
        let catalog = load()
        #expect(shown(catalog) == ["form": "Portal form", "wispr": "WISPr"])
        #expect(catalog.problems.map(\.problem.code) == ["helperNameAlike"])
        #expect(catalog.problems.first?.subject == "\(root)/etc/\(name).helper")
        #expect(catalog.problems.first?.problem.hint == "give it another Name=")
    }

    @Test func ofNamesAlikeInOneFolderNoneCounts() {
        write("lib/form", display: "Portal form")
        write("lib/f0rm", display: nil)
        write("lib/other", display: "H0tspotd")
        let catalog = load()
        #expect(shown(catalog) == ["other": "other"])
        #expect(catalog.problems.map(\.problem.code) == ["helperNameAlike", "helperNameAlike", "displayNameNotUsed"])
    }

    @Test func aNameIsItsHelpersOwn() {
        write("etc/evil", display: "Form")
        write("etc/vain", display: "VAIN")
        write("lib/form", display: nil)
        // A long name that is cut may become another's.
        write("lib/portal-login-12x", display: nil)
        write("lib/portal-login-12", display: "Portal 12")
        let catalog = load()
        #expect(
            shown(catalog) == [
                "evil": "evil", "vain": "VAIN", "form": "form", "portal-login-12x": "portal-login-12x",
                "portal-login-12": "Portal 12",
            ])
        #expect(catalog.problems.map(\.subject) == ["evil", "portal-login-12x"])
    }

    @Test func whatNobodySeesIsNoDisplayName() {
        write("lib/plain", display: "\u{2800}\u{3000}\u{2800}")
        let catalog = load()
        #expect(shown(catalog) == ["plain": "plain"] && catalog.problems.map(\.problem.code) == ["displayNameNotUsed"])
    }
}
