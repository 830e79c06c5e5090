import HotspotCore
import Testing

@testable import HelperHost

/// The reason why no sandbox can be made, on machines that differ in one fact.
@Suite struct SandboxRefusalTests {
    private static let denied = "it could not be started: its sandbox: setting up uid map: Permission denied"
    private static let forbidden = "it could not be started: its sandbox: No permissions to create new namespace"

    /// A machine, the error of the trial, a part of the sentence, and a part of the command.
    private static let machines: [(SandboxRefusal, String, String, String)] = [
        (SandboxRefusal(hasBubblewrap: false), "it was not started", "bubblewrap is missing", "apt install bubblewrap"),
        (SandboxRefusal(mostUserNamespaces: 0), forbidden, "user.max_user_namespaces=0", "sudo sysctl user.max_user"),
        (
            SandboxRefusal(mostUserNamespaces: 9000, allowsClone: 0, restrictsUserNamespaces: 1, label: "unconfined"), denied,
            "kernel.unprivileged_userns_clone=0", "sudo sysctl kernel.unprivileged_userns_clone=1"
        ),
        (
            SandboxRefusal(restrictsUserNamespaces: 1, label: "unconfined"), denied, "AppArmor forbids",
            "sudo ln -s /usr/share/hotspotd/apparmor-hotspotd /etc/apparmor.d/hotspotd, then: sudo apparmor_parser --replace"
        ),
        (
            SandboxRefusal(restrictsUserNamespaces: 1, label: "unprivileged_userns (enforce)", hasProfile: true), denied,
            "AppArmor forbids", "sudo apparmor_parser --replace /etc/apparmor.d/hotspotd"
        ),
        (SandboxRefusal(allowsClone: 1, label: "bwrap (enforce)"), denied, "AppArmor's profile bwrap refuses", "profile bwrap"),
    ]

    @Test(arguments: machines.indices) func theFactsNameTheReason(_ place: Int) {
        let (machine, words, sentence, hint) = Self.machines[place]
        let problem = machine.problem(words)
        #expect(problem.message.hasPrefix("No helper can be started: ") && problem.message.contains(sentence), "\(problem)")
        #expect(problem.hint?.contains(hint) == true, "\(problem)")
    }

    /// AppArmor is not blamed just because it is there: bubblewrap's own words are the reason.
    @Test(arguments: [
        (SandboxRefusal(restrictsUserNamespaces: 1, label: "hotspotd (unconfined)", hasProfile: true), denied),
        (SandboxRefusal(restrictsUserNamespaces: 0, label: "unconfined"), denied),
        (SandboxRefusal(restrictsUserNamespaces: 1, label: "unconfined"), forbidden),
        (SandboxRefusal(label: "bwrap (complain)"), denied),
        (SandboxRefusal(restrictsUserNamespaces: 1), denied),
    ]) func appArmorIsNotBlamed(_ machine: SandboxRefusal, _ words: String) {
        let problem = machine.problem(words)
        let own = words.split(separator: ": ").dropFirst().joined(separator: ": ")
        #expect(problem.message == "No helper can be started: \(own)." && problem.hint?.contains("Containment=none") == true)
        #expect(problem.hint?.contains("AppArmor") == false, "\(problem)")
    }
}
