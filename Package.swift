// swift-tools-version: 6.2
import PackageDescription

/// Every target of ours is held to the same rules: warnings are errors, and an async function stays on its caller's executor,
/// so that the daemon has one thread.
let rules: [SwiftSetting] = [
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .enableUpcomingFeature("ExistentialAny"),
]

let log: Target.Dependency = .product(name: "Logging", package: "swift-log")
let arguments: Target.Dependency = .product(name: "ArgumentParser", package: "swift-argument-parser")

// The languages whose words the form engine knows on portals' pages.
let languages = [
    "shared", "en", "de", "fr", "es", "it", "pt", "nl", "pl", "ru", "tr", "fa", "ar", "hi", "th", "id", "vi", "zh-Hans",
    "zh-Hant", "ja",
    "ko", "cs", "sk", "hu", "ro", "sv", "da", "nb", "fi", "uk", "bg", "el", "he", "hr", "lv", "lt", "et",
]

// The order is the way of the data: from the kernel through the machine to the helpers and back to the terminal.
let package = Package(
    name: "hotspotd",
    products: [
        .executable(name: "hotspotd", targets: ["hotspotd"]),
        .executable(name: "hotspotctl", targets: ["hotspotctl"]),
        .executable(name: "hotspot-helpers", targets: ["hotspot-helpers"]),
        .executable(name: "hotspot-dhcp", targets: ["hotspot-dhcp"]),
        .executable(name: "hotspot-companion", targets: ["hotspot-companion"]),
        .library(name: "HelperKit", targets: ["HelperKit", "PageLogin", "HotspotCore"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
    ],
    targets: [
        // The C libraries: a module map each, and inline wrappers where a macro or a variadic function needs one.
        .systemLibrary(name: "CNetlink", pkgConfig: "libnl-genl-3.0", providers: [.apt(["libnl-genl-3-dev"])]),
        // Without pkgConfig: SwiftPM warns of flags that libcurl.pc has on Debian 13, and the compiler finds the header by itself.
        .systemLibrary(name: "CCurl", providers: [.apt(["libcurl4-openssl-dev"])]),
        .systemLibrary(name: "CCares", pkgConfig: "libcares", providers: [.apt(["libc-ares-dev"])]),
        .systemLibrary(name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
        .systemLibrary(name: "CSystemd", pkgConfig: "libsystemd", providers: [.apt(["libsystemd-dev"])]),
        .systemLibrary(name: "CXML", pkgConfig: "libxml-2.0", providers: [.apt(["libxml2-dev"])]),
        .systemLibrary(name: "CSodium", pkgConfig: "libsodium", providers: [.apt(["libsodium-dev"])]),
        .systemLibrary(name: "CCrypto", pkgConfig: "libcrypto", providers: [.apt(["libssl-dev"])]),
        .systemLibrary(name: "CSeccomp", pkgConfig: "libseccomp", providers: [.apt(["libseccomp-dev"])]),
        .systemLibrary(name: "CJansson", pkgConfig: "jansson", providers: [.apt(["libjansson-dev"])]),
        .systemLibrary(name: "CLinux"),
        // Text that others wrote, made safe to print and compare: escapes, directions, blanks, marks; origins and shell words.
        .target(name: "ForeignText", swiftSettings: rules),
        // The types that all parts share: SSID, network, confidence, result, command, prompt, session, portal, problem.
        .target(name: "HotspotCore", dependencies: ["ForeignText"], swiftSettings: rules),
        // sd-event as the executor of the daemon's tasks: descriptors, timers, signals, children, watchdog.
        .target(name: "EventLoop", dependencies: ["ForeignText", "HotspotCore", "CLinux", "CSystemd"], swiftSettings: rules),
        // JSON, and framing, client, server and introspection of the Varlink protocol.
        .target(
            name: "Varlink", dependencies: ["ForeignText", "HotspotCore", "EventLoop", "CJansson", "CSystemd"],
            swiftSettings: rules),
        // Sockets to the kernel, and its messages and attributes read with bounds.
        .target(name: "Netlink", dependencies: ["EventLoop", "CNetlink"], swiftSettings: rules),
        // nl80211 through libnl: scans, BSSs, information elements, connect, disconnect and roam.
        .target(
            name: "Wireless", dependencies: ["ForeignText", "HotspotCore", "EventLoop", "Netlink", "CNetlink"],
            swiftSettings: rules),
        // The messages in which a network announces its portal's API (RFC 8910), and the questions for them, as values.
        .target(name: "PortalAnnouncement", swiftSettings: rules),
        // Asks a network for its portal's API with these messages, in a process of its own.
        .executableTarget(
            name: "hotspot-dhcp", dependencies: ["PortalAnnouncement", "CLinux", "CSeccomp"], swiftSettings: rules),
        // Addresses, routes, nameservers and the portal API's address of each link, and what manages it; the rules and counters of this
        // computer that tell why a probe is lost.
        .target(
            name: "LinkState",
            dependencies: [
                "ForeignText", "HotspotCore", "EventLoop", "Varlink", "Netlink", "PortalAnnouncement", "CSystemd", "CNetlink",
            ],
            swiftSettings: rules),
        // Joining and leaving networks through the program that manages an interface: NetworkManager, iwd,
        // wpa_supplicant, or the kernel alone.
        .target(
            name: "NetworkJoining", dependencies: ["ForeignText", "HotspotCore", "EventLoop", "Wireless"], swiftSettings: rules),
        // The gate: the routing rules that keep ordinary traffic off a captive link.
        .target(name: "Gate", dependencies: ["EventLoop", "Netlink", "CNetlink"], swiftSettings: rules),
        // State and event in, state and actions out; the only place that decides. Beside it the claims of the scan list.
        .target(name: "HotspotMachine", dependencies: ["HotspotCore"], swiftSettings: rules),
        // Helper files, the sandbox as a value, start, answers, limits, teardown.
        .target(
            name: "HelperHost", dependencies: ["ForeignText", "HotspotCore", "EventLoop", "Varlink", "CLinux", "CSeccomp"],
            exclude: ["README.md"], swiftSettings: rules),
        // What survives: networks, choices, outcomes, the journal.
        .target(name: "Store", dependencies: ["ForeignText", "HotspotCore", "EventLoop", "CSQLite"], swiftSettings: rules),
        // What is secret: answers sealed at rest, and the rule for their release.
        .target(name: "Vault", dependencies: ["HotspotCore", "CSodium"], swiftSettings: rules),
        // What becomes of the user's answers and of stored ones, as a value: events in, actions out.
        .target(name: "Answers", dependencies: ["ForeignText", "HotspotCore", "Vault"], swiftSettings: rules),
        // A login handed to a laptop nearby, and a question answered from one, as a value: keys, frames, messages, states; its transports are beside it.
        .target(
            name: "Companion", dependencies: ["Answers", "ForeignText", "HotspotCore", "Varlink", "Vault", "CSodium"],
            swiftSettings: rules),
        // Carries the companion's chunks over Bluetooth LE, as a client of BlueZ.
        .target(
            name: "CompanionBluetooth", dependencies: ["Companion", "EventLoop", "HotspotCore", "CLinux", "CSystemd"],
            swiftSettings: rules),
        // The interfaces of the daemon and of the companion service, for clients and servers: types of messages, texts of contracts.
        .target(
            name: "ControlAPI", dependencies: ["HotspotCore"],
            resources: ["Contract/org.hotspotd.Control.varlink", "Contract/org.hotspotd.Companion.varlink"].map {
                .embedInCode($0)
            },
            swiftSettings: rules),
        // Answers the calls of the control interface.
        .target(
            name: "ControlServer",
            dependencies: ["ControlAPI", "ForeignText", "HotspotCore", "EventLoop", "Varlink", "CSystemd"],
            swiftSettings: rules),
        // The companion service: its calls, its folder, its way to the daemon; a transport is handed in.
        .target(
            name: "CompanionService",
            dependencies: [
                "Answers", "Companion", "ControlAPI", "ControlServer", "EventLoop", "ForeignText", "HotspotCore", "Varlink",
                "Vault",
                "CLinux",
            ], swiftSettings: rules),
        // The same as a program, over the transport that is chosen here.
        .executableTarget(
            name: "hotspot-companion", dependencies: ["CompanionBluetooth", "CompanionService", "EventLoop"], swiftSettings: rules
        ),
        // Notifications of a user's session about questions, logins and their ends.
        .target(
            name: "Notifications",
            dependencies: ["ControlAPI", "EventLoop", "ForeignText", "HotspotCore", "Varlink", "CSystemd"],
            swiftSettings: rules),
        // The daemon, which logs the machine in to captive networks: settings, links, visits, what clients ask.
        .executableTarget(
            name: "hotspotd",
            dependencies: [
                "ForeignText", "HotspotCore", "EventLoop", "Varlink", "Wireless", "PortalAnnouncement", "LinkState",
                "NetworkJoining", "Gate",
                "HotspotMachine", "HelperHost", "Store", "Vault", "Answers", "ControlAPI", "ControlServer", "Notifications",
                "CLinux", "CSystemd", log,
            ], swiftSettings: rules),
        // The commit, which `make` names. Only this small target and the tool are built again with another one.
        .target(
            name: "CCommit",
            cSettings: [.define("HOTSPOTD_COMMIT", to: "\"\(Context.environment["HOTSPOTD_COMMIT"] ?? "")\"")]),
        // The terminal: one file for each command or family of commands, one renderer.
        .executableTarget(
            name: "hotspotctl",
            dependencies: ["CCommit", "ControlAPI", "EventLoop", "ForeignText", "HotspotCore", "Varlink", arguments],
            // The examples that authors begin with, which `helpers new` writes; links, so that there is one of each.
            resources: ["aroma.py", "aroma.sh", "aroma.main", "aroma.package"].map { .embedInCode("Examples/\($0)") },
            swiftSettings: rules),
        // HTTP, names and sockets that stay on one link, and the scope of the threads that wait for them.
        .target(
            name: "BoundHTTP", dependencies: ["ForeignText", "HotspotCore", "EventLoop", "CCurl", "CCares", "CCrypto"],
            swiftSettings: rules),
        // A page in a browser without a window, in a sandbox whose only way out is the link: read, filled in and pressed as by a person.
        .target(
            name: "Rendering", dependencies: ["BoundHTTP", "CCrypto", "EventLoop", "HotspotCore", "Varlink", "CLinux"],
            resources: [.embedInCode("page.js")], swiftSettings: rules),
        // Portals' pages: the reader, the purposes of their words, their scripts, their forms as requests, the redirects up to a page.
        .target(
            name: "PortalPages", dependencies: ["BoundHTTP", "ForeignText", "HotspotCore", "CXML"],
            resources: (languages + ["money"]).map { .embedInCode("Words/\($0).words") }, swiftSettings: rules),
        // The library for authors of helpers in Swift: protocol, the client of BoundHTTP, probe, RFC 8908.
        .target(
            name: "HelperKit",
            dependencies: ["BoundHTTP", "PortalPages", "ForeignText", "HotspotCore", "EventLoop", "Varlink"],
            exclude: ["README.md"],
            resources: ["Contract/org.hotspotd.Helper.varlink", "Contract/org.hotspotd.Probe.varlink"].map { .embedInCode($0) },
            swiftSettings: rules),
        // The login at a portal, by forms and by WISPr: what is asked and sent by the page rules, the driver, the session's memory.
        .target(
            name: "PageLogin",
            dependencies: ["HelperKit", "PortalPages", "Rendering", "ForeignText", "HotspotCore", "Varlink", "CCrypto"],
            resources: [.embedInCode("Forms/companies.txt")], swiftSettings: rules),
        // Portals that a text file describes: the parser, the matcher, and the login as a value.
        .target(
            name: "PortalCatalogue",
            dependencies: ["ForeignText", "HotspotCore", "EventLoop", "Varlink", "HelperKit", "PageLogin", "CCrypto"],
            swiftSettings: rules),
        // A browser for one login, on the link alone: its proxy, its profile, its processes.
        .target(
            name: "Browse",
            dependencies: [
                "BoundHTTP", "ControlAPI", "EventLoop", "ForeignText", "HelperKit", "HotspotCore", "Varlink", "CLinux",
            ],
            swiftSettings: rules),
        // What `hotspotctl helpers test` and `portals` do for authors: plays the commands against a helper; checks portal files and records logins.
        .target(
            name: "AuthorTools",
            dependencies: ["EventLoop", "ForeignText", "HelperHost", "HelperKit", "HotspotCore", "PageLogin", "PortalCatalogue"],
            swiftSettings: rules),
        // Our helpers, one file each, and the prober; with the two before it as one program.
        .executableTarget(
            name: "hotspot-helpers",
            dependencies: ["HelperKit", "PageLogin", "PortalCatalogue", "Browse", "AuthorTools", "Rendering"],
            exclude: ["Helpers"], swiftSettings: rules),
        // What an author writes, built with everything else so that it cannot grow stale.
        .executableTarget(
            name: "example-helper", dependencies: ["HelperKit", "PageLogin", "HotspotCore"],
            path: "Tests/Examples/swift/Sources/aroma",
            swiftSettings: rules),

        // Each tests its namesake; `DaemonTests` the daemon, `ControlToolTests` and `BrowseTests` the user's programs.
        .testTarget(name: "ForeignTextTests", dependencies: ["ForeignText", "TestSupport"], swiftSettings: rules),
        .testTarget(name: "HotspotCoreTests", dependencies: ["HotspotCore", "TestSupport"], swiftSettings: rules),
        .testTarget(name: "EventLoopTests", dependencies: ["EventLoop", "CSystemd", "TestSupport"], swiftSettings: rules),
        .testTarget(name: "VarlinkTests", dependencies: ["Varlink", "TestSupport"], swiftSettings: rules),
        .testTarget(name: "NetlinkTests", dependencies: ["Netlink"], swiftSettings: rules),
        .testTarget(name: "WirelessTests", dependencies: ["Wireless", "Netlink", "TestSupport"], swiftSettings: rules),
        .testTarget(
            name: "PortalAnnouncementTests", dependencies: ["PortalAnnouncement", "TestSupport"], swiftSettings: rules),
        .testTarget(
            name: "LinkStateTests",
            dependencies: ["LinkState", "Netlink", "NamespaceThread", "PortalAnnouncement", "TestSupport"],
            swiftSettings: rules),
        .testTarget(
            name: "NetworkJoiningTests", dependencies: ["NetworkJoining", "CSystemd", "TestSupport"], swiftSettings: rules),
        .testTarget(name: "GateTests", dependencies: ["Gate", "Netlink", "NamespaceThread"], swiftSettings: rules),
        // A test's own folder and bus, and random numbers that are the same in each run.
        .target(name: "TestSupport", path: "Tests/TestSupport", swiftSettings: rules),
        // A test's own network namespace.
        .target(name: "NamespaceThread", path: "Tests/NamespaceThread", swiftSettings: rules),
        .testTarget(
            name: "HotspotMachineTests", dependencies: ["HotspotMachine", "TestSupport"], exclude: ["Golden"],
            swiftSettings: rules),
        .testTarget(name: "HelperHostTests", dependencies: ["HelperHost", "TestSupport"], swiftSettings: rules),
        .testTarget(name: "StoreTests", dependencies: ["Store", "TestSupport"], swiftSettings: rules),
        .testTarget(name: "VaultTests", dependencies: ["Vault", "TestSupport"], swiftSettings: rules),
        .testTarget(name: "AnswersTests", dependencies: ["Answers", "TestSupport"], swiftSettings: rules),
        .testTarget(
            name: "CompanionTests", dependencies: ["Answers", "Companion", "ForeignText", "HotspotCore", "TestSupport", "Vault"],
            exclude: ["noise-peer.py"],
            swiftSettings: rules),
        .testTarget(
            name: "CompanionBluetoothTests",
            dependencies: ["Companion", "CompanionBluetooth", "EventLoop", "HotspotCore", "TestSupport"],
            swiftSettings: rules),
        // Two companions on two adapters, told what to do by lines; for the café.
        .executableTarget(
            name: "companion-pair",
            dependencies: [
                "Answers", "Companion", "CompanionBluetooth", "EventLoop", "ForeignText", "HotspotCore", "Varlink", "Vault",
            ],
            path: "Tests/CompanionPair", swiftSettings: rules),
        .testTarget(
            name: "CompanionServiceTests",
            dependencies: [
                "Answers", "Companion", "CompanionService", "ControlAPI", "ControlServer", "EventLoop", "HotspotCore",
                "TestSupport",
                "Varlink",
            ], swiftSettings: rules),
        .testTarget(
            name: "ControlServerTests", dependencies: ["ControlAPI", "ControlServer", "TestSupport"], swiftSettings: rules),
        .testTarget(name: "DaemonTests", dependencies: ["hotspotd", "PortalAnnouncement", "TestSupport"], swiftSettings: rules),
        .testTarget(
            name: "ControlToolTests",
            dependencies: ["ControlAPI", "hotspotctl", "Notifications", "TestSupport"],
            exclude: ["Scenes"],
            swiftSettings: rules),
        .testTarget(
            name: "BrowseTests", dependencies: ["BoundHTTP", "Browse", "HelperKit", "HotspotCore", "TestSupport"],
            swiftSettings: rules
        ),
        .testTarget(
            name: "RenderingTests", dependencies: ["BoundHTTP", "CLinux", "HotspotCore", "Rendering", "TestSupport", "Varlink"],
            swiftSettings: rules),
        .testTarget(
            name: "HelperKitTests",
            dependencies: [
                "AuthorTools", "BoundHTTP", "HelperKit", "PageLogin", "PortalPages", "hotspot-helpers", "TestSupport",
            ],
            swiftSettings: rules),
        // Says of saved portal pages what the helpers ask and send there, offline.
        .executableTarget(
            name: "page-judge", dependencies: ["HelperKit", "HotspotCore", "PageLogin", "PortalCatalogue"], path: "Tests/Pages",
            exclude: ["README.md", "cases"],
            swiftSettings: rules),
        // Walks the cases of `Tests/Pages`.
        .testTarget(name: "PageTests", dependencies: ["PageLogin", "page-judge"], swiftSettings: rules),
        .testTarget(name: "PortalCatalogueTests", dependencies: ["PortalCatalogue", "TestSupport"], swiftSettings: rules),
        .testTarget(
            name: "AuthorToolsTests", dependencies: ["AuthorTools", "HelperKit", "PortalCatalogue"], swiftSettings: rules),
        // The memory that this process holds, as the C library counts it.
        .target(name: "CHeap", path: "Tests/Benchmarks/CHeap"),
        // The costs of events, lists and journals, printed: `make bench`.
        .executableTarget(
            name: "benchmarks",
            dependencies: [
                "HotspotCore", "HotspotMachine", "Store", "ControlAPI", "ControlServer", "Varlink", "HelperKit",
                "PortalCatalogue", "CHeap",
                "TestSupport",
            ],
            path: "Tests/Benchmarks/Machine",
            swiftSettings: rules),
        // The real daemon, driven from outside: in namespaces, and in the café.
        .testTarget(
            name: "IntegrationTests", dependencies: ["HotspotCore", "TestSupport", "Store", "Varlink"], swiftSettings: rules),
    ]
)

// The parsers of foreign octets, for the fuzzers (`make fuzz`), which need the toolchain's sanitizers in each module; in other builds the
// same parsers read the seeds in a test.
let parsers: [Target.Dependency] = [
    "Answers", "AuthorTools", "BoundHTTP", "Companion", "CompanionBluetooth", "ControlAPI", "ControlServer", "EventLoop",
    "ForeignText", "HelperHost", "HelperKit", "HotspotCore", "HotspotMachine", "LinkState", "Netlink", "NetworkJoining",
    "PageLogin", "PortalAnnouncement", "PortalCatalogue", "PortalPages", "Rendering", "Varlink", "Vault", "Wireless",
]
package.targets +=
    Context.environment["HOTSPOTD_FUZZ"] == nil
    ? [
        .testTarget(
            name: "FuzzTests", dependencies: parsers + ["TestSupport"], path: "Tests/Fuzz",
            exclude: ["CFuzzer", "Fuzz.swift", "fuzz", "inputs", "seeds"], swiftSettings: rules)
    ]
    : [
        .systemLibrary(name: "CFuzzer", path: "Tests/Fuzz/CFuzzer"),
        .executableTarget(
            name: "fuzz", dependencies: parsers + ["CFuzzer"], path: "Tests/Fuzz",
            exclude: ["CFuzzer", "SecurityPageTests.swift", "SeedTests.swift", "fuzz", "inputs", "seeds"], swiftSettings: rules),
    ]
