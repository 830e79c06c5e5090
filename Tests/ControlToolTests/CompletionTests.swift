import Glibc
import TestSupport
import Testing

@testable import hotspotctl

/// The completions of a shell with the script of `--generate-completion-script`: names of networks, and names from other authors' files.
@Suite struct CompletionTests {
    @Test(arguments: [
        "Cafe", "cafe-aroma_2.4", "Café", "Кафе", "كافيه", "咖啡店", "हॉटल", "7days", "a",
    ]) func isPlain(_ name: String) { #expect(Complete.isPlain(name)) }

    @Test(arguments: [
        "", "Cafe Aroma", "$(id)", "`id`", "x;id", "a&b", "a|b", "a>b", "~root", "a*", "a?", "[a]", "{a,b}", "a'b", "a\"b",
        "a\\x41",
        "!1", "#a", "-j", "--help", "=a", "a=b", "a:b", "a/b", "a\nb", "a\tb", "a\u{A0}b", "a\u{3000}b", "a\u{200B}b",
        "a\u{202E}b",
        "\u{3164}", "a\u{3164}", "\u{301}a", "a\u{1B}b", "½", "€", "/etc/hotspotd/helpers/a.helper",
    ]) func isNotPlain(_ name: String) { #expect(!Complete.isPlain(name)) }

    /// Sources the real script in a real bash, completes a line, and prints the offered words, each in brackets.
    private func offers(_ line: String, _ script: FakeDaemon.Script) throws -> [String] {
        let daemon = try FakeDaemon(script)
        defer { daemon.stop() }
        let folder = TemporaryFolder()
        let completions = folder.write(
            "completions", try Tool.run(["--generate-completion-script", "bash"]).output)
        let bash = folder.write(
            "bash",
            """
            cd "$2" || exit 1
            shopt -s extglob
            source "$1" || exit 1
            COMP_LINE="$3"
            read -ra COMP_WORDS <<< "$3"
            COMP_WORDS+=('')
            COMP_CWORD=$(( ${#COMP_WORDS[@]} - 1 ))
            COMP_POINT=${#COMP_LINE}
            _hotspotctl hotspotctl '' "${COMP_WORDS[COMP_CWORD - 1]}"
            for word in "${COMPREPLY[@]}"; do printf '[%s]\\n' "$word"; done
            """)
        mkdir(folder.path + "/here", 0o755)
        let directory = String(Tool.program[..<(Tool.program.lastIndex(of: "/") ?? Tool.program.startIndex)])
        let ended = try Tool.run(
            ["--norc", "--noprofile", bash, completions, folder.path + "/here", line], program: "/bin/bash",
            environment: ["LANG=C.UTF-8", "PATH=\(directory):/usr/bin:/bin", "HOTSPOTD_SOCKET=\(daemon.path)"])
        #expect(ended.errors.isEmpty, "\(ended.errors)")
        // A name that bash ran as a command would have written into this folder.
        #expect(rmdir(folder.path + "/here") == 0, "something was written")
        return ended.output.split(separator: "\n").map(String.init)
    }

    private static func list(_ names: String...) -> String {
        let networks = names.map {
            #"{"ssid":"\#($0)","ssidHex":"","bssid":"02:00:00:00:00:01","interface":"wlan0","frequency":2412,"signal":-50,"#
                + #""signalStrength":1,"security":"open","stations":1,"lastSeen":1,"joined":false,"disabled":false,"claims":[]}"#
        }
        return #"{"networks":[\#(networks.joined(separator: ","))]}"#
    }

    @Test func namesOfNetworksRunNothing() throws {
        let names = Self.list(
            "$(touch a)", "`touch b`", "x;touch${IFS}c", "$(touch${IFS}d)", "Cafe Aroma", "${x[$(touch e)0]}", "<(touch f)", "-j",
            "Cafe",
            "Café-2.4")
        let offered = try offers("hotspotctl forget ", .init(replies: ["List": [names]]))
        #expect(offered.filter { !$0.hasPrefix("[-") } == ["[Cafe]", "[Café-2.4]"])
    }

    @Test func refusedFilesAreNotOffered() throws {
        func helper(_ name: String, _ more: String) -> String {
            #"{"name":"\#(name)","displayName":"x","disabledFor":[],"priority":1,"ssids":[],"activation":"stdio","running":false,"#
                + #""strikes":0,"quarantined":false,\#(more)}"#
        }
        let refused = #""enabled":false,"problems":[{"code":"x","message":"It is broken."}]"#
        let helpers =
            #"{"helpers":["# + helper("form", #""enabled":true,"problems":[],"file":"/f""#) + ","
            + helper("/etc/$(touch a).helper", refused)
            + "," + helper("refused", refused) + "]}"
        let offered = try offers("hotspotctl login --helper ", .init(replies: ["Helpers": [helpers]]))
        #expect(offered == ["[form]"])
    }
}
