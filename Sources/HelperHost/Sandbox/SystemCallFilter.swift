import CLinux
import CSeccomp
import EventLoop
import Glibc

/// The system calls that a helper may make, as a filter made by libseccomp (seccomp(2)).
///
/// R1: a portal that has taken over a helper cannot reach the rarely used parts of the kernel, nor nl80211, which would reveal the networks in sight.
/// All calls that are not in this list fail with ENOSYS, as on an older kernel, for which C libraries and runtimes have an alternative.
enum SystemCallFilter {
    /// The process that the filter is for.
    enum Subject { case helper, browser }

    /// Returns a file in memory with the filter in the form that bubblewrap reads (`--seccomp`); the caller closes it.
    static func make(for subject: Subject = .helper) throws(Errno) -> Int32 {
        guard let context = seccomp_init(cseccomp_errno(UInt16(ENOSYS))) else { throw Errno(code: ENOMEM) }
        defer { seccomp_release(context) }
        for (action, name, conditions) in rules(for: subject) {
            let number = seccomp_syscall_resolve_name(name)
            // Skip a system call that this machine's libseccomp or processor does not have.
            guard number >= 0 else { continue }
            let result = seccomp_rule_add_array(context, action, number, UInt32(conditions.count), conditions)
            guard result == 0 else { throw Errno(code: -result) }
        }
        let file = memfd_create("hotspotd-filter", 1 /* MFD_CLOEXEC */)
        guard file >= 0 else { throw Errno(code: errno) }
        let result = seccomp_export_bpf(context, file)
        guard result == 0 else {
            close(file)
            throw Errno(code: -result)
        }
        return file
    }

    /// Allows the call if the masked argument has this value.
    private static func masked(_ argument: UInt32, _ mask: UInt64, _ value: UInt64) -> scmp_arg_cmp {
        scmp_arg_cmp(arg: argument, op: SCMP_CMP_MASKED_EQ, datum_a: mask, datum_b: value)
    }

    /// Allows the call if the argument's lower half has this value; the kernel ignores the upper half.
    private static func equal(_ argument: UInt32, _ value: UInt64) -> scmp_arg_cmp { masked(argument, 0xFFFF_FFFF, value) }

    /// CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET.
    private static let namespaces: UInt64 = 0x7E02_0000
    /// S_ISUID and S_ISGID: with such a file, a helper would give the daemon's rights to every user of the machine.
    private static let ownersRights: UInt64 = 0o6000
    /// O_CREAT and O_TMPFILE, without the bit that the latter shares with O_DIRECTORY. Only an open with one of them has a mode.
    private static let makesFile = UInt64(O_CREAT) | 0o20000000
    /// Requests to devices, files and sockets that only read, or change only the descriptor. Other requests change interfaces, reveal networks
    /// (wireless extensions), or type text into a terminal.
    private static let requests: [UInt64] = [
        0x5401, 0x802C_542A, 0x540F, 0x5413, 0x5411, 0x541B, 0x5421, 0x5450, 0x5451, 0x5452, 0x5460,  // TCGETS … FIOQSIZE
        0x2, 0x8008_6601, 0x4004_9409, 0x4020_940D, 0x8905,  // FIGETBSZ, FS_IOC_GETFLAGS, FICLONE, FICLONERANGE, SIOCATMARK
        0x8910, 0x8912, 0x8913, 0x8915, 0x8917, 0x8919, 0x891B, 0x891D, 0x8921, 0x8927, 0x8933, 0x8942,  // SIOCGIF…
    ]

    /// CLONE_NEWUSER, NEWPID, NEWNET: a browser uses these to sandbox the processes of its pages.
    private static let browsersNamespaces: UInt64 = 0x7000_0000

