import Glibc
import HelperHost
import HotspotCore
import HotspotMachine
import TestSupport
import Testing
import Vault

@testable import hotspotd

@Suite struct SettingsTests {
    private func load(_ text: String, dropIns: [String: String] = [:]) throws -> Settings {
        try withFiles(text, dropIns) { try Settings.load($0, isDefault: false, base: Settings(environment: [:])) }
    }

    private func withFiles<T>(_ text: String, _ dropIns: [String: String], _ read: (String) throws -> T) throws -> T {
        let folder = TemporaryFolder()
        for (name, text) in dropIns { folder.write("hotspotd.conf.d/\(name)", text) }
        let file = folder.write("hotspotd.conf", text)
        return try read(file)
    }

    @Test func trustedNetworksAreProtectedOnes() throws {
        let settings = try load("[Policy]\nTrustedNetworks=Home;Office-*\n")
        let protected: Set<Security> = [.psk, .sae, .enterprise]
        for security in Security.allCases {
            for name in ["Home", "Office-2"] {
                #expect(settings.trusts(SSID(printable: name)!, security) == protected.contains(security), "\(name) \(security)")
            }
            #expect(!settings.trusts(SSID(printable: "Cafe")!, security) && !settings.trusts(SSID(printable: "home")!, security))
            #expect(!Settings(environment: [:]).trusts(SSID(printable: "Home")!, security))
        }
    }

    @Test func aReloadKeepsTheFoldersThatAreOpenAndSaysSo() throws {
        let now = try load("[Daemon]\nStateDirectory=/one\nRuntimeDirectory=/two\nLogLevel=info\n")
        let (same, none) = now.replaced(by: try load("[Daemon]\nStateDirectory=/one\nRuntimeDirectory=/two\nLogLevel=debug\n"))
        #expect(none.isEmpty && same.logLevel == .debug)
        let (next, kept) = now.replaced(
            by: try load("[Daemon]\nStateDirectory=/three\nRuntimeDirectory=/four\nHelperDirectories=/five\n"))
        #expect(kept == ["StateDirectory=", "RuntimeDirectory="])
        #expect(next.stateDirectory == "/one" && next.controlSocket == now.controlSocket && next.helperDirectories == ["/five"])
    }

    @Test func theDefaultsAreTheSpecifications() throws {
        let settings = try load("")
        #expect(settings.policy.commandTimeout == .seconds(45))
        #expect(settings.policy.maintainInterval == .seconds(300))
        #expect(settings.policy.lowGrace == .seconds(5))
        #expect(settings.filterInterval == .seconds(5))
        #expect(settings.acceptTerms == .remembered)
        #expect(settings.plainHTTPAnswers == .confirm && settings.remember == .always && !settings.manageEthernet)
        #expect(settings.controlSocket == "/run/hotspotd/org.hotspotd.Control")
        #expect(settings.helperControlSocket == "/run/hotspotd/org.hotspotd.Control.helpers")
    }

    @Test func theHistoryIsForThePermittedAndForNinetyDays() throws {
        let settings = try load("")
        #expect(settings.namesFor == .permitted && settings.historyDays == 90)
        let other = try load("[Daemon]\nNamesFor=everyone\nHistoryDays=0\n")
        #expect(other.namesFor == .everyone && other.historyDays == 0)
        for wrong in ["NamesFor=all", "HistoryDays=-1", "HistoryDays=soon"] {
            #expect(throws: Keyfile.Error.self) { try load("[Daemon]\n\(wrong)\n") }
        }
    }

    @Test func helpersRunInASandboxUnlessTheSettingsSayOtherwise() throws {
        #expect(try load("").containment == .sandbox)
        #expect(try load("[Daemon]\nContainment=none\n").containment == HostConfiguration.Containment.none)
        #expect(throws: Keyfile.Error.self) { try load("[Daemon]\nContainment=no\n") }
    }

    @Test func scriptsRunInTheBrowserThatIsThereUnlessTheSettingsNameAnotherOrNone() throws {
        #expect(try load("").browser == .auto)
        #expect(try load("[Scripts]\nBrowser=auto\n").browser == .auto)
        #expect(try load("[Scripts]\nBrowser=none\n").browser == Settings.ScriptBrowser.none)
        #expect(try load("[Scripts]\nBrowser=/opt/chrome/chrome\n").browser == .path("/opt/chrome/chrome"))
        for wrong in ["Browser=chromium", "Browser=yes", "Browser=", "Browser=none /usr/bin/chromium", "Browsers=none"] {
            #expect(throws: Keyfile.Error.self, "\(wrong)") { try load("[Scripts]\n\(wrong)\n") }
        }
        #expect(throws: Keyfile.Error.self) { try load("[Policy]\nBrowser=none\n") }
    }

