import HelperHost
import HotspotCore

/// The user of a rehearsal: says yes to everything, and types what fits.
enum RehearsalUser {
    /// What is typed into password fields; nobody may show it.
    static let password = "rehearsal-secret-1"
    /// What is typed where a name or a number is asked for; nobody needs to show that either.
    static let name = "rehearsal-guest-1"
    private static let code = "735102"

    /// What must not come back in a reason, a trace or on standard error.
    static let secrets = [password, name, code]
    /// The same, to be found in every form in which a helper may repeat it.
    static let hidden = Secrets(secrets)

    /// Answers to a prompt.
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

    /// What the vault would release: what was typed at the prompt, without boxes and codes, or what the helper says that it needs.
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
