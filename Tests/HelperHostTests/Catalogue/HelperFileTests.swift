import Glibc
import HotspotCore
import TestSupport
import Testing

@testable import HelperHost

@Suite struct HelperFileTests {
    private func parse(_ text: String) throws -> HelperSpec {
        try HelperFile.parse(Array("[Helper]\n\(text)".utf8), file: "x.helper")
    }

    @Test func everyKeyIsRead() throws {
        let spec = try parse(
            """
            Name=cafe-aroma
            DisplayName=Café Aroma
            Exec=/usr/bin/env "two words" 'a"b' c\\x41\\s\\101
            SSID=Cafe Aroma*;Aroma Guest
            Security=open;owe
            Priority=60
            Enabled=no
            ScanList=yes
            ReadPaths=/srv/a
            ReadPaths=/etc/aroma.conf
            ReadWritePaths=/var/a "/var/b c"
            """)
        #expect(
            spec
                == HelperSpec(
                    name: "cafe-aroma", displayName: "Café Aroma",
                    activation: .stdio(exec: ["/usr/bin/env", "two words", "a\"b", "cA A"]),
                    ssids: try SSIDPattern.list("Cafe Aroma*;Aroma Guest"), security: [.open, .owe], priority: 60, enabled: false,
                    scanList: true, readPaths: ["/srv/a", "/etc/aroma.conf"], readWritePaths: ["/var/a", "/var/b c"]))
        #expect(try parse("Name=a\nExec=/b\nReadPaths=/c\nReadPaths=\nReadPaths=/d").readPaths == ["/d"])
        #expect(try parse("Name=a\nSocket=/run/a.sock").activation == .external(path: "/run/a.sock"))
        #expect(try parse("Name=a\nExec=/b\nActivation=socket").activation == .socket(exec: ["/b"]))
    }

    @Test(arguments: [
        ("Exec=/b", "x.helper: Name= is missing"), ("Name=a", "Exec= or Socket= is missing"),
        ("Name=a/b\nExec=/b", "x.helper:2: Name= must have"), ("Name=probe\nExec=/b", "x.helper:2: Name= may not"),
        ("Name=hotspotd\nExec=/b", "x.helper:2: Name= may not"),
        ("Name=a\nExec=b", "x.helper:3: Exec= must begin with the absolute path"),
        ("Name=a\nExec=/b \"c", "x.helper:3: Exec= contains a quote"),
        ("Name=a\nExec=/b \\q", "x.helper:3: Exec= has the unknown escape"),
        ("Name=a\nExec=/b \"c\"d", "x.helper:3: Exec= contains text directly"),
        ("Name=a\nExec=/b \\x00", "Exec= has the unknown escape"),
        ("Name=a\nExec=/b\nActivation=dbus", "x.helper:4: Activation= is \"dbus\"; known are stdio, socket"),
        ("Name=a\nExec=/b\nSocket=/c", "exclude each other"), ("Name=a\nSocket=c", "absolute path"),
        ("Name=a\nExec=/b\nPriority=101", "0 to 100"), ("Name=a\nExec=/b\nEnabled=maybe", "neither yes nor no"),
        ("Name=a\nExec=/b\nSecurity=wpa9", "known are open, owe"), ("Name=a\nExec=/b\nSSID=\\q", "unknown escape"),
        ("Name=a\nExec=/b\nSSID=", "SSID= is empty"), ("Name=a\nExec=/b\nSSID=x\nSSID=", "SSID= is empty"),
        ("Name=a\nExec=/b\nReadWritePaths=/", "absolute folders, but not / itself"),
        ("Name=a\nExec=/b\nReadWritePaths=/a/../b", "absolute folders"),
        ("Name=a\nExec=/b\nDisplayName=\(String(repeating: "é", count: 129))", "DisplayName= has more than 256 octets"),
        ("Name=a\nExec=/b\nDisplayName=a\(String(repeating: "\u{301}", count: 200))", "x.helper:4: more than 30 combining marks"),
        ("Name=a\nExec=/b\nReadPaths=a", "ReadPaths= has \"a\"; it takes absolute folders or files, but not / itself"),
    ])
    func anErrorNamesFileLineAndChoices(_ text: String, _ expected: String) {
        do throws(Keyfile.Error) {
            _ = try HelperFile.parse(Array("[Helper]\n\(text)".utf8), file: "x.helper")
            Issue.record("accepted: \(text)")
        } catch {
            #expect(error.description.contains(expected), "\(error)")
        }
    }

    @Test func anErrorDoesNotRepeatAllOfAValue() {
        let error = #expect(throws: Keyfile.Error.self) {
            try parse("Name=a\nExec=/b\nSSID=\(String(repeating: "x", count: 50_000))\\q")
        }
        #expect((error?.description.utf8.count ?? 0) < 300)
    }

    /// A misspelt SSID= must not tell the helper about every network.
    @Test(arguments: [
        ("[Helper]\nName=a\nExec=/b\nSSDI=Cafe", "x.helper:4: SSDI= is unknown; did you mean SSID=?"),
        ("[Helper]\nName=a\nExec=/b\nssid=Cafe", "x.helper:4: ssid= is unknown; did you mean SSID=?"),
        ("[Helper]\nName=a\nExec=/b\nColour=red", "x.helper:4: Colour= is unknown; known are Name=, DisplayName="),
        ("# mine\n[Helpers]\nName=a\nExec=/b", "x.helper:2: the section [Helpers] is unknown; did you mean [Helper]?"),
        (
            "[Helper]\nName=a\nExec=/b\n\n[Networks]\nSSID=Cafe",
            "x.helper:5: the section [Networks] is unknown; the only section is [Helper]"
        ),
        ("\u{FEFF}[Helper]\nName=a\nExec=/b", "x.helper:1: the file begins with a byte order mark"),
    ])
    func whatIsUnknownIsRefused(_ text: String, _ expected: String) {
        let error = #expect(throws: Keyfile.Error.self) { try HelperFile.parse(Array(text.utf8), file: "x.helper") }
        #expect(error?.description.hasPrefix(expected) == true, "\(error?.description ?? "")")
    }

    @Test("13 Without a display name the name is shown") func withoutADisplayNameTheNameIsShown() throws {
        #expect(try parse("Name=cafe-aroma\nExec=/b\n").displayName == "cafe-aroma")
        #expect(try parse("Name=cafe-aroma\nExec=/b\nDisplayName=Aroma").displayName == "Aroma")
    }

    @Test func filesThatCannotBeReadAreErrors() throws {
        let folder = TemporaryFolder()
        let absent = #expect(throws: Keyfile.Error.self) { try HelperFile.read(folder.path + "/absent") }
        #expect(absent?.description == "\(folder.path)/absent: No such file or directory")
        let file = folder.write("a.helper", "[Helper]\nName=a\nExec=/b\n#" + String(repeating: "x", count: Keyfile.maximumSize))
        let large = #expect(throws: Keyfile.Error.self) { try HelperFile.read(file) }
        #expect(large?.description == "\(file): larger than 64 KiB")
        mkfifo(folder.path + "/pipe", 0o600)
        #expect(throws: Keyfile.Error.self, "without waiting for a writer") { try HelperFile.read(folder.path + "/pipe") }
    }
}
