extension HelperTemplate {
    /// A helper in Swift, with HelperKit. The same text as in `Tests/Examples/swift`; a test holds the two together.
    static let swift = ##"""
        import HelperKit
        import HotspotCore

        /// A hotspot helper: it fills in the form on the portal's page, with what the user answered, and sends it.
        @main struct Main: Helper {
            let name = "aroma"
            let displayName = "Aroma portal"

            static func main() { HelperService([Main()], version: "1").run() }

            func filterScanList(_ networks: [Network]) -> [Annotation] {
                networks.filter { !$0.security.isSecured }
                    .map { Annotation(ssidHex: $0.ssidHex, security: $0.security, confidence: .high) }
            }

            func evaluate(_ visit: Visit) -> Evaluation {
                guard let result = visit.probe(), result.verdict == .captive, let finding = login(visit).look(from: result) else {
                    return Evaluation(.none)
                }
                return Evaluation(.high, portal: finding.portal, needs: finding.needs)
            }

            func authenticate(_ visit: Visit) -> Reply { login(visit).run(from: nil, isTypedNow: false) }
            func presentUI(_ visit: Visit) -> Reply { login(visit).run(from: nil, isTypedNow: true) }
            func maintain(_ visit: Visit) -> Reply { Maintenance.run(visit) { login(visit).look(from: $0)?.portal } }
            func logoff(_ visit: Visit) -> Reply { Logoff.run(visit) }

            /// Pages, forms, terms and cookies are HelperKit's business. `visit.client()` makes requests of one's own, `visit.connect` and
            /// `visit.datagrams` speak TCP and UDP; all of it over this link and no other.
            private func login(_ visit: Visit) -> FormLogin { FormLogin(kind: name, visit: visit) }
        }
        """##

    /// The package around it.
    static let package = ##"""
        // swift-tools-version: 6.2
        import PackageDescription

        let package = Package(
            name: "aroma",
            dependencies: [.package(url: "https://github.com/hotspotd/hotspotd", branch: "main")],
            targets: [.executableTarget(name: "aroma", dependencies: [.product(name: "HelperKit", package: "hotspotd")])]
        )
        """##
}
