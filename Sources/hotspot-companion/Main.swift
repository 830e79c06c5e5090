import CompanionService

/// The companion service: see the target `CompanionService`.
@main struct Main {
    static func main() { ServiceProgram.run { _ in MissingTransport() } }
}
