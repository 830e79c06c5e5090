/// Puts arguments into the order that the parser expects: common options may come before the verb, as with systemd's tools, and `--json` and `--wait`
/// may have no value.
enum ArgumentOrder {
    static let defaultWait = "120"
    private static let flags: Set = ["-j", "--no-legend", "--no-ask"]
    private static let options: Set = ["--socket", "--json"]

    static func arrange(_ arguments: [String], verbs: Set<String>) -> [String] {
        var rest = values(arguments)[...]
        var common: [String] = []
        while let first = rest.first {
            if flags.contains(first) || options.contains(where: { first.hasPrefix($0 + "=") }) {
                common.append(rest.removeFirst())
            } else if options.contains(first), rest.count > 1 {
                common += [rest.removeFirst(), rest.removeFirst()]
            } else {
                break
            }
        }
        guard let verb = rest.first, verbs.contains(verb) else { return common + rest }
        return [verb] + common + rest.dropFirst()
    }

    /// Adds the default values of `--json` and `--wait`. Arguments after `--` stay as they are.
    private static func values(_ arguments: [String]) -> [String] {
        var result: [String] = []
        for (index, argument) in arguments.enumerated() {
            if argument == "--" { return result + arguments[index...] }
            let next = index + 1 < arguments.count ? arguments[index + 1] : ""
            switch argument {
            case "--json" where JSONMode(rawValue: next) == nil: result.append("--json=pretty")
            case "--wait" where Double(next) == nil: result.append("--wait=\(defaultWait)")
            default: result.append(argument)
            }
        }
        return result
    }
}
