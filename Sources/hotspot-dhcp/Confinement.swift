import CLinux
import CSeccomp
import Glibc

/// Limits the program before it reads strangers' packets: drops all capabilities, and allows only system calls for sockets, memory, time and exit.
/// The program then cannot open files, start programs or send signals (R1).
enum Confinement {
    private static let allowed = [
        "recvfrom", "sendto", "poll", "ppoll", "write", "clock_gettime", "exit", "exit_group", "brk", "mmap", "munmap", "mremap",
        "madvise",
        "futex", "rt_sigreturn", "restart_syscall",
    ]

    static func enter() throws(Failure) {
        guard clinux_drop_capabilities() == 0 else { throw Failure("capset") }
        guard let context = seccomp_init(cseccomp_errno(UInt16(ENOSYS))) else { throw Failure("seccomp_init", ENOMEM) }
        defer { seccomp_release(context) }
        for name in allowed {
            let number = seccomp_syscall_resolve_name(name)
            // Skips a system call that this processor does not have.
            guard number >= 0 else { continue }
            let result = seccomp_rule_add_array(context, CSECCOMP_ALLOW, number, 0, nil)
            guard result == 0 else { throw Failure("seccomp_rule_add", -result) }
        }
        // Allows ioctl(2) only to read the interface's addresses: SIOCGIFADDR and SIOCGIFHWADDR.
        for request in [0x8915, 0x8927] as [UInt64] {
            let condition = scmp_arg_cmp(arg: 1, op: SCMP_CMP_MASKED_EQ, datum_a: 0xFFFF_FFFF, datum_b: request)
            let result = seccomp_rule_add_array(context, CSECCOMP_ALLOW, seccomp_syscall_resolve_name("ioctl"), 1, [condition])
            guard result == 0 else { throw Failure("seccomp_rule_add", -result) }
        }
        // Loading the filter also sets PR_SET_NO_NEW_PRIVS.
        let result = seccomp_load(context)
        guard result == 0 else { throw Failure("seccomp_load", -result) }
    }
}
