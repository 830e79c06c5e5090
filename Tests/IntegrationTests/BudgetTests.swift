import Foundation
import Testing

/// The libraries that the programs may link: a portal's bytes are parsed in a process that holds no key, so the daemon has no library for them.
@Suite(.enabled(if: Machine.runs(Machine.hasRelease), "make build makes the release binaries that these tests look at"))
struct BudgetTests {
    private func libraries(_ program: String) throws -> [String] {
        let run = try Finished.run("/usr/bin/ldd", [Machine.release.appendingPathComponent(program).path])
        try #require(run.status == 0, "\(run.output)")
        return run.output.split(separator: "\n").compactMap {
            $0.split(separator: " ").first.map { $0.trimmingCharacters(in: .whitespaces) }
        }
    }

    @Test func theDaemonLinksNothingThatParsesWhatAPortalWrote() throws {
        let linked = try libraries("hotspotd")
        #expect(linked.contains { $0.contains("libsystemd") }, "ldd names the libraries: \(linked)")
        #expect(linked.contains { $0.contains("libjansson") }, "it reads the JSON of helpers and clients")
        for word in ["libcurl", "libxml2", "libicu", "libFoundation", "libcares", "libssl"] {
            #expect(!linked.contains { $0.contains(word) }, "\(word) is linked")
        }
    }

    @Test(arguments: ["hotspotd", "hotspotctl", "hotspot-helpers", "hotspot-dhcp", "hotspot-companion"])
    func everyProgramCarriesItsOwnSwift(_ program: String) throws {
        let linked = try libraries(program)
        #expect(
            !linked.contains { $0.contains("libswift") || $0.contains("libFoundation") || $0.contains("lib_Foundation") },
            "\(linked)")
    }

    @Test func theProgramThatAsksNetworksLinksNextToNothing() throws {
        let linked = try libraries("hotspot-dhcp").filter { !$0.hasPrefix("linux-vdso") && !$0.hasPrefix("/lib64/ld-") }
        let names = Set(linked.map { $0.prefix { $0 != "." } })
        #expect(names.isSubset(of: ["libseccomp", "libc", "libm", "libstdc++", "libgcc_s", "libpthread", "libdl"]), "\(linked)")
    }

    /// ICU is part of hotspot-helpers through Debian's libxml2, as a shared library; hotspotd itself brings neither ICU nor Foundation.
    @Test(arguments: ["hotspotd", "hotspotctl", "hotspot-helpers", "hotspot-companion"])
    func noProgramCarriesFoundation(_ program: String) throws {
        let symbols = try Finished.run("/usr/bin/nm", ["--defined-only", Machine.release.appendingPathComponent(program).path])
        try #require(symbols.status == 0)
        #expect(symbols.output.contains("HotspotCore"), "the symbols can be read")
        // swift-argument-parser brings FoundationEssentials.
        #expect(symbols.output.contains("FoundationEssentials") == (program == "hotspotctl"))
        // Regular expressions: a search for a text in a text brings all of them.
        if program == "hotspotd" { #expect(!symbols.output.contains("_StringProcessing")) }
        #expect(!symbols.output.contains("_foundation_icu") && !symbols.output.contains("20FoundationInternationalization"))
    }
}
