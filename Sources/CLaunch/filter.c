#define _GNU_SOURCE
#include "confine.h"
#include "kernel.h"
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/fs.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

// The same numbers everywhere, for older headers.
enum {
    PIDFD_SEND_SIGNAL = 424, PIDFD_OPEN = 434, CLOSE_RANGE = 436, FACCESSAT2 = 439, EPOLL_PWAIT2 = 441,
    LANDLOCK_CREATE_RULESET = 444, LANDLOCK_ADD_RULE = 445, LANDLOCK_RESTRICT_SELF = 446, FUTEX_WAITV = 449, CACHESTAT = 451,
    FCHMODAT2 = 452, MAP_SHADOW_STACK = 453, FUTEX_WAKE = 454, FUTEX_WAIT = 455, FUTEX_REQUEUE = 456, MSEAL = 462,
};

// The old way to seccomp(2): service managers that filter calls themselves let prctl through.
static long install(const struct sock_filter *code, unsigned short length) {
    struct sock_fprog whole = {length, (struct sock_filter *)code};
    return call(SYS_prctl, PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &whole, 0, 0);
}

struct program {
    struct sock_filter code[512];
    unsigned short length;
};

static void add(struct program *program, uint16_t code, uint32_t value, uint8_t if_true, uint8_t if_false) {
    if (program->length >= sizeof program->code / sizeof *program->code) return;
    struct sock_filter *step = &program->code[program->length++];
    step->code = code;
    step->jt = if_true;
    step->jf = if_false;
    step->k = value;
}

static void load(struct program *p, size_t offset) { add(p, BPF_LD | BPF_W | BPF_ABS, (uint32_t)offset, 0, 0); }
// The low half of an argument: both architectures are little-endian, and the kernel looks at no more of most of these.
static void load_argument(struct program *p, int number) { load(p, offsetof(struct seccomp_data, args) + 8 * (size_t)number); }
static void allow(struct program *p) { add(p, BPF_RET | BPF_K, SECCOMP_RET_ALLOW, 0, 0); }
static void refuse(struct program *p, int code) { add(p, BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (uint32_t)code, 0, 0); }
static void unless(struct program *p, uint16_t test, uint32_t value, uint8_t skip) {
    add(p, BPF_JMP | test | BPF_K, value, 0, skip);
}
static void refuse_call(struct program *p, long number, int code) {
    unless(p, BPF_JEQ, (uint32_t)number, 1);
    refuse(p, code);
}

