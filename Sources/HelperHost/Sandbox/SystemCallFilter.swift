import CLinux
import CSeccomp
import Glibc

/// The system calls that a helper may make, as a filter made by libseccomp (seccomp(2)).
///
/// R1: a portal that has taken over a helper does not reach the rarely used parts of the kernel, nor nl80211, which would tell it of
/// the networks in sight. An allow-list; everything else does not exist (ENOSYS), as on an older kernel, for which C libraries and
/// runtimes have another way.
enum SystemCallFilter {
    /// A file in memory with the filter as bubblewrap reads it (`--seccomp`); the caller's to close.
    static func make() throws(Errno) -> Int32 {
        guard let context = seccomp_init(cseccomp_errno(UInt16(ENOSYS))) else { throw Errno(code: ENOMEM) }
        defer { seccomp_release(context) }
        for name in allowed { try allow(context, name) }
        for rule in restricted { try allow(context, rule.name, rule.conditions) }
        // The answer of a kernel that has no such family, which C libraries expect.
        try add(context, cseccomp_errno(UInt16(EAFNOSUPPORT)), "socket", [.init(0, SCMP_CMP_GT, UInt64(AF_INET6))])
        let file = memfd_create("hotspotd-filter", 1 /* MFD_CLOEXEC */)
        guard file >= 0 else { throw Errno(code: errno) }
        let result = seccomp_export_bpf(context, file)
        guard result == 0 else {
            close(file)
            throw Errno(code: -result)
        }
        return file
    }

    /// A condition on one argument of a call.
    struct Condition {
        let value: scmp_arg_cmp

        init(_ argument: UInt32, _ test: scmp_compare, _ first: UInt64, _ second: UInt64 = 0) {
            value = scmp_arg_cmp(arg: argument, op: test, datum_a: first, datum_b: second)
        }

        /// None of these bits is set.
        static func without(_ bits: UInt64, in argument: UInt32) -> Condition {
            Condition(argument, SCMP_CMP_MASKED_EQ, bits, 0)
        }

        /// The lower half, which is all that the kernel looks at, has this value.
        static func equal(_ argument: UInt32, _ value: UInt64) -> Condition {
            Condition(argument, SCMP_CMP_MASKED_EQ, 0xFFFF_FFFF, value)
        }
    }

    private static func allow(_ context: scmp_filter_ctx, _ name: String, _ conditions: [Condition] = []) throws(Errno) {
        try add(context, CSECCOMP_ALLOW, name, conditions)
    }

    private static func add(
        _ context: scmp_filter_ctx, _ action: UInt32, _ name: String, _ conditions: [Condition]
    ) throws(Errno) {
        let number = seccomp_syscall_resolve_name(name)
        // A call that this machine's libseccomp or processor does not have.
        guard number >= 0 else { return }
        let values = conditions.map(\.value)
        let result = seccomp_rule_add_array(context, action, number, UInt32(values.count), values)
        guard result == 0 else { throw Errno(code: -result) }
    }

    // MARK: The list

    /// CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET.
    private static let namespaces: UInt64 = 0x7E02_0000
    /// S_ISUID and S_ISGID: with such a file a helper would leave the daemon's rights to every user of the machine.
    private static let ownersRights: UInt64 = 0o6000
    /// O_CREAT and O_TMPFILE, without the bit that the latter shares with O_DIRECTORY. Without them an open has no mode.
    private static let makesFile = UInt64(O_CREAT) | 0o20000000
    /// Requests to devices, files and sockets that ask, or change the descriptor alone. The others change interfaces, tell of networks
    /// (wireless extensions), or put words into a terminal.
    private static let requests: [UInt64] = [
        0x5401, 0x802C_542A, 0x540F, 0x5413, 0x5411, 0x541B, 0x5421, 0x5450, 0x5451, 0x5452, 0x5460,  // TCGETS … FIOQSIZE
        0x2, 0x8008_6601, 0x4004_9409, 0x4020_940D, 0x8905,  // FIGETBSZ, FS_IOC_GETFLAGS, FICLONE, FICLONERANGE, SIOCATMARK
        0x8910, 0x8912, 0x8913, 0x8915, 0x8917, 0x8919, 0x891B, 0x891D, 0x8921, 0x8927, 0x8933, 0x8942,  // SIOCGIF…
    ]

