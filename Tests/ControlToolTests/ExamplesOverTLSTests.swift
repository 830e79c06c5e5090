import Glibc
import Testing

/// The examples send an https page's answers only over https, and only to a portal with a valid certificate.
@Suite(.timeLimit(.minutes(10))) struct ExamplesOverTLSTests {
    private static let examples = "/" + #filePath.split(separator: "/").dropLast(2).joined(separator: "/") + "/Examples"

    /// In CI nothing is skipped.
    private static func has(_ programs: String...) -> Bool {
        getenv("CI") != nil || programs.allSatisfy { access("/usr/bin/" + $0, X_OK) == 0 }
    }

    private func play(_ example: String, _ options: String...) async throws {
        let ended = try await Aside.run {
            try Tool.run(
                [Self.examples + "/" + example] + options, program: Self.examples + "/over-tls.py",
                environment: ["PATH=/usr/bin:/bin"])
        }
        #expect(ended.status == 0 && ended.output == "ok\n", "\(ended.output)\(ended.errors)")
    }

    @Test(.enabled(if: has("python3", "openssl"))) func python() async throws { try await play("python/aroma.py", "--types") }

    @Test(.enabled(if: has("python3", "openssl", "curl", "jq"))) func shell() async throws { try await play("shell/aroma.sh") }
}
