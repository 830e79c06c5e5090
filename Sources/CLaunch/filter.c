#define _GNU_SOURCE
#include "confine.h"
#include "kernel.h"
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#if defined(__x86_64__)
#define NATIVE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define NATIVE AUDIT_ARCH_AARCH64
#endif
// On any other kernel.h ends the compilation.

// The same numbers everywhere, for older headers.
#ifndef SYS_clone3
#define SYS_clone3 435
#endif
#ifndef SYS_pidfd_getfd
#define SYS_pidfd_getfd 438
#endif
#ifndef SYS_mount_setattr
#define SYS_mount_setattr 442
#endif

// The old way to seccomp(2): service managers that filter calls themselves let prctl through.
static long install(const struct sock_filter *code, unsigned short length) {
    struct sock_fprog whole = {length, (struct sock_filter *)code};
    return call(SYS_prctl, PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &whole, 0, 0);
}

struct program {
    struct sock_filter code[192];
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
// The low half of an argument: both architectures are little-endian, and the kernel looks at no more of any of these.
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

// Never of use to a helper: other namespaces and mounts, the memory of others, the kernel's programmable parts, keyrings that
// outlive the process, files of memory, and io_uring, whose operations pass by this filter.
static const long never[] = {
    SYS_setns, SYS_mount, SYS_umount2, SYS_pivot_root, SYS_chroot, SYS_mount_setattr,
#ifdef SYS_fsopen
    SYS_open_tree, SYS_move_mount, SYS_fsopen,
#endif
    SYS_ptrace, SYS_process_vm_readv, SYS_process_vm_writev, SYS_pidfd_getfd,
    SYS_bpf, SYS_perf_event_open, SYS_userfaultfd,
#ifdef SYS_io_uring_setup
    SYS_io_uring_setup,
#endif
    SYS_keyctl, SYS_add_key, SYS_request_key,
    // Memory that is nobody's, so that no limit of a process counts it.
    SYS_memfd_create,
    // Its events are counted for the whole machine (fs.aio-max-nr).
    SYS_io_setup,
#ifdef SYS_memfd_secret
    SYS_memfd_secret,
#endif
};
// They make what outlives the process, where it has no IPC namespace of its own.
static const long lasting[] = {SYS_shmget, SYS_semget, SYS_msgget, SYS_mq_open};
// F_SETLK and F_SETLKW, and the same for open file descriptions.
static const uint32_t locks[] = {6, 7, 37, 38};
// No netlink: rtnetlink tells everybody of associations with their names. The C library resolves names without it.
static const uint32_t addresses[] = {AF_UNIX, AF_INET, AF_INET6};
// CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET; for unshare NEWTIME as well, which is no flag of clone.
enum { NAMESPACES = 0x7e020000, TIME_NAMESPACE = 0x80 };
// linux/wireless.h, SIOCIWFIRST to SIOCIWLAST.
enum { WIRELESS_FIRST = 0x8b00, WIRELESS_LAST = 0x8bff };

static void refuse_namespaces(struct program *p, long number, uint32_t flags) {
    unless(p, BPF_JEQ, (uint32_t)number, 4);
    load_argument(p, 0);
    unless(p, BPF_JSET, flags, 1);
    refuse(p, EPERM);
    allow(p);
}

static void write_program(struct program *p, uint32_t levels) {
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
    for (size_t i = 0; i < sizeof never / sizeof *never; i++) refuse_call(p, never[i], EPERM);
    if (!(levels & LAUNCH_IPC_NAMESPACE))
        for (size_t i = 0; i < sizeof lasting / sizeof *lasting; i++) refuse_call(p, lasting[i], ENOSYS);
    // Its flags are in memory, where no filter sees them; without it the C library takes clone.
    refuse_call(p, SYS_clone3, ENOSYS);
    refuse_namespaces(p, SYS_clone, NAMESPACES);
    refuse_namespaces(p, SYS_unshare, NAMESPACES | TIME_NAMESPACE);

    // What networks are around is told to a helper if its file says so, and is nowhere else to be had: not from nl80211, which is
    // generic netlink, not from rtnetlink's messages of wireless extensions, and not from the older ioctls.
    unless(p, BPF_JEQ, SYS_ioctl, 5);
    load_argument(p, 1);
    unless(p, BPF_JGE, WIRELESS_FIRST, 2);
    add(p, BPF_JMP | BPF_JGT | BPF_K, WIRELESS_LAST, 1, 0);
    refuse(p, EOPNOTSUPP);
    allow(p);

    // A lease on a file makes everybody wait who opens it: another helper's program, say. Locks of parts of files are memory of the
    // kernel that no limit counts; flock(2), one for each open file, stays.
    unless(p, BPF_JEQ, SYS_fcntl, 4 + 2 * (uint8_t)(sizeof locks / sizeof *locks));
    load_argument(p, 1);
    unless(p, BPF_JEQ, F_SETLEASE, 1);
    refuse(p, EACCES);
    for (size_t i = 0; i < sizeof locks / sizeof *locks; i++) {
        unless(p, BPF_JEQ, locks[i], 1);
        refuse(p, ENOLCK);
    }
    allow(p);

    unless(p, BPF_JEQ, SYS_socket, 2 + 2 * (uint8_t)(sizeof addresses / sizeof *addresses));
    load_argument(p, 0);
    for (size_t i = 0; i < sizeof addresses / sizeof *addresses; i++) {
        unless(p, BPF_JEQ, addresses[i], 1);
        allow(p);
    }
    refuse(p, EAFNOSUPPORT);
    allow(p);
}

uint32_t launch_filter(const struct launch_plan *plan, uint32_t levels) {
    if (!(plan->wanted & LAUNCH_FILTER)) return 0;
    struct program program;
    write_program(&program, levels);
    return install(program.code, program.length) == 0 ? LAUNCH_FILTER : 0;
}

// All that an init does: it waits, hands SIGTERM on, tells of the end, and ends. Whatever capabilities it has left in its own
// namespaces are of no use with these.
static const struct sock_filter waiting[] = {
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, NATIVE, 0, 6),
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_rt_sigtimedwait, 5, 0),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_wait4, 4, 0),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_kill, 3, 0),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_write, 2, 0),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 1, 0),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
};

void launch_be_still(void) { install(waiting, sizeof waiting / sizeof *waiting); }