// What programs of any language need, by number. Everything else there is not (ENOSYS), as if the kernel were an older one, for which
// C libraries and runtimes have another way: mounts and other namespaces, the memory of others, the kernel's programmable parts,
// keyrings that outlive the process, what no limit counts (memory files, asynchronous operations, leases and attributes of files,
// filters), what is counted for the whole machine, io_uring, whose operations pass by this filter, and whatever later kernels bring.
#define CALL(name) [SYS_##name] = 1
static const uint8_t useful[] = {
    // Files
    CALL(read), CALL(write), CALL(pread64), CALL(pwrite64), CALL(readv), CALL(writev), CALL(preadv), CALL(pwritev), CALL(preadv2),
    CALL(pwritev2), CALL(openat), CALL(close), [CLOSE_RANGE] = 1, CALL(fstat), CALL(newfstatat), CALL(statx),
    CALL(statfs), CALL(fstatfs), CALL(faccessat), [FACCESSAT2] = 1, CALL(lseek), CALL(getdents64), CALL(getcwd), CALL(chdir),
    CALL(fchdir), CALL(readlinkat), CALL(truncate), CALL(ftruncate), CALL(fallocate), CALL(fadvise64), CALL(readahead),
    [CACHESTAT] = 1, CALL(fsync), CALL(fdatasync), CALL(sync_file_range), CALL(msync), CALL(umask), CALL(fchmod), CALL(fchmodat),
    [FCHMODAT2] = 1, CALL(fchown), CALL(fchownat), CALL(utimensat), CALL(mkdirat), CALL(mknodat), CALL(linkat), CALL(symlinkat),
    CALL(unlinkat), CALL(renameat), CALL(renameat2), CALL(copy_file_range),
    CALL(flock), CALL(dup), CALL(dup3), CALL(pipe2), CALL(fcntl), CALL(ioctl), CALL(getxattr), CALL(lgetxattr), CALL(fgetxattr),
    CALL(listxattr), CALL(llistxattr), CALL(flistxattr), CALL(inotify_init1), CALL(inotify_add_watch), CALL(inotify_rm_watch),
    // Waiting
    CALL(ppoll), CALL(pselect6), CALL(epoll_create1), CALL(epoll_ctl), CALL(epoll_pwait), [EPOLL_PWAIT2] = 1, CALL(eventfd2),
    CALL(signalfd4), CALL(timerfd_create), CALL(timerfd_settime), CALL(timerfd_gettime), CALL(futex), [FUTEX_WAITV] = 1,
    [FUTEX_WAKE] = 1, [FUTEX_WAIT] = 1, [FUTEX_REQUEUE] = 1, CALL(nanosleep), CALL(clock_nanosleep), CALL(restart_syscall),
    // Memory
    CALL(brk), CALL(mmap), CALL(munmap), CALL(mprotect), CALL(mremap), CALL(madvise), CALL(mincore), CALL(mlock), CALL(mlock2),
    CALL(munlock), CALL(mlockall), CALL(munlockall), CALL(membarrier), CALL(pkey_alloc), CALL(pkey_free), CALL(pkey_mprotect),
    [MAP_SHADOW_STACK] = 1, [MSEAL] = 1, CALL(get_mempolicy),
    // Processes and threads
    CALL(clone), CALL(unshare), CALL(execve), CALL(execveat), CALL(exit), CALL(exit_group), CALL(wait4), CALL(waitid), CALL(kill),
    CALL(tkill), CALL(tgkill), [PIDFD_OPEN] = 1, [PIDFD_SEND_SIGNAL] = 1, CALL(rt_sigaction), CALL(rt_sigprocmask),
    CALL(rt_sigpending), CALL(rt_sigtimedwait), CALL(rt_sigqueueinfo), CALL(rt_tgsigqueueinfo), CALL(rt_sigreturn),
    CALL(rt_sigsuspend), CALL(sigaltstack), CALL(getpid), CALL(getppid), CALL(gettid), CALL(getpgid), CALL(setpgid), CALL(getsid),
    CALL(setsid), CALL(getuid), CALL(geteuid), CALL(getgid), CALL(getegid), CALL(getgroups), CALL(getresuid), CALL(getresgid),
    CALL(setuid), CALL(setgid), CALL(setreuid), CALL(setregid), CALL(setresuid), CALL(setresgid), CALL(setgroups), CALL(setfsuid),
    CALL(setfsgid), CALL(capget), CALL(capset), CALL(prctl), CALL(set_tid_address), CALL(set_robust_list), CALL(get_robust_list),
    CALL(rseq), CALL(getrlimit), CALL(setrlimit), CALL(prlimit64), CALL(getrusage), CALL(times), CALL(getpriority),
    CALL(setpriority), CALL(sched_yield), CALL(sched_getaffinity), CALL(sched_setaffinity), CALL(sched_getparam),
    CALL(sched_setparam), CALL(sched_getscheduler), CALL(sched_setscheduler), CALL(sched_get_priority_max),
    CALL(sched_get_priority_min), CALL(sched_rr_get_interval), CALL(sched_getattr), CALL(sched_setattr), CALL(ioprio_get),
    CALL(ioprio_set), CALL(getcpu), CALL(personality),
    // Clocks
    CALL(clock_gettime), CALL(clock_getres), CALL(gettimeofday), CALL(timer_create), CALL(timer_settime), CALL(timer_gettime),
    CALL(timer_getoverrun), CALL(timer_delete), CALL(setitimer), CALL(getitimer),
    // Sockets
    CALL(socket), CALL(socketpair), CALL(bind), CALL(connect), CALL(listen), CALL(accept), CALL(accept4), CALL(sendto),
    CALL(recvfrom), CALL(sendmsg), CALL(recvmsg), CALL(sendmmsg), CALL(recvmmsg), CALL(shutdown), CALL(getsockname),
    CALL(getpeername), CALL(getsockopt), CALL(setsockopt),
    // The system, and a cage within the cage
    CALL(uname), CALL(sysinfo), CALL(getrandom), [LANDLOCK_CREATE_RULESET] = 1, [LANDLOCK_ADD_RULE] = 1,
    [LANDLOCK_RESTRICT_SELF] = 1,
    // What other processes may keep, where the helper has an IPC namespace of its own: see `lasting`.
    CALL(shmget), CALL(shmat), CALL(shmctl), CALL(shmdt), CALL(semget), CALL(semop), CALL(semctl), CALL(semtimedop), CALL(msgget),
    CALL(msgsnd), CALL(msgrcv), CALL(msgctl), CALL(mq_open), CALL(mq_unlink), CALL(mq_timedsend), CALL(mq_timedreceive),
    CALL(mq_notify), CALL(mq_getsetattr),
#if defined(__x86_64__)
    // The same by their older numbers.
    CALL(open), CALL(creat), CALL(stat), CALL(lstat), CALL(access), CALL(getdents), CALL(readlink), CALL(chmod), CALL(chown),
    CALL(lchown), CALL(utime), CALL(utimes), CALL(futimesat), CALL(mkdir), CALL(rmdir), CALL(mknod), CALL(link), CALL(symlink),
    CALL(unlink), CALL(rename), CALL(dup2), CALL(pipe), CALL(poll), CALL(select), CALL(epoll_create), CALL(epoll_wait),
    CALL(eventfd), CALL(signalfd), CALL(inotify_init), CALL(fork), CALL(vfork), CALL(pause), CALL(alarm), CALL(getpgrp), CALL(time),
    CALL(arch_prctl),
#endif
};
// They make what outlives the process, where it has no IPC namespace of its own.
static const long lasting[] = {SYS_shmget, SYS_semget, SYS_msgget, SYS_mq_open};
// F_SETLK and F_SETLKW, the same for open file descriptions, F_NOTIFY, and the hints that stay with a file: F_SET_RW_HINT and
// F_SET_FILE_RW_HINT.
static const uint32_t locks[] = {6, 7, 37, 38, 1026, 1036, 1038};
// No netlink: rtnetlink tells everybody of associations with their names. The C library resolves names without it.
static const uint32_t addresses[] = {AF_UNIX, AF_INET, AF_INET6};
// A socket in one number.
#define SOCKET(family, type, protocol) ((uint32_t)(family) << 16 | (uint32_t)(type) << 8 | (protocol))
// With any other combination the kernel looks for a module, each time anew: a program of root's, outside of all limits. So it is
// for UDP-Lite and MPTCP on kernels that lack them.
static const uint32_t sockets[] = {
    SOCKET(AF_INET, SOCK_STREAM, IPPROTO_IP), SOCKET(AF_INET, SOCK_STREAM, IPPROTO_TCP), SOCKET(AF_INET, SOCK_DGRAM, IPPROTO_IP),
    SOCKET(AF_INET, SOCK_DGRAM, IPPROTO_UDP), SOCKET(AF_INET, SOCK_DGRAM, IPPROTO_ICMP), SOCKET(AF_INET6, SOCK_STREAM, IPPROTO_IP),
    SOCKET(AF_INET6, SOCK_STREAM, IPPROTO_TCP), SOCKET(AF_INET6, SOCK_DGRAM, IPPROTO_IP),
    SOCKET(AF_INET6, SOCK_DGRAM, IPPROTO_UDP), SOCKET(AF_INET6, SOCK_DGRAM, IPPROTO_ICMPV6),
};
// Filters of sockets, for one and for a group: SO_ATTACH_FILTER, SO_ATTACH_BPF and their like. With SO_MAX_PACING_RATE and SO_TXTIME
// what was sent waits in the queue of the link, where there is one that keeps time (fq), long after the helper's end; with TCP_TX_DELAY
// as well. With SO_LINGER whoever closes a connection last waits for its peer: that may be the daemon, which looked at the helper's
// memory in `/proc` just when it ended, and a TCP socket was mapped there (seen with Linux 6.1: until the watchdog came).
static const uint32_t filters[] = {26, 50, 51, 52, 47, 61, SO_LINGER};
static const uint32_t delays[] = {37};
// Groups of receivers, which the kernel keeps in lists of the interface and looks through under a lock of all interfaces:
// IP_ADD_MEMBERSHIP, IP_ADD_SOURCE_MEMBERSHIP, MCAST_JOIN_GROUP, MCAST_JOIN_SOURCE_GROUP, and IPV6_JOIN_GROUP, IPV6_JOIN_ANYCAST.
// Labels of flows are few for the machine, and outlive who made them by minutes: IPV6_FLOWLABEL_MGR.
// And addresses that are not this machine's: IP_FREEBIND, IP_TRANSPARENT, IPV6_TRANSPARENT, IPV6_FREEBIND.
static const uint32_t groups[] = {35, 39, 42, 46, 15, 19, 51};
static const uint32_t groups6[] = {20, 27, 32, 42, 46, 75, 78};
// Two connections with the same four numbers: the one in front hides the other from its peer's packets, and from whoever wants to end
// what a helper left (sock_diag(7)). So nothing is shared, without a word, for servers ask for it by habit; and nobody says from where
// to where ports are chosen for connections (IP_LOCAL_PORT_RANGE, among the former).
static const uint32_t sharing[] = {SO_REUSEADDR, SO_REUSEPORT};
// CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET; for unshare NEWTIME as well, which is no flag of clone.
enum { NAMESPACES = 0x7e020000, TIME_NAMESPACE = 0x80 };
// Who runs such a file has its owner's rights.
enum { OTHERS_RIGHTS = S_ISUID | S_ISGID };
// O_CREAT and O_TMPFILE, without the bit that the latter shares with O_DIRECTORY.
enum { MAKES_FILE = O_CREAT | 020000000 };
// Of the requests to devices, files and sockets those that ask, and those that change the descriptor alone: what is a terminal and how
// large, what waits to be read or written, close-on-exec and blocking, and what is known of an interface by its name. The others change
// interfaces, tell of networks (wireless extensions), have modules loaded, or leave things with file systems: keys, for one.
static const uint32_t requests[] = {
    TCGETS, 0x802c542a /* TCGETS2 */, TIOCGPGRP, TIOCGWINSZ, TIOCOUTQ, FIONREAD, FIONBIO, FIONCLEX, FIOCLEX, FIOASYNC, FIOQSIZE,
    FIGETBSZ, FS_IOC_GETFLAGS, FICLONE, FICLONERANGE, SIOCATMARK, SIOCGIFNAME, SIOCGIFFLAGS, SIOCGIFADDR,
    SIOCGIFDSTADDR, SIOCGIFBRDADDR, SIOCGIFNETMASK, SIOCGIFMETRIC, SIOCGIFMTU, SIOCGIFHWADDR, SIOCGIFINDEX, SIOCGIFTXQLEN,
};
#define COUNT(array) (sizeof(array) / sizeof *(array))

