/// Knows the forms of gateways that are sent plainly although their pages load a script that encrypts.
extension FormScripts {
    /// Whether the form is sent plainly although the page loads a script that encrypts: MikroTik's without a challenge, as the gateway
    /// writes the challenge and the handler into the page, and that of a CoovaChilli portal whose server computes the response.
    func isPlain(_ form: HTMLForm, _ clues: Clues) -> Bool {
        let flow = ScriptFlow(tokens)
        let mayRun = tokens.indices.contains { tokens[$0].text.lowercased().contains("md5") && flow.runs(at: $0) }
        guard !mayRun, clues.handlers.allSatisfy(\.isEmpty), clues.links.isEmpty else { return false }
        let isMikroTik =
            clues.name == "login" && form.action.hasSuffix("/login") && form.inputs.map(\.name) == ["username", "password"]
        return isMikroTik || form.controls.contains { $0.kind == .hidden && $0.name == "chal" && !$0.value.isEmpty }
    }
}
