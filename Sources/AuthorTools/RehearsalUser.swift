import ForeignText
import HelperHost
import HotspotCore

/// The made-up user, who accepts everything and types a fitting answer into each field.
enum RehearsalUser {
    /// The answer to password fields; a helper must not show it.
    static let password = "rehearsal-secret-1"
    /// The answer to text fields; a helper must not show it either.
    static let name = "rehearsal-guest-1"
    private static let code = "735102"

    private static let secrets = [password, name, code]
    /// The made-up answers in all spellings that the daemon masks.
    static let hidden = Secrets(secrets)

    /// Returns whether a reason, a trace or standard error shows one of the answers that must not appear there.
    static func hasSecret(_ text: String) -> Bool { secrets.contains { text.contains($0) } }

    static func answers(to prompt: Prompt) -> [String: String] {
        Dictionary(
            prompt.fields.map { field in
                let answer =
                    switch field.kind {
                    case .checkbox: "yes"
                    case .choice: field.choices?.first ?? ""
                    case .email: "guest@example.com"
                    case .phone: "+15550100"
                    case .code: code
                    case .password: password
                    case .text: field.value ?? name
                    }
                return (field.name, answer)
            }, uniquingKeysWith: { first, _ in first })
    }

    /// Returns the credential that the vault would release: the answers to the prompt except boxes and codes, and an answer for
    /// each name that the helper needs.
    static func credential(prompt: Prompt?, needs: [String]) -> [String: String] {
        var credential: [String: String] = [:]
        for need in needs { credential[need] = need.lowercased().contains("pass") ? password : name }
        if let prompt {
            let lasting = prompt.fields.filter { $0.kind != .checkbox && $0.kind != .code }
            let answers = answers(to: prompt)
            for field in lasting { credential[field.name] = answers[field.name] }
        }
        return credential.isEmpty ? ["username": name, "password": password] : credential
    }
}