    @Test func anObsoleteKeyIsIgnoredAndSaidToBe() throws {
        let settings = try load("[Daemon]\nPortalDirectories=/etc/hotspotd/portals\nLogLevel=debug\n")
        #expect(settings.logLevel == .debug && settings.ignoredEntries.count == 1)
        #expect(
            settings.ignoredEntries[0].hasSuffix("hotspotd.conf:2: PortalDirectories= is no longer used and is ignored."))
        #expect(throws: Keyfile.Error.self) { try load("[Policy]\nPortalDirectories=/a\n") }
    }

    @Test func timesTakeFractionsOfASecond() throws {
        #expect(try load("[Commands]\nTimeoutSec=0.25\n").policy.commandTimeout == .milliseconds(250))
    }

    @Test func strictRulesComeFirstAndAnExplicitSettingOverridesThem() throws {
        let strict = try load("[Policy]\nRules=strict\n")
        #expect(strict.policy.onTimeout == .fatal && strict.policy.onFailure == .disconnect && strict.policy.lowGrace == nil)
        let mixed = try load("[Commands]\nLowGraceSec=2\n[Policy]\nOnTimeout=temporary\nRules=strict\n")
        #expect(mixed.policy.onTimeout == .temporary && mixed.policy.onFailure == .disconnect)
        #expect(mixed.policy.lowGrace == .seconds(2))
    }

    @Test(arguments: [
        ("", PlainHTTPAnswers.confirm), ("Rules=strict", .never), ("PlainHTTPAnswers=automatic", .automatic),
        ("PlainHTTPAnswers=confirm\nRules=strict", .confirm), ("AllowPlainHTTPCredentials=yes", .automatic),
        ("AllowPlainHTTPCredentials=no", .never),
    ]) func theOldKeyForPlainHTTPIsStillUnderstood(_ text: String, _ plain: PlainHTTPAnswers) throws {
        #expect(try load("[Policy]\n\(text)\n").plainHTTPAnswers == plain)
    }

    @Test func loggingOffIsOffByDefaultAndTakesWhatEndsASession() throws {
        #expect(try load("").logoffOn.isEmpty && load("[Policy]\nLogoffOn=\n").logoffOn.isEmpty)
        #expect(
            try load("[Policy]\nLogoffOn=sleep;lid;lock;idle:30min\n").logoffOn
                == LogoffOn(sleep: true, lid: true, lock: true, idle: .seconds(1800)))
        #expect(try load("[Policy]\nLogoffOn=idle:2h\n").logoffOn == LogoffOn(idle: .seconds(7200)))
    }

    @Test func aLaterDropInWins() throws {
        let settings = try load(
            "[Policy]\nAcceptTerms=ask\n",
            dropIns: [
                "20-b.conf": "[Policy]\nAcceptTerms=yes\n", "10-a.conf": "[Policy]\nAcceptTerms=remembered\n",
                "30.txt": "nonsense",
            ])
        #expect(settings.acceptTerms == .yes)
    }

    @Test(arguments: [
        "[Interfaces]\nScanFrequencies=2412;99", "[Interfaces]\nManageEthernet=perhaps", "[Daemon]\nStateDirectory=here",
        "[Daemon]\nHelperDirectories=/a;b", "[Probe]\nExec=hotspot-helpers", "[Probe]\nHTTPSURL=http://x",
        "[Policy]\nGate=yes", "[Policy]\nRemember=yes", "[Policy]\nLogoffOn=wave", "[Policy]\nLogoffOn=idle:",
        "[Policy]\nLogoffOn=idle:0min", "[Policy]\nLogoffOn=idle:5", "[Policy]\nPlainHTTPAnswers=no",
        "[Probe]\nNameservers=dns.example", "[Probe]\nNameservers=9.9.9.9;10.0.0.1%wlan0", "[Probe]\nNameservers=1.2.3",
        "[Commands]\nTimeoutSec=-1", "[Commands]\nTimeoutSec=nan", "[Interfaces]\nMatch=\\q",
    ]) func aMistakeIsAnErrorWithItsLine(_ text: String) throws {
        let error = #expect(throws: Keyfile.Error.self) { try load(text) }
        #expect(error?.line == 2)
        #expect(error?.message.isEmpty == false)
    }

    @Test func everyMistakeIsNamed() throws {
        let text = "[Policy]\nGate=yes\nRules=loose\nnonsense\n[Polcy]\nA=1\nB=2\n[Broken\nC=3\n[Daemon]\nLogLvel=info\n"
        let (mistakes, settings) = try withFiles(text, ["a.conf": "[Daemon]\nLogLevel=debug\nHistoryDays=soon\n"]) { file in
            let (settings, mistakes) = Settings.read(file, isDefault: false, base: Settings(environment: [:]))
            return (mistakes.map { "\($0.file.dropFirst(file.count)):\($0.line)" }, settings)
        }
        #expect(mistakes == [":2", ":3", ":4", ":6", ":8", ":11", ".d/a.conf:3"])
        #expect(settings.logLevel == .debug, "what is right is read")
    }

    @Test func resolversAreAddresses() throws {
        #expect(
            try load("[Probe]\nNameservers=9.9.9.9; 2620:fe::fe fe80::1%wlan0").probeNameservers == [
                "9.9.9.9", "2620:fe::fe", "fe80::1%wlan0",
            ])
        #expect(try load("[Probe]\nNameservers=").probeNameservers == [])
    }

    @Test func everyKeyOfTheShippedFileIsKnown() throws {
        let path = #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
        #expect(
            Settings.read("/\(path)/systemd/hotspotd.conf", isDefault: false).settings.file == "/\(path)/systemd/hotspotd.conf")
        let octets = try SettingsFile.read("/\(path)/systemd/hotspotd.conf")
        // Each commented key stands for the default; uncommented, it must be readable.
        let text = String(decoding: octets, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false).map { line in
            line.hasPrefix("#") && line.contains("=") && !line.hasPrefix("# ") ? String(line.dropFirst()) : String(line)
        }
        _ = try load(text.joined(separator: "\n"))
    }
}