    private static func rules(for subject: Subject) -> [(action: UInt32, name: String, conditions: [scmp_arg_cmp])] {
        var allowed: [(String, [scmp_arg_cmp])] = unrestricted.split(whereSeparator: \.isWhitespace).map { (String($0), []) }
        // Leave out clone3, which has its flags in memory, where a filter cannot see them. Without clone3, the C library uses clone.
        let forbidden = subject == .browser ? namespaces & ~browsersNamespaces : namespaces
        allowed.append(("clone", [masked(0, forbidden, 0)]))
        if subject == .browser {
            // The browser needs these calls for a sandbox of its own, without files and without a network except loopback.
            allowed += [("chroot", []), ("socket", [equal(0, UInt64(AF_NETLINK)), equal(2, 0 /* NETLINK_ROUTE */)])]
            // Before the browser makes a sandbox, it tests with unshare, in a separate process, whether it may.
            allowed.append(("unshare", [masked(0, forbidden, 0)]))
        }
        // Helpers get no netlink, because it reveals associations and scans. The C library resolves names without it.
        for family in [AF_UNIX, AF_INET, AF_INET6] { allowed.append(("socket", [equal(0, UInt64(family))])) }
        for (name, mode) in [("chmod", 1), ("fchmod", 1), ("fchmodat", 2), ("mknod", 1), ("mknodat", 2), ("creat", 1)] {
            allowed.append((name, [masked(UInt32(mode), ownersRights, 0)]))
        }
        for (name, flags, mode) in [("open", 1, 2), ("openat", 2, 3)] as [(String, UInt32, UInt32)] {
            allowed += [(name, [masked(flags, makesFile, 0)]), (name, [masked(mode, ownersRights, 0)])]
        }
        for request in requests { allowed.append(("ioctl", [equal(1, request)])) }
        // Return the error of a kernel without the address family, because C libraries expect it.
        let beyond = scmp_arg_cmp(arg: 0, op: SCMP_CMP_GT, datum_a: UInt64(AF_INET6), datum_b: 0)
        let refused = subject == .browser ? [] : [(cseccomp_errno(UInt16(EAFNOSUPPORT)), "socket", [beyond])]
        return allowed.map { (CSECCOMP_ALLOW, $0, $1) } + refused
    }

    /// The calls that programs of any language need. Not among them: mounts and other namespaces, the memory of other processes, keyrings, modules,
    /// io_uring (whose operations pass by this filter), bpf, performance counters. In groups: files, waiting, memory, processes and threads, clocks,
    /// sockets, the system, a sandbox of the helper's own, and objects of its own IPC namespace.
    private static let unrestricted = """
        read write pread64 pwrite64 readv writev preadv pwritev preadv2 pwritev2 close close_range stat lstat fstat newfstatat
        statx statfs fstatfs access faccessat faccessat2 lseek getdents getdents64 getcwd chdir fchdir readlink readlinkat
        truncate ftruncate fallocate fadvise64 readahead cachestat sync fsync fdatasync sync_file_range msync umask chown fchown
        lchown fchownat utime utimes futimesat utimensat mkdir mkdirat rmdir link linkat symlink symlinkat unlink unlinkat rename
        renameat renameat2 copy_file_range splice sendfile tee vmsplice flock dup dup2 dup3 pipe pipe2 fcntl getxattr lgetxattr
        fgetxattr listxattr llistxattr flistxattr inotify_init inotify_init1 inotify_add_watch inotify_rm_watch memfd_create
        poll ppoll select pselect6 epoll_create epoll_create1 epoll_ctl epoll_wait epoll_pwait epoll_pwait2 eventfd eventfd2
        signalfd signalfd4 timerfd_create timerfd_settime timerfd_gettime futex futex_waitv futex_wake futex_wait futex_requeue
        nanosleep clock_nanosleep restart_syscall pause alarm
        brk mmap munmap mprotect mremap madvise mincore mlock mlock2 munlock mlockall munlockall membarrier pkey_alloc pkey_free
        pkey_mprotect map_shadow_stack mseal get_mempolicy
        fork vfork execve execveat exit exit_group wait4 waitid kill tkill tgkill pidfd_open pidfd_send_signal rt_sigaction
        rt_sigprocmask rt_sigpending rt_sigtimedwait rt_sigqueueinfo rt_tgsigqueueinfo rt_sigreturn rt_sigsuspend sigaltstack
        getpid getppid gettid getpgid getpgrp setpgid getsid setsid getuid geteuid getgid getegid getgroups getresuid getresgid
        setuid setgid setreuid setregid setresuid setresgid setgroups setfsuid setfsgid capget capset prctl arch_prctl
        set_tid_address set_robust_list get_robust_list rseq getrlimit setrlimit prlimit64 getrusage times getpriority
        setpriority sched_yield sched_getaffinity sched_setaffinity sched_getparam sched_setparam sched_getscheduler
        sched_setscheduler sched_get_priority_max sched_get_priority_min sched_rr_get_interval sched_getattr sched_setattr
        ioprio_get ioprio_set getcpu personality
        clock_gettime clock_getres gettimeofday time timer_create timer_settime timer_gettime timer_getoverrun timer_delete
        setitimer getitimer
        socketpair bind connect listen accept accept4 sendto recvfrom sendmsg recvmsg sendmmsg recvmmsg shutdown getsockname
        getpeername getsockopt setsockopt
        uname sysinfo getrandom seccomp landlock_create_ruleset landlock_add_rule landlock_restrict_self shmget shmat shmctl
        shmdt semget semop semctl semtimedop msgget msgsnd msgrcv msgctl mq_open mq_unlink mq_timedsend mq_timedreceive mq_notify
        mq_getsetattr
        """
}