static void refuse_if(struct program *p, long number, int argument, uint16_t test, uint32_t value, int code) {
    unless(p, BPF_JEQ, (uint32_t)number, 4);
    load_argument(p, argument);
    unless(p, test, value, 1);
    refuse(p, code);
    allow(p);
}
static void refuse_flags(struct program *p, long number, int argument, uint32_t flags, int code) {
    refuse_if(p, number, argument, BPF_JSET, flags, code);
}
static void refuse_value(struct program *p, long number, int argument, uint32_t value, int code) {
    refuse_if(p, number, argument, BPF_JEQ, value, code);
}
// A file that is opened gets a mode only where it is made.
static void refuse_making(struct program *p, long number, int flags, int mode) {
    unless(p, BPF_JEQ, (uint32_t)number, 6);
    load_argument(p, flags);
    unless(p, BPF_JSET, MAKES_FILE, 3);
    load_argument(p, mode);
    unless(p, BPF_JSET, OTHERS_RIGHTS, 1);
    refuse(p, EPERM);
    allow(p);
}
// Only with this value as the argument; then for who comes next.
static void need_value(struct program *p, long number, int argument, uint32_t value) {
    unless(p, BPF_JEQ, (uint32_t)number, 4);
    load_argument(p, argument);
    add(p, BPF_JMP | BPF_JEQ | BPF_K, value, 1, 0);
    refuse(p, EPERM);
    load(p, offsetof(struct seccomp_data, nr));
}
// Goes on only with one of these values in the accumulator.
static void need_one(struct program *p, const uint32_t *values, size_t count, int code) {
    for (size_t i = 0; i < count; i++) add(p, BPF_JMP | BPF_JEQ | BPF_K, values[i], (uint8_t)(count - i), 0);
    refuse(p, code);
}
static void shift(struct program *p, uint32_t bits) { add(p, BPF_ALU | BPF_LSH | BPF_K, bits, 0, 0); }
static void keep(struct program *p) { add(p, BPF_MISC | BPF_TAX, 0, 0, 0); }
static void join_kept(struct program *p) { add(p, BPF_ALU | BPF_OR | BPF_X, 0, 0, 0); }

