#define _GNU_SOURCE
#include "confine.h"
#include "kernel.h"
#include <fcntl.h>
#include <linux/capability.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#ifndef SYS_landlock_create_ruleset
#define SYS_landlock_create_ruleset 444
#define SYS_landlock_add_rule 445
#define SYS_landlock_restrict_self 446
#endif

uint32_t launch_drop_capabilities(void) {
    call(SYS_prctl, PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
    for (int capability = 0; capability < 64; capability++)
        if (call(SYS_prctl, PR_CAPBSET_DROP, capability, 0, 0, 0) < 0) break;
    // Being root gives no capability back, now and for ever (capabilities(7): NOROOT, NO_SETUID_FIXUP and NO_CAP_AMBIENT_RAISE,
    // each with its lock). Needs a capability itself; without one there is none to fear.
    call(SYS_prctl, PR_SET_SECUREBITS, 0x01 | 0x02 | 0x04 | 0x08 | 0x40 | 0x80, 0, 0, 0);
    struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct none[2] = {{0, 0, 0}, {0, 0, 0}}, now[2];
    if (call(SYS_capset, &header, none) == 0) return LAUNCH_NO_CAPABILITIES;
    // A service manager's filter may refuse it. Then exec takes them away: what is permitted after it comes from the ambient set, from
    // the file's sets within the bounding set and within the inheritable one, and for root from the bounding set unless NOROOT is on
    // (capabilities(7)). The init, which executes nothing, keeps what it has in namespaces of its own, and no system call to use it with.
    for (int capability = 0; capability < 64; capability++) {
        long bounding = call(SYS_prctl, PR_CAPBSET_READ, capability, 0, 0, 0);
        if (bounding < 0) break;
        if (bounding || call(SYS_prctl, PR_CAP_AMBIENT, PR_CAP_AMBIENT_IS_SET, capability, 0, 0) > 0) return 0;
    }
    if (call(SYS_capget, &header, now) < 0 || now[0].inheritable || now[1].inheritable) return 0;
    if (call(SYS_getuid) == 0 && (call(SYS_prctl, PR_GET_SECUREBITS, 0, 0, 0, 0) & 0x03) != 0x03) return 0;
    return LAUNCH_NO_CAPABILITIES;
}

// From linux/landlock.h of later kernels than the one that this is built on; an older kernel accepts what it does not know as
// long as it is zero.
enum {
    FS_EXECUTE = 1 << 0, FS_WRITE_FILE = 1 << 1, FS_READ_FILE = 1 << 2, FS_READ_DIR = 1 << 3,
    FS_ABI_1 = (1 << 13) - 1, FS_REFER = 1 << 13, FS_TRUNCATE = 1 << 14, FS_IOCTL_DEV = 1 << 15,
    FS_READING = FS_EXECUTE | FS_READ_FILE | FS_READ_DIR,
    FS_OF_FILES = FS_EXECUTE | FS_WRITE_FILE | FS_READ_FILE | FS_TRUNCATE | FS_IOCTL_DEV,
};
struct ruleset { uint64_t fs, net, scoped; };
struct beneath { uint64_t access; int32_t parent; } __attribute__((packed));

static void allow(int rules, int descriptor, uint64_t access) {
    if (descriptor < 0) return;
    struct statx status;
    // What is no folder may only have the rights of files, else the rule is refused.
    if (call(SYS_statx, descriptor, "", AT_EMPTY_PATH, STATX_TYPE, &status) < 0 || !S_ISDIR(status.stx_mode))
        access &= FS_OF_FILES;
    struct beneath rule = {access, descriptor};
    call(SYS_landlock_add_rule, rules, 1, &rule, 0);
    call(SYS_close, descriptor);
}

static int open_place(const char *path) { return (int)call(SYS_openat, AT_FDCWD, path, O_PATH | O_CLOEXEC, 0); }

uint32_t launch_landlock(const struct launch_plan *plan, uint32_t levels) {
    if (!(plan->wanted & LAUNCH_LANDLOCK)) return 0;
    long abi = call(SYS_landlock_create_ruleset, NULL, 0, 1);
    if (abi < 1) return 0;
    uint64_t all = FS_ABI_1 | (abi >= 2 ? FS_REFER : 0) | (abi >= 3 ? FS_TRUNCATE : 0) | (abi >= 5 ? FS_IOCTL_DEV : 0);
    // Scopes of ABI 6: abstract sockets, signals.
    struct ruleset attributes = {all, 0, abi >= 6 ? 3 : 0};
    int rules = (int)call(SYS_landlock_create_ruleset, &attributes, sizeof attributes, 0);
    if (rules < 0) return 0;
    const char *const *readable = levels & LAUNCH_HIDDEN ? plan->readable : plan->readable_uncovered;
    for (const char *const *path = readable; path && *path; path++) allow(rules, open_place(*path), FS_READING);
    static const char *const devices[] = {"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"};
    for (size_t i = 0; i < sizeof devices / sizeof *devices; i++)
        allow(rules, open_place(devices[i]), (FS_READ_FILE | FS_WRITE_FILE | FS_TRUNCATE | FS_IOCTL_DEV) & all);
    // Not for programs, see set_writable.
    if (plan->scratch) allow(rules, open_place(plan->scratch), all & ~(uint64_t)FS_EXECUTE);
    for (const char *const *path = plan->writable; path && *path; path++) allow(rules, launch_open_plain(*path), all);
    long result = call(SYS_landlock_restrict_self, rules, 0);
    call(SYS_close, rules);
    if (result < 0) return 0;
    return LAUNCH_LANDLOCK | (abi >= 3 ? LAUNCH_LANDLOCK_TRUNCATE : 0) | (abi >= 6 ? LAUNCH_LANDLOCK_SCOPED : 0);
}

static int set_limit(int resource, uint64_t value, uint64_t hard) {
    struct rlimit now;
    if (call(SYS_prlimit64, 0, resource, NULL, &now) < 0) return -1;
    // Never above what the daemon itself may.
    struct rlimit limit = {value < now.rlim_max ? value : now.rlim_max, hard < now.rlim_max ? hard : now.rlim_max};
    return (int)call(SYS_prlimit64, 0, resource, &limit, NULL);
}

uint32_t launch_limit(const struct launch_plan *plan, uint32_t levels) {
    const struct launch_limits *limits = &plan->limits;
    // One octet and not none: a handler of core dumps that is a program runs in spite of 0, and not for 1 (core(5), fs/coredump.c).
    int failed = set_limit(RLIMIT_CORE, 1, 1);
    if (limits->address_space) failed |= set_limit(RLIMIT_AS, limits->address_space, limits->address_space);
    if (limits->data) failed |= set_limit(RLIMIT_DATA, limits->data, limits->data);
    // SIGXCPU at the first, SIGKILL a second later.
    if (limits->processor_time) failed |= set_limit(RLIMIT_CPU, limits->processor_time, limits->processor_time + 1);
    if (limits->descriptors) failed |= set_limit(RLIMIT_NOFILE, limits->descriptors, limits->descriptors);
    // Nobody goes before the daemon, whatever limits its user has.
    failed |= set_limit(RLIMIT_RTPRIO, 0, 0);
    failed |= set_limit(RLIMIT_NICE, 0, 0);
    // Queued signals and timers are counted for the daemon's user.
    failed |= set_limit(RLIMIT_SIGPENDING, 256, 256);
    if (limits->file_size) failed |= set_limit(RLIMIT_FSIZE, limits->file_size, limits->file_size);
    uint32_t reached = failed ? 0 : LAUNCH_LIMITS;
    // The kernel counts by user and exempts root. Without a user namespace all helpers, and the daemon, would share the count; there
    // the process namespace may have a limit of its own.
    if (limits->processes && (levels & LAUNCH_USER_NAMESPACE) && call(SYS_getuid) != 0
        && set_limit(RLIMIT_NPROC, limits->processes, limits->processes) == 0)
        reached |= LAUNCH_PROCESS_LIMIT;
    return reached;
}
