// From clone to exec of a helper, in one function. In the child nothing but system calls is used, because the parent may have
// held any lock when it was copied (signal-safety(7)).
#pragma once
#include <malloc.h>
#include <stdint.h>
#include <sys/types.h>

// The listeners that one process may be given.
#define LAUNCH_MAXIMUM_LISTENERS 253

// What was reached, or is wanted. Whatever the kernel or the daemon's own lack of privileges refuses is left out and not reported.
enum launch_level {
    LAUNCH_USER_NAMESPACE = 1 << 0,
    LAUNCH_PROCESS_NAMESPACE = 1 << 1,
    LAUNCH_MOUNT_NAMESPACE = 1 << 2,
    LAUNCH_NO_NETWORK = 1 << 3,
    LAUNCH_READ_ONLY_ROOT = 1 << 4,    // every mount is read-only but the scratch folder and the writable ones
    LAUNCH_PRIVATE_SCRATCH = 1 << 5,   // the scratch folder is a file system of its own
    LAUNCH_PRIVATE_PROC = 1 << 6,      // /proc shows the helper's processes alone
    LAUNCH_HIDDEN = 1 << 7,            // the hidden folders are covered
    LAUNCH_LANDLOCK = 1 << 8,          // writing is confined by Landlock, and reading if the folders are not covered; sockets are not
    LAUNCH_LANDLOCK_SCOPED = 1 << 9,   // abstract sockets and signals as well (ABI 6)
    LAUNCH_LANDLOCK_TRUNCATE = 1 << 10, // truncation as well (ABI 3)
    LAUNCH_NO_NEW_PRIVILEGES = 1 << 11,
    LAUNCH_NO_CAPABILITIES = 1 << 12,
    LAUNCH_LIMITS = 1 << 13,
    LAUNCH_PROCESS_LIMIT = 1 << 14,    // the number of processes: by user in a user namespace, else by the process namespace
    LAUNCH_IPC_NAMESPACE = 1 << 15,    // System V IPC and message queues end with it
    LAUNCH_FILTER = 1 << 16,           // system calls that no helper needs are refused, see filter.c
    LAUNCH_OWN_GROUP = 1 << 17,        // a control group, whose limits hold for all of its processes together
    LAUNCH_CONNECTION_LIMIT = 1 << 18, // connections begin at a limited pace, where there is an init that lets them
    LAUNCH_ALL = (1 << 19) - 1,
};

// Where a launch failed.
enum launch_stage {
    LAUNCH_STAGE_CLONE = 1,
    LAUNCH_STAGE_DESCRIPTORS,
    LAUNCH_STAGE_PRIVILEGES,
    LAUNCH_STAGE_FORK,
    LAUNCH_STAGE_EXEC,
    LAUNCH_STAGE_MEMORY,
};

// A limit of 0 means none.
struct launch_limits {
    uint64_t address_space, data, processor_time, processes, descriptors, file_size;
};

// All lists end with NULL and may be NULL. Everything stays the caller's.
struct launch_plan {
    const char *program;
    const char *const *arguments;
    // Without LISTEN_PID, which is added if there are listeners.
    const char *const *environment;
    int input, output, error;
    const int *listeners;
    uint32_t listener_count;
    const char *scratch;
    uint64_t scratch_size;
    const char *const *hidden;
    // Folders that the system would mount if the helper looked into them: covered as well, but nobody's secret.
    const char *const *awaited;
    // Sockets, files and folders within hidden folders that stay reachable.
    const char *const *reachable;
    const char *const *writable;
    // What may be read, beside the devices that are nobody's, where the hidden folders are covered and where they could not be.
    const char *const *readable;
    const char *const *readable_uncovered;
    struct launch_limits limits;
    // Who the helper is, also in a user namespace: the daemon's own.
    uid_t user;
    gid_t group;
    // The kernel has IPv6.
    int has_ipv6;
    uint32_t wanted;
    // The cgroup.procs of the helper's own control group, open for writing; 0 means none. Its limits are the caller's to set.
    int control_group;
};

// What the child tells through the report pipe, in records of this size.
enum launch_report_kind {
    LAUNCH_REPORT_REACHED = 1, // first: levels
    LAUNCH_REPORT_FAILED = 2,  // first: stage, second: errno
    LAUNCH_REPORT_ENDED = 3,   // first: wait status of the helper behind its init
    LAUNCH_REPORT_PATH = 4,    // before the levels; first: which of the writable folders cannot be written to, second: errno
};
struct launch_report {
    uint32_t kind, first, second;
};

struct launch_result {
    pid_t pid;
    int pidfd;
    // Non-blocking, for records of launch_report; the caller's to close, like the pidfd.
    int report;
    // The process is an init, and ends together with everything in its namespace.
    uint32_t has_init;
};

// Starts a helper. Returns 0, or an errno if there is no process. A program that cannot be executed is told in the report.
// The calling thread is the one whose death ends the helper (PR_SET_PDEATHSIG).
int launch(const struct launch_plan *plan, struct launch_result *result);

// Sends a signal; without an init to the process group as well. A process that ended already is no error.
void launch_signal(const struct launch_result *process, int signal);

// Reaps a process that has ended, and ends what it left in its session if it had no init. Returns 1 and its wait status, or 0 if it
// still runs, or a negative errno.
int launch_reap(const struct launch_result *process, int *status);

// Kills a process that nobody can watch, waits for its end, which is a moment, and closes what the result holds.
void launch_end(const struct launch_result *process);

// Whether a folder is a control group of version 2.
int launch_is_control_group(const char *folder);
// Whether systemd has marked it as given away: Delegate=, since 244 for root to see, since 251 for everybody.
int launch_is_given_away(const char *folder);

// Sends a descriptor with messages of one octet each, so many times in all. Returns 0 or an errno.
int launch_send_copies(int socket, int descriptor, int count);

// Free memory of the daemon goes back to the kernel; malloc_trim(3), which Swift's module of the C library leaves out.
static inline void launch_trim(void) {
#ifdef __GLIBC__
    malloc_trim(0);
#endif
}
