#define _GNU_SOURCE
#include "confine.h"
#include "kernel.h"
#include <fcntl.h>
#include <sched.h>
#include <stddef.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/utsname.h>

#ifndef SYS_mount_setattr
#define SYS_mount_setattr 442
#endif
#ifndef AT_RECURSIVE
#define AT_RECURSIVE 0x8000
#endif
#define PATH_ROOM 4096
#define MAXIMUM_REACHABLE 8

// mount_setattr(2), struct mount_attr.
struct mount_attributes {
    uint64_t set, clear, propagation, userns;
};
enum { ATTRIBUTE_READ_ONLY = 1, ATTRIBUTE_NO_PROGRAMS = 8 };

static size_t length_of(const char *text) {
    size_t length = 0;
    while (text[length]) length++;
    return length;
}

static size_t append(char *buffer, size_t end, const char *text) {
    for (size_t i = 0; text[i] && end < PATH_ROOM - 1; i++) buffer[end++] = text[i];
    buffer[end] = 0;
    return end;
}

static size_t append_number(char *buffer, size_t end, uint64_t number) {
    char digits[24];
    size_t length = sizeof digits - 1;
    digits[length] = 0;
    do digits[--length] = (char)('0' + number % 10); while (number /= 10);
    return append(buffer, end, digits + length);
}

static int is_below(const char *path, const char *folder) {
    size_t i = 0;
    for (; folder[i]; i++)
        if (path[i] != folder[i]) return 0;
    return path[i] == '/' || path[i] == 0;
}

static int write_file(const char *path, const char *text) {
    int descriptor = (int)call(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CLOEXEC, 0);
    if (descriptor < 0) return -1;
    size_t length = length_of(text);
    long count = call(SYS_write, descriptor, text, length);
    call(SYS_close, descriptor);
    return count == (long)length ? 0 : -1;
}

static int map_identity(const char *path, uint64_t number) {
    char line[PATH_ROOM];
    size_t end = append_number(line, 0, number);
    end = append(line, end, " ");
    end = append_number(line, end, number);
    append(line, end, " 1");
    return write_file(path, line);
}

#ifndef SYS_openat2
#define SYS_openat2 437
#endif
// openat2(2), struct open_how; Linux 5.6.
struct open_way {
    uint64_t flags, mode, resolve;
};
enum { NO_LINKS = 0x04 };

int launch_open_plain(const char *path) {
    struct open_way way = {O_PATH | O_CLOEXEC, 0, NO_LINKS};
    int descriptor = (int)call(SYS_openat2, AT_FDCWD, path, &way, sizeof way);
    return descriptor == -ENOSYS ? (int)call(SYS_openat, AT_FDCWD, path, O_PATH | O_NOFOLLOW | O_CLOEXEC, 0) : descriptor;
}

// Where a place can be mounted from, and on.
static void name_place(char *path, int descriptor) {
    append_number(path, append(path, 0, "/proc/self/fd/"), (uint64_t)descriptor);
}

static int mount_on_itself(const char *folder) {
    int place = launch_open_plain(folder);
    if (place < 0) return place;
    char path[PATH_ROOM];
    name_place(path, place);
    int result = (int)call(SYS_mount, path, path, NULL, MS_BIND | MS_REC);
    call(SYS_close, place);
    return result;
}

// For a program of a kind that it does not know the kernel asks root's modprobe, so nothing is executed where a helper can write.
static int set_writable(const char *folder) {
    int place = launch_open_plain(folder);
    if (place < 0) return place;
    struct mount_attributes attributes = {ATTRIBUTE_NO_PROGRAMS, ATTRIBUTE_READ_ONLY, 0, 0};
    int result = (int)call(SYS_mount_setattr, place, "", AT_EMPTY_PATH, &attributes, sizeof attributes);
    call(SYS_close, place);
    return result;
}

static int set_read_only(const char *path, int on, int recursive) {
    struct mount_attributes attributes = {on ? ATTRIBUTE_READ_ONLY : 0, on ? 0 : ATTRIBUTE_READ_ONLY, 0, 0};
    return (int)call(SYS_mount_setattr, AT_FDCWD, path, recursive ? AT_RECURSIVE : 0, &attributes, sizeof attributes);
}