// Without IPv6 each of its sockets would be a look for the module.
static void refuse_other_sockets(struct program *p, long number, int has_ipv6) {
    size_t families = COUNT(addresses) - (has_ipv6 ? 0 : 1);
    size_t start = p->length;
    unless(p, BPF_JEQ, (uint32_t)number, 0);
    load_argument(p, 0);
    need_one(p, addresses, families, EAFNOSUPPORT);
    unless(p, BPF_JEQ, AF_UNIX, 1);
    allow(p);
    shift(p, 16);
    keep(p);
    load_argument(p, 1);
    // Beside the type stand whether it blocks, and whether exec closes it.
    add(p, BPF_ALU | BPF_AND | BPF_K, 0xf, 0, 0);
    shift(p, 8);
    join_kept(p);
    keep(p);
    load_argument(p, 2);
    unless(p, BPF_JGT, 0xff, 1);
    refuse(p, EPROTONOSUPPORT);
    join_kept(p);
    need_one(p, sockets, COUNT(sockets), EPROTONOSUPPORT);
    allow(p);
    p->code[start].jf = (uint8_t)(p->length - start - 1);
}
// With 0 for a code the call does nothing, and says that it did.
static void refuse_options(struct program *p, uint32_t level, const uint32_t *options, size_t count, int code) {
    unless(p, BPF_JEQ, SYS_setsockopt, (uint8_t)(4 + 2 * count));
    load_argument(p, 1);
    unless(p, BPF_JEQ, level, (uint8_t)(1 + 2 * count));
    load_argument(p, 2);
    for (size_t i = 0; i < count; i++) {
        unless(p, BPF_JEQ, options[i], 1);
        refuse(p, code);
    }
    // Its number again, for who comes next.
    load(p, offsetof(struct seccomp_data, nr));
}

