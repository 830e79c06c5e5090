// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "aroma",
    dependencies: [.package(url: "https://github.com/hotspotd/hotspotd", branch: "main")],
    targets: [.executableTarget(name: "aroma", dependencies: [.product(name: "HelperKit", package: "hotspotd")])]
)