static int mount_memory(const char *path, uint64_t size) {
    char options[PATH_ROOM];
    size_t end = append(options, 0, "mode=0700,nr_inodes=4096,size=");
    append_number(options, end, size ? size : 65536);
    return (int)call(SYS_mount, "tmpfs", path, "tmpfs", MS_NOSUID | MS_NODEV | MS_NOEXEC, options);
}

// Makes the folders from below `cover` down to `path`; without the last part if it is a file's.
static void make_folders(const char *cover, const char *path, int last) {
    char part[PATH_ROOM];
    size_t length = length_of(path);
    if (length >= PATH_ROOM) return;
    append(part, 0, path);
    for (size_t i = length_of(cover) + 1; i < length; i++) {
        if (part[i] != '/') continue;
        part[i] = 0;
        call(SYS_mkdirat, AT_FDCWD, part, 0700);
        part[i] = '/';
    }
    if (last) call(SYS_mkdirat, AT_FDCWD, part, 0700);
}

// What was reachable before its folder was covered is put back at its place: a socket, a file, or a folder.
static void put_back(const char *path, int place) {
    char source[PATH_ROOM];
    name_place(source, place);
    struct statx status;
    if (call(SYS_statx, place, "", AT_EMPTY_PATH, STATX_TYPE, &status) < 0) return;
    if (S_ISDIR(status.stx_mode)) {
        call(SYS_mkdirat, AT_FDCWD, path, 0700);
    } else {
        int file = (int)call(SYS_openat, AT_FDCWD, path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
        if (file < 0) return;
        call(SYS_close, file);
    }
    call(SYS_mount, source, path, NULL, MS_BIND, NULL);
}

static void tell_path(int report_pipe, uint32_t which, long result) {
    if (result < 0) launch_report(report_pipe, LAUNCH_REPORT_PATH, which, (uint32_t)-result);
}

static uint32_t arrange_mounts(const struct launch_plan *plan, int report_pipe) {
    if (call(SYS_mount, NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0) return 0;
    uint32_t reached = 0;
    int places[MAXIMUM_REACHABLE];
    for (int i = 0; i < MAXIMUM_REACHABLE; i++) places[i] = -1;
    for (int i = 0; i < MAXIMUM_REACHABLE && plan->reachable && plan->reachable[i]; i++)
        places[i] = (int)call(SYS_openat, AT_FDCWD, plan->reachable[i], O_PATH | O_NOFOLLOW | O_CLOEXEC, 0);

    // Mounts of their own, so that they can stay writable when the rest no longer is.
    for (uint32_t i = 0; plan->writable && plan->writable[i]; i++)
        tell_path(report_pipe, i, mount_on_itself(plan->writable[i]));
    if (set_read_only("/", 1, 1) == 0) reached |= LAUNCH_READ_ONLY_ROOT;
    // One that could not be a mount of its own has nothing to be set here, and was told of.
    for (uint32_t i = 0; plan->writable && plan->writable[i]; i++) {
        int result = set_writable(plan->writable[i]);
        if (result != -EINVAL) tell_path(report_pipe, i, result);
    }

    // mount(2) does not wait for what it mounts over.
    for (const char *const *folder = plan->awaited; folder && *folder; folder++)
        if (mount_memory(*folder, 0) == 0) set_read_only(*folder, 1, 0);

    int covered = 1, scratch_covered = 0;
    for (const char *const *folder = plan->hidden; folder && *folder; folder++) {
        long result = mount_memory(*folder, 0);
        // What is no folder: a socket.
        if (result == -ENOTDIR) result = call(SYS_mount, "/dev/null", *folder, NULL, MS_BIND, NULL);
        // It went in the meantime.
        if (result == -ENOENT) continue;
        if (result < 0) {
            covered = 0;
            continue;
        }
        if (plan->scratch && is_below(plan->scratch, *folder)) {
            make_folders(*folder, plan->scratch, 1);
            scratch_covered = 1;
            if (mount_memory(plan->scratch, plan->scratch_size) == 0) reached |= LAUNCH_PRIVATE_SCRATCH;
        }
        for (int i = 0; i < MAXIMUM_REACHABLE && plan->reachable && plan->reachable[i]; i++) {
            if (places[i] < 0 || !is_below(plan->reachable[i], *folder)) continue;
            make_folders(*folder, plan->reachable[i], 0);
            put_back(plan->reachable[i], places[i]);
        }
        // A folder that could not get a file system of its own must stay writable.
        if (!scratch_covered || (reached & LAUNCH_PRIVATE_SCRATCH)) set_read_only(*folder, 1, 0);
    }
    if (plan->scratch && !scratch_covered) {
        if (mount_memory(plan->scratch, plan->scratch_size) == 0) {
            reached |= LAUNCH_PRIVATE_SCRATCH;
        } else if (call(SYS_mount, plan->scratch, plan->scratch, NULL, MS_BIND, NULL) == 0) {
            set_read_only(plan->scratch, 0, 0);
        }
    }
    for (int i = 0; i < MAXIMUM_REACHABLE; i++)
        if (places[i] >= 0) call(SYS_close, places[i]);
    return reached | (covered ? LAUNCH_HIDDEN : 0) | LAUNCH_MOUNT_NAMESPACE;
}

// Since Linux 6.14 a process namespace has a pid_max of its own. Before that the file is the whole machine's: never to be touched.
static int has_own_process_limit(void) {
    struct utsname name;
    if (call(SYS_uname, &name) < 0) return 0;
    long parts[2] = {0, 0};
    const char *text = name.release;
    for (int i = 0; i < 2; i++) {
        if (*text < '0' || *text > '9') return 0;
        while (*text >= '0' && *text <= '9' && parts[i] < 100000) parts[i] = parts[i] * 10 + (*text++ - '0');
        if (i == 0 && *text++ != '.') return 0;
    }
    return parts[0] > 6 || (parts[0] == 6 && parts[1] >= 14);
}

// Numbers up to 300 are given out just once (kernel/pid.c, RESERVED_PIDS), so the helper has as many again for good.
static int limit_processes(uint64_t processes) {
    char number[PATH_ROOM];
    append_number(number, 0, 300 + processes + 1);
    return write_file("/proc/sys/kernel/pid_max", number);
}

uint32_t launch_namespaces(const struct launch_plan *plan, uint32_t levels, int report_pipe) {
    uint32_t reached = 0;
    // The files in /proc of what cannot be dumped belong to root. There is nothing to dump any more.
    call(SYS_prctl, PR_SET_DUMPABLE, 1, 0, 0, 0);
    // Under pressure a helper dies, not the daemon (proc(5); a process may always offer itself).
    write_file("/proc/self/oom_score_adj", "500");
    if (levels & LAUNCH_USER_NAMESPACE) {
        write_file("/proc/self/setgroups", "deny");
        map_identity("/proc/self/gid_map", (uint64_t)plan->group);
        map_identity("/proc/self/uid_map", (uint64_t)plan->user);
    }
    // Nobody traces the helper's init.
    call(SYS_prctl, PR_SET_DUMPABLE, 0, 0, 0, 0);
    if (plan->wanted & LAUNCH_NO_NETWORK && call(SYS_unshare, CLONE_NEWNET) == 0) reached |= LAUNCH_NO_NETWORK;
    if (plan->wanted & LAUNCH_IPC_NAMESPACE && call(SYS_unshare, CLONE_NEWIPC) == 0) reached |= LAUNCH_IPC_NAMESPACE;
    if (plan->wanted & LAUNCH_MOUNT_NAMESPACE && call(SYS_unshare, CLONE_NEWNS) == 0)
        reached |= arrange_mounts(plan, report_pipe);
    if ((reached & LAUNCH_MOUNT_NAMESPACE) && (levels & LAUNCH_PROCESS_NAMESPACE)
        && call(SYS_mount, "proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) == 0)
        reached |= LAUNCH_PRIVATE_PROC;
    // A namespace within this one would give all capabilities again, to attack the kernel with. The filter refuses it as well.
    if (levels & LAUNCH_USER_NAMESPACE) {
        write_file("/proc/sys/user/max_user_namespaces", "0");
        // What is counted here is counted for the daemon's user as well, who may have few (inotify(7)).
        write_file("/proc/sys/user/max_inotify_instances", "4");
        write_file("/proc/sys/user/max_inotify_watches", "256");
    }
    if (reached & LAUNCH_PRIVATE_PROC) {
        // Only for root, to whom no other limit applies; elsewhere the real one is lower.
        if (plan->user == 0 && plan->limits.processes && has_own_process_limit()
            && limit_processes(plan->limits.processes) == 0)
            reached |= LAUNCH_PROCESS_LIMIT;
        // To root without any capability the files of /proc/sys are still writable.
        set_read_only("/proc", 1, 0);
    }
    return reached;
}