static void write_program(struct program *p, uint32_t levels, int has_ipv6) {
    p->length = 0;
    // Another architecture's calls have other numbers, and x32 its own.
    load(p, offsetof(struct seccomp_data, arch));
    add(p, BPF_JMP | BPF_JEQ | BPF_K, NATIVE, 1, 0);
    refuse(p, ENOSYS);
    load(p, offsetof(struct seccomp_data, nr));
#if defined(__x86_64__)
    unless(p, BPF_JGE, 0x40000000, 1);
    refuse(p, ENOSYS);
#endif
    if (!(levels & LAUNCH_IPC_NAMESPACE))
        for (size_t i = 0; i < COUNT(lasting); i++) refuse_call(p, lasting[i], ENOSYS);
    // They hold locks that are not the helper's alone: a pipe's while they wait for data, and before Linux 6.5 that of the reader of a
    // unix socket, which is the daemon. Who copies with them copies without where they say that the descriptors are of the wrong kind.
    static const long copying[] = {SYS_splice, SYS_sendfile, SYS_tee, SYS_vmsplice};
    for (size_t i = 0; i < COUNT(copying); i++) refuse_call(p, copying[i], EINVAL);
    // The flags of its newer form are in memory, where no filter sees them; without that one the C library takes clone.
    refuse_flags(p, SYS_clone, 0, NAMESPACES, EPERM);
    refuse_flags(p, SYS_unshare, 0, NAMESPACES | TIME_NAMESPACE, EPERM);
    // Limits are one's own: 0 is the caller. The init, which nobody replaces, must keep what it has.
    need_value(p, SYS_prlimit64, 0, 0);
    // Where the daemon and other helpers are to be seen, nobody but oneself is slowed down either.
    if (!(levels & LAUNCH_PROCESS_NAMESPACE)) {
        static const long scheduling[] = {
            SYS_sched_setscheduler, SYS_sched_setparam, SYS_sched_setattr, SYS_sched_setaffinity,
        };
        for (size_t i = 0; i < COUNT(scheduling); i++) need_value(p, scheduling[i], 0, 0);
        need_value(p, SYS_setpriority, 0, PRIO_PROCESS);
        need_value(p, SYS_setpriority, 1, 0);
        enum { IOPRIO_WHO_PROCESS = 1 };
        need_value(p, SYS_ioprio_set, 0, IOPRIO_WHO_PROCESS);
        need_value(p, SYS_ioprio_set, 1, 0);
    }
    // A file of the daemon's user with that user's rights for everybody. openat2 has its mode in memory, so there is none.
    refuse_making(p, SYS_openat, 2, 3);
    refuse_flags(p, SYS_fchmod, 1, OTHERS_RIGHTS, EPERM);
    refuse_flags(p, SYS_fchmodat, 2, OTHERS_RIGHTS, EPERM);
    refuse_flags(p, FCHMODAT2, 2, OTHERS_RIGHTS, EPERM);
    refuse_flags(p, SYS_mknodat, 2, OTHERS_RIGHTS, EPERM);
#if defined(__x86_64__)
    refuse_making(p, SYS_open, 1, 2);
    refuse_flags(p, SYS_creat, 1, OTHERS_RIGHTS, EPERM);
    refuse_flags(p, SYS_chmod, 1, OTHERS_RIGHTS, EPERM);
    refuse_flags(p, SYS_mknod, 1, OTHERS_RIGHTS, EPERM);
#endif
    // Huge pages are the machine's, and few.
    refuse_flags(p, SYS_mmap, 3, MAP_HUGETLB, ENOMEM);
    // Who dumps core runs whatever handles that on this machine, as root and with a copy of the helper's memory.
    refuse_value(p, SYS_setrlimit, 0, RLIMIT_CORE, EPERM);
    unless(p, BPF_JEQ, SYS_prlimit64, 8);
    load_argument(p, 1);
    unless(p, BPF_JEQ, RLIMIT_CORE, 5);
    load_argument(p, 2);
    unless(p, BPF_JEQ, 0, 2);
    load(p, offsetof(struct seccomp_data, args) + 2 * 8 + 4);
    add(p, BPF_JMP | BPF_JEQ | BPF_K, 0, 1, 0);
    refuse(p, EPERM);
    allow(p);
    // A connection that begins with what is sent would not be counted. Octets out of band are nothing that a reader here looks for.
    enum { BEGINS_CONNECTION = 0x20000000, UNUSUAL = BEGINS_CONNECTION | MSG_OOB };
    refuse_flags(p, SYS_sendto, 3, UNUSUAL, EOPNOTSUPP);
    refuse_flags(p, SYS_sendmsg, 2, UNUSUAL, EOPNOTSUPP);
    refuse_flags(p, SYS_sendmmsg, 3, UNUSUAL, EOPNOTSUPP);
    // Filters of helpers' own are memory that no limit counts, and of which the machine has little for all (net.core.bpf_jit_limit):
    // without it the next helper gets no filter at all.
    // So is a core for oneself, whose other half then stands still.
    enum { SHARE_NO_CORE = 62 };
    unless(p, BPF_JEQ, SYS_prctl, 5);
    load_argument(p, 0);
    add(p, BPF_JMP | BPF_JEQ | BPF_K, PR_SET_SECCOMP, 1, 0);
    unless(p, BPF_JEQ, SHARE_NO_CORE, 1);
    refuse(p, EINVAL);
    allow(p);
    refuse_options(p, SOL_SOCKET, filters, COUNT(filters), ENOPROTOOPT);
    refuse_options(p, SOL_SOCKET, sharing, COUNT(sharing), 0);
    refuse_options(p, IPPROTO_TCP, delays, COUNT(delays), ENOPROTOOPT);
    refuse_options(p, IPPROTO_IP, groups, COUNT(groups), ENOPROTOOPT);
    refuse_options(p, IPPROTO_IPV6, groups6, COUNT(groups6), ENOPROTOOPT);

    // What networks are around is told to a helper if its file says so, and is nowhere else to be had: not from nl80211, which is
    // generic netlink, not from rtnetlink's messages of wireless extensions, and not from the older ioctls.
    unless(p, BPF_JEQ, SYS_ioctl, (uint8_t)(1 + COUNT(requests) + 2));
    load_argument(p, 1);
    need_one(p, requests, COUNT(requests), ENOTTY);
    allow(p);

    // A lease on a file makes everybody wait who opens it: another helper's program, say. Locks of parts of files are memory of the
    // kernel that no limit counts; flock(2), one for each open file, stays.
    unless(p, BPF_JEQ, SYS_fcntl, 4 + 2 * (uint8_t)COUNT(locks));
    load_argument(p, 1);
    unless(p, BPF_JEQ, F_SETLEASE, 1);
    refuse(p, EACCES);
    for (size_t i = 0; i < COUNT(locks); i++) {
        unless(p, BPF_JEQ, locks[i], 1);
        refuse(p, ENOLCK);
    }
    allow(p);

    refuse_other_sockets(p, SYS_socket, has_ipv6);
    refuse_other_sockets(p, SYS_socketpair, has_ipv6);

    // The rest, in runs of neighbouring numbers.
    for (uint32_t first = 0; first < COUNT(useful); first++) {
        if (!useful[first]) continue;
        uint32_t last = first;
        while (last + 1 < COUNT(useful) && useful[last + 1]) last++;
        unless(p, BPF_JGE, first, 2);
        add(p, BPF_JMP | BPF_JGT | BPF_K, last, 1, 0);
        allow(p);
        first = last;
    }
    refuse(p, ENOSYS);
}

int launch_filter(const struct launch_plan *plan, uint32_t *levels) {
    if (!(plan->wanted & LAUNCH_FILTER)) return 0;
    struct program program;
    write_program(&program, *levels, plan->has_ipv6);
    long result = install(program.code, program.length);
    if (result == 0) *levels |= LAUNCH_FILTER;
    // The kernel's own ENOTSUPP: it has no room for the translated program. Another time it has.
    enum { UNTRANSLATED = 524 };
    return result == -ENOMEM || result == -UNTRANSLATED ? ENOMEM : 0;
}

// All that an init does: it waits, hands SIGTERM on, lets connections begin, tells of the end, and ends. Whatever capabilities it has
// left in its own namespaces are of no use with these.
static const struct sock_filter waiting[] = {
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, NATIVE, 0, 9),
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_ppoll, 8, 0),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_read, 7, 0),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_ioctl, 6, 0),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clock_gettime, 5, 0),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_wait4, 4, 0),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_kill, 3, 0),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_write, 2, 0),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 1, 0),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
};

void launch_be_still(void) { install(waiting, COUNT(waiting)); }
