import HotspotCore

/// The user of a rehearsal: says yes to everything, and types what fits.
enum RehearsalUser {
    /// What is typed into password fields; nobody may show it.
    static let password = "rehearsal-secret-1"

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
                    case .code: "123456"
                    case .password: password
                    case .text: field.value ?? "Guest"
                    }
                return (field.name, answer)
            }, uniquingKeysWith: { first, _ in first })
    }
}
