import EventLoop
import Glibc
import HotspotCore

/// The facts about this computer that explain why bubblewrap could not make a sandbox. AppArmor is blamed only on its own evidence: its switch, or
/// the profile under which bubblewrap ran.
struct SandboxRefusal: Hashable {
    static let shippedProfile = "/usr/share/hotspotd/apparmor-hotspotd"
    static let profile = "/etc/apparmor.d/hotspotd"
    /// When a program without a profile makes a user namespace, Ubuntu's kernel moves the program into this profile.
    private static let ubuntusProfile = "unprivileged_userns"

    /// Whether bubblewrap can be executed.
    var hasBubblewrap = true
    /// `user.max_user_namespaces` (namespaces(7)).
    var mostUserNamespaces: Int?
    /// `kernel.unprivileged_userns_clone`, of Debian's and Ubuntu's kernels.
    var allowsClone: Int?
    /// `kernel.apparmor_restrict_unprivileged_userns`, of Ubuntu's kernels from 23.10 on.
    var restrictsUserNamespaces: Int?
    /// The AppArmor profile under which bubblewrap ended, with its mode, such as "unconfined" or "bwrap (enforce)"; `nil` without AppArmor.
    var label: String?
    /// Whether hotspotd's profile is in AppArmor's folder.
    var hasProfile = false

    /// Reads the facts.
    static func ofThisComputer(label: String?) -> SandboxRefusal {
        func number(_ name: String) -> Int? {
            FilePath.text(of: "/proc/sys/\(name)", limit: 32).flatMap { Int($0.filter { $0 != "\n" }) }
        }
        return SandboxRefusal(
            hasBubblewrap: access(Sandbox.bubblewrap, X_OK) == 0, mostUserNamespaces: number("user/max_user_namespaces"),
            allowsClone: number("kernel/unprivileged_userns_clone"),
            restrictsUserNamespaces: number("kernel/apparmor_restrict_unprivileged_userns"), label: label,
            hasProfile: access(profile, F_OK) == 0)
    }

    /// Returns the problem for the user.
    ///
    /// - Parameter words: how the trial ended, without a full stop; used if the facts give no reason.
    func problem(_ words: String) -> Problem {
        let known = reason(words)
        // Drops this prefix, because the problem's message below begins with the same statement.
        let rest = words.hasPrefix(HelperProcess.notStarted) ? String(words.dropFirst(HelperProcess.notStarted.count)) : words
        return Problem(
            .sandboxUnavailable, "No helper can be started: \(known?.sentence ?? rest).",
            hint: known?.hint
                ?? "run helpers as services (\"Where sandboxes are forbidden\" in security.md), or set Containment=none, which removes all protection"
        )
    }

    private func reason(_ words: String) -> (sentence: String, hint: String)? {
        if !hasBubblewrap { return ("bubblewrap is missing", "sudo apt install bubblewrap, then: \(OwnService.reload)") }
        if mostUserNamespaces == 0 {
            return (
                "this computer allows no user namespaces (user.max_user_namespaces=0)",
                "sudo sysctl user.max_user_namespaces=10000, then: \(OwnService.reload)"
            )
        }
        if allowsClone == 0 {
            return (
                "this computer allows user namespaces only to root (kernel.unprivileged_userns_clone=0)",
                "sudo sysctl kernel.unprivileged_userns_clone=1, then: \(OwnService.reload)"
            )
        }
        return appArmor(words)
    }

    /// Returns the reason if AppArmor refused: AppArmor returns EACCES, other rules of the kernel EPERM.
    private func appArmor(_ words: String) -> (sentence: String, hint: String)? {
        guard words.hasSuffix(String(cString: strerror(EACCES))), let label else { return nil }
        let name = label.hasSuffix(Self.enforced) ? String(label.dropLast(Self.enforced.count)) : nil
        let isUbuntus = restrictsUserNamespaces == 1 && (label == "unconfined" || name == Self.ubuntusProfile)
        if isUbuntus {
            let link = hasProfile ? "" : "sudo ln -s \(Self.shippedProfile) \(Self.profile), then: "
            return (
                "AppArmor forbids user namespaces to programs without a profile (kernel.apparmor_restrict_unprivileged_userns=1)",
                "\(link)sudo apparmor_parser --replace \(Self.profile), then: \(OwnService.restart)"
            )
        }
        return name.map {
            (
                "AppArmor's profile \($0) refuses user namespaces",
                "add the line \"userns,\" to the profile \($0) in /etc/apparmor.d, load it with apparmor_parser --replace, then: \(OwnService.restart)"
            )
        }
    }

    private static let enforced = " (enforce)"
}