    private static let restricted: [(name: String, conditions: [Condition])] = {
        // The flags of clone3 are in memory, where no filter sees them; without it the C library takes clone.
        var rules: [(String, [Condition])] = [("clone", [.without(namespaces, in: 0)])]
        // No netlink: it tells of associations and scans. The C library resolves names without it.
        for family in [AF_UNIX, AF_INET, AF_INET6] { rules.append(("socket", [.equal(0, UInt64(family))])) }
        for (name, mode) in [("chmod", 1), ("fchmod", 1), ("fchmodat", 2), ("mknod", 1), ("mknodat", 2), ("creat", 1)] {
            rules.append((name, [.without(ownersRights, in: UInt32(mode))]))
        }
        for (name, flags, mode) in [("open", 1, 2), ("openat", 2, 3)] {
            rules.append((name, [.without(makesFile, in: UInt32(flags))]))
            rules.append((name, [.without(ownersRights, in: UInt32(mode))]))
        }
        for request in requests { rules.append(("ioctl", [.equal(1, request)])) }
        return rules
    }()

    /// What programs of any language need. Not among them: mounts and other namespaces, the memory of other processes, keyrings,
    /// modules, io_uring (whose operations pass by this filter), bpf, performance counters.
    private static let allowed: [String] = [
        // Files
        """
        read write pread64 pwrite64 readv writev preadv pwritev preadv2 pwritev2 close close_range stat lstat fstat newfstatat statx
        statfs fstatfs access faccessat faccessat2 lseek getdents getdents64 getcwd chdir fchdir readlink readlinkat truncate ftruncate
        fallocate fadvise64 readahead cachestat sync fsync fdatasync sync_file_range msync umask chown fchown lchown fchownat utime
        utimes futimesat utimensat mkdir mkdirat rmdir link linkat symlink symlinkat unlink unlinkat rename renameat renameat2
        copy_file_range splice sendfile tee vmsplice flock dup dup2 dup3 pipe pipe2 fcntl getxattr lgetxattr fgetxattr listxattr
        llistxattr flistxattr inotify_init inotify_init1 inotify_add_watch inotify_rm_watch memfd_create
        """,
        // Waiting
        """
        poll ppoll select pselect6 epoll_create epoll_create1 epoll_ctl epoll_wait epoll_pwait epoll_pwait2 eventfd eventfd2 signalfd
        signalfd4 timerfd_create timerfd_settime timerfd_gettime futex futex_waitv futex_wake futex_wait futex_requeue nanosleep
        clock_nanosleep restart_syscall pause alarm
        """,
        // Memory
        """
        brk mmap munmap mprotect mremap madvise mincore mlock mlock2 munlock mlockall munlockall membarrier pkey_alloc pkey_free
        pkey_mprotect map_shadow_stack mseal get_mempolicy
        """,
        // Processes and threads
        """
        fork vfork execve execveat exit exit_group wait4 waitid kill tkill tgkill pidfd_open pidfd_send_signal rt_sigaction
        rt_sigprocmask rt_sigpending rt_sigtimedwait rt_sigqueueinfo rt_tgsigqueueinfo rt_sigreturn rt_sigsuspend sigaltstack getpid
        getppid gettid getpgid getpgrp setpgid getsid setsid getuid geteuid getgid getegid getgroups getresuid getresgid setuid setgid
        setreuid setregid setresuid setresgid setgroups setfsuid setfsgid capget capset prctl arch_prctl set_tid_address
        set_robust_list get_robust_list rseq getrlimit setrlimit prlimit64 getrusage times getpriority setpriority sched_yield
        sched_getaffinity sched_setaffinity sched_getparam sched_setparam sched_getscheduler sched_setscheduler
        sched_get_priority_max sched_get_priority_min sched_rr_get_interval sched_getattr sched_setattr ioprio_get ioprio_set getcpu
        personality
        """,
        // Clocks
        """
        clock_gettime clock_getres gettimeofday time timer_create timer_settime timer_gettime timer_getoverrun timer_delete setitimer
        getitimer
        """,
        // Sockets
        """
        socketpair bind connect listen accept accept4 sendto recvfrom sendmsg recvmsg sendmmsg recvmmsg shutdown getsockname
        getpeername getsockopt setsockopt
        """,
        // The system, a sandbox of the helper's own, and what its IPC namespace keeps for it alone
        """
        uname sysinfo getrandom seccomp landlock_create_ruleset landlock_add_rule landlock_restrict_self shmget shmat shmctl
        shmdt semget semop semctl semtimedop msgget msgsnd msgrcv msgctl mq_open mq_unlink mq_timedsend mq_timedreceive
        mq_notify mq_getsetattr
        """,
    ].flatMap { $0.split(whereSeparator: \.isWhitespace).map(String.init) }
}
